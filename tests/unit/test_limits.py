"""What a run may hold at once: a bound known before it starts, against what runs really took."""

import json
import sys

import pytest

import imrc
from imrc.evaluation import RunSettings
from imrc.evaluation.settings import RunLimits, diagnosis_cells, run_cells
from imrc.features import FeatureSpec
from tests.conftest import run_python

MEASURE = """
import ctypes, gc, json, sys
import imrc
from imrc.evaluation import RunResult, RunSettings, iter_run

def status(name):
    return int(open("/proc/self/status").read().split(name + ":")[1].split()[0]) * 1024

for dataset, tasks, values in json.loads(sys.argv[1]):
    sequence, settings = imrc.datasets.load(dataset, tasks=tasks), RunSettings.from_json(values)
    small = RunSettings.from_json({**values, "b": 1, "repetitions": 2})
    list(iter_run(sequence.head(2), small))
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    open("/proc/self/clear_refs", "w").write("5")
    before = status("VmRSS")
    result = RunResult.from_steps(settings, sequence, list(iter_run(sequence, settings)))
    print(status("VmHWM") - before)
    del result
"""


def settings(frequencies: int, kind: str = "rff", preset: str = "recommended", **values) -> RunSettings:
    """Return settings whose memory is like that of serious ones and whose solver stops early."""
    quick = {"lambda0": 100.0} if preset == "recommended" else {"max_iter": 2}
    values.setdefault("overrides", tuple(sorted({**quick, **values.pop("also", {})}.items())))
    return RunSettings(preset=preset, features=FeatureSpec(kind, frequencies), **values)


CASES = [
    ("random_walk", 20, settings(400, n=5, b=19, repetitions=4)),
    ("random_walk", 20, settings(400, n=50, b=3, repetitions=2)),
    ("random_walk", 10, settings(300, preset="paper", n=40, b=4, repetitions=5, also={"instances": "all"})),
    ("random_walk", 10, settings(300, n=10, b=9, repetitions=5, also={"loss": "0-1", "max_iter": 2})),
    ("rotated_digits", 10, settings(200, n=10, b=9, repetitions=10)),
    ("random_walk", 100, settings(10, n=10, b=2, repetitions=7, methods=("majority", "logistic_single"))),
]


@pytest.mark.first
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks of memory are read from /proc")
def test_no_run_takes_much_more_memory_than_is_counted():
    cases = [(dataset, tasks, one.to_json()) for dataset, tasks, one in CASES]
    # With an arena per thread the same run takes very different memory.
    output = run_python("-c", MEASURE, json.dumps(cases), MALLOC_ARENA_MAX="2").stdout
    peaks = [int(line) for line in output.split()]
    for (dataset, tasks, one), peak in zip(CASES, peaks, strict=True):
        counted = 8 * run_cells(imrc.datasets.load(dataset, tasks=tasks), one)
        # Rows that are mapped once for all methods, up to 100 MB, are not counted, nor is the noise of the allocator.
        assert peak < 2.0 * counted + 1e8 * bool(one.compared) + 16e6, (dataset, one, peak / 1e6, counted / 1e6)
        assert counted < 10.0 * peak + 16e6, (dataset, one, peak / 1e6, counted / 1e6)
    assert min(peaks) > 15e6  # cases that take next to nothing would prove nothing


def test_the_settings_of_the_link_that_took_five_gigabytes_are_refused():
    sequence = imrc.datasets.load("random_walk", tasks=2000)
    largest = RunSettings(n=1, b=1999, repetitions=200, features=FeatureSpec("rff", 1000))
    assert run_cells(sequence, largest) > 10 * RunLimits().cells


@pytest.mark.parametrize("dataset", ["rotated_digits", "random_walk", "identical", "periodic"])
@pytest.mark.parametrize("chosen", [{}, {"overrides": (("loss", "0-1"),)}, {"preset": "paper"}])
def test_a_usual_run_is_allowed(dataset, chosen):
    sequence = imrc.datasets.load(dataset)
    for b in (0, 3, 19):
        assert run_cells(sequence, RunSettings(repetitions=20, b=b, **chosen)) < RunLimits().cells
    assert diagnosis_cells(sequence, FeatureSpec()) < RunLimits().cells / 10


def test_limits_are_read_and_wrong_ones_refused():
    limits = RunLimits.parse("0.5, 3")
    assert (8 * limits.cells, limits.seconds) == (5e8, 180.0)
    for text in ("", "1", "1,2,3", "a,b", "0,1", "1,-1", "nan,1", "inf,1"):
        with pytest.raises(ValueError, match="gigabytes and minutes"):
            RunLimits.parse(text)
