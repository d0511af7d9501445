"""What a run needs is known before it starts: memory and time against what runs really took."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import imrc
from imrc.commands.main import ALLOCATOR
from imrc.evaluation import RunSettings, iter_run
from imrc.evaluation.limits import RunLimits, RunNeeds, lower, run_needs
from imrc.features import FeatureSpec
from imrc.solvers import cores

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
    quick = {"lambda0": 100.0, "selection": "none"} if preset == "recommended" else {"max_iter": 2}
    values.setdefault("overrides", tuple(sorted({**quick, **values.pop("also", {})}.items())))
    return RunSettings(preset=preset, features=FeatureSpec(kind, frequencies), **values)


CASES = [
    ("random_walk", 20, settings(400, n=5, b=19, repetitions=10)),
    ("random_walk", 20, settings(100, n=40, b=19, repetitions=4)),
    ("random_walk", 20, settings(400, "automatic", n=10, b=19, repetitions=6)),
    ("random_walk", 40, settings(400, n=50, b=3, repetitions=6, also={"selection": "averaged"})),
    ("random_walk", 400, settings(100, n=2, b=1, repetitions=30)),
    ("random_walk", 20, settings(300, preset="paper", n=40, b=10, repetitions=10)),
    ("random_walk", 20, settings(300, preset="paper", n=40, b=4, repetitions=10, also={"instances": "all"})),
    ("random_walk", 20, settings(300, preset="recommended_01", n=10, b=19, repetitions=6)),
    ("rotated_digits", 20, settings(200, n=10, b=10, repetitions=25)),
    ("random_walk", 150, settings(10, n=10, b=2, repetitions=40, methods=("majority", "logistic_seen"))),
]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks of memory are read from /proc")
def test_memory_is_estimated_within_a_factor_of_two():
    cases = [(dataset, tasks, one.to_json()) for dataset, tasks, one in CASES]
    command = [sys.executable, "-c", MEASURE, json.dumps(cases)]
    folder = Path(__file__).resolve().parents[2]
    # As on the server: with an arena per thread the same run takes very different memory.
    environment = {**os.environ, **ALLOCATOR}
    output = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=folder, timeout=390, env=environment
    ).stdout
    peaks = [int(line) for line in output.split()]
    for (dataset, tasks, one), peak in zip(CASES, peaks, strict=True):
        estimated = run_needs(imrc.datasets.load(dataset, tasks=tasks), one)
        # A few megabytes more or less are noise of the allocator.
        assert 0.5 * peak - 8e6 < estimated.bytes < 2.0 * peak + 8e6, (dataset, one, peak / 1e6, estimated)
    assert min(peaks) > 15e6  # cases that take next to nothing would prove nothing


@pytest.mark.parametrize(
    ("tasks", "one"),
    [
        (20, RunSettings(n=10, b=3, repetitions=4)),
        (20, RunSettings(n=10, b=3, repetitions=4, preset="paper")),
        (20, RunSettings(n=40, b=3, repetitions=2, features=FeatureSpec("rff", 100))),
        (20, RunSettings(n=40, b=10, repetitions=2, preset="paper", features=FeatureSpec("rff", 100))),
        (12, RunSettings(n=10, b=8, repetitions=2, preset="recommended_01")),
        (150, RunSettings(n=2, b=1, repetitions=2)),
    ],
)
def test_time_is_estimated_roughly(tasks, one):
    sequence = imrc.datasets.load("random_walk", tasks=tasks)
    list(iter_run(sequence.head(2), one))
    # Processor time: others may compute on the same machine.
    started = time.process_time()
    list(iter_run(sequence, one))
    spent = time.process_time() - started
    estimated = run_needs(sequence, one).seconds * min(one.repetitions, cores())
    assert 0.2 * spent - 0.1 < estimated < 5.0 * spent + 0.1, (spent, estimated)


def test_the_settings_of_the_link_that_took_five_gigabytes_are_refused():
    sequence = imrc.datasets.load("random_walk", tasks=2000)
    largest = RunSettings(n=1, b=1999, repetitions=200, features=FeatureSpec("rff", 1000))
    assert RunLimits().refuses(run_needs(sequence, largest))
    assert "tasks k" in lower(sequence, largest)


@pytest.mark.parametrize("dataset", ["rotated_digits", "random_walk", "identical", "periodic"])
@pytest.mark.parametrize("preset", ["recommended", "recommended_01", "paper"])
def test_a_usual_run_asks_nobody(dataset, preset):
    assert not RunLimits().asks(run_needs(imrc.datasets.load(dataset), RunSettings(preset=preset, repetitions=20)))


def test_memory_does_not_depend_on_how_many_repetitions_wait():
    # Vectors of the estimates exist for the repetitions that compute, not for all: with 200 of them they were the
    # largest part by far.
    sequence = imrc.datasets.load("random_walk", tasks=20)
    few, many = (
        run_needs(sequence, settings(300, n=5, b=19, repetitions=repetitions)).parts["estimates"]
        for repetitions in (cores(), 10 * cores())
    )
    assert few == many


def test_limits_are_read_and_wrong_ones_refused():
    limits = RunLimits.parse("0.5, 3")
    assert (limits.bytes, limits.seconds) == (5e8, 180.0)
    assert limits.asks(RunNeeds({"rules": 6e8}, 1.0))
    assert limits.asks(RunNeeds({}, 200.0))
    assert not limits.asks(RunNeeds({"rules": 4e8}, 100.0))
    assert limits.refuses(RunNeeds({"rules": 2.1e9}, 1.0))
    for text in ("", "1", "1,2,3", "a,b", "0,1", "1,-1", "nan,1", "inf,1"):
        with pytest.raises(ValueError, match="gigabytes and minutes"):
            RunLimits.parse(text)
