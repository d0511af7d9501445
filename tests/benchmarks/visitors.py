"""Many visitors at once on one real server: errors, mixed data, memory, seconds until a page is complete."""

import statistics
import sys
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import imrc
from imrc.evaluation.significance import with_error
from imrc.wording import RULES
from tests.app.conftest import server_process
from tests.app.visitor import Visitor
from tests.benchmarks.common import RESULTS, parser, write

DATASETS = ("identical", "random_walk", "trend", "independent", "periodic")
K, REPETITIONS = 6, 2
CARDS = {rule: f"Error, {title.lower()}" for rule, title in RULES.items()}


@dataclass
class Report:
    """What the visitors met; times in seconds."""

    cached: list[float] = field(default_factory=list)
    fresh: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    memory_mb: list[tuple[float, float]] = field(default_factory=list)
    processor_s: float = 0.0

    def memory_by_fifth(self) -> list[float]:
        """Median memory of each fifth of the time in MB: whether it grows, and whether that ends."""
        values = [megabytes for _, megabytes in self.memory_mb]
        return [statistics.median(part) for part in np.array_split(values, 5)]


@cache
def expected(dataset: str, seed: int, n: int) -> dict[str, str]:
    """Return the numbers a page must show."""
    sequence = imrc.datasets.load(dataset, tasks=K, seed=seed)
    headline = imrc.evaluate(sequence, n=n, repetitions=REPETITIONS, seed=seed).headline()
    return {card: with_error(headline[rule]) for rule, card in CARDS.items()}


def settings_of(number: int, turn: int) -> tuple[str, int, int]:
    """Return dataset, seed and n of a visitor's turn-th setting; no two visitors share one."""
    return DATASETS[number % len(DATASETS)], 1000 * number + turn, 4 + number % 5


def visit(url: str, number: int, until: float, think: float, settings: int, report: Report, turns: int | None) -> None:
    """Be one visitor until the time, or the number of turns if there is one, is over."""
    rng = np.random.default_rng(number)
    dataset, seed, n = settings_of(number, 0)
    try:
        visitor = Visitor(url, dataset=dataset, k=K, n=n, repetitions=REPETITIONS, seed=seed)
        visitor.see(seconds=300)
        had = {seed}
        for turn in count():
            wanted = expected(*settings_of(number, seed - 1000 * number))
            shown = {card: visitor.metrics.get(card) for card in wanted}
            if shown != wanted:
                report.problems.append(f"visitor {number}, seed {seed}: shows {shown}, not {wanted}")
            if (visitor.link["dataset"], visitor.link["seed"]) != (dataset, str(seed)):
                report.problems.append(f"visitor {number}: link of another, {visitor.link}")
            if visitor.failures or "went wrong" in visitor.alerts:
                report.problems.append(f"visitor {number}: {visitor.failures} {visitor.alerts}")
            time.sleep(rng.uniform(0.5, 1.5) * think)
            if turn == turns or time.monotonic() > until:
                break
            seed = 1000 * number + int(rng.integers(settings))
            seconds = visitor.see("Run", seconds=300, Seed=float(seed))
            (report.cached if seed in had else report.fresh).append(seconds)
            had.add(seed)
        visitor.close()
    except Exception as error:
        report.problems.append(f"visitor {number}: {type(error).__name__}: {error}")


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process in MB (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def processor_s(pid: int) -> float:
    """Return the processor seconds of a process so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def study(visitors: int, seconds: float, think: float, settings: int = 4, turns: int | None = None) -> Report:
    """Let visitors use a fresh server for so many seconds, with pauses of `think` on average; return what they met."""
    report = Report()
    for number in range(visitors):
        for turn in range(settings):
            expected(*settings_of(number, turn))
    with server_process() as (url, process):
        with_solver = Visitor(url, dataset="identical", k=3, n=4, repetitions=1)
        with_solver.see(seconds=300)
        with_solver.close()
        before, started = processor_s(process.pid), time.monotonic()
        given = started + seconds, think, settings, report, turns
        threads = [threading.Thread(target=visit, args=(url, i, *given), daemon=True) for i in range(visitors)]
        within = 0.2 * seconds if turns is None else 2.0
        arrivals = [started + within * number / visitors for number in range(visitors)]
        while time.monotonic() < started + seconds + 120 and any(t.is_alive() or t.ident is None for t in threads):
            while arrivals and arrivals[0] <= time.monotonic():
                threads[visitors - len(arrivals)].start()
                arrivals.pop(0)
            report.memory_mb.append((time.monotonic() - started, memory_mb(process.pid)))
            time.sleep(0.25 if arrivals else 1.0)
        report.processor_s = processor_s(process.pid) - before
        report.problems += [f"visitor {i} never came to an end" for i, t in enumerate(threads) if t.is_alive()]
    return report


def main() -> None:
    """Print and write the results."""
    given = parser(__doc__)
    given.add_argument("--visitors", type=int, default=20)
    given.add_argument("--seconds", type=float, default=300.0)
    given.add_argument("--think", type=float, default=10.0)
    given.add_argument("--csv", type=Path, default=RESULTS / "visitors.csv")
    options = given.parse_args()
    load = Path("/proc/loadavg").read_text().split()[0]
    report = study(options.visitors, options.seconds, options.think)
    rows = {
        "visitors": options.visitors,
        "seconds": options.seconds,
        "think_s": options.think,
        "cached_views": len(report.cached),
        "cached_median_s": round(statistics.median(report.cached), 3),
        "cached_95_s": round(float(np.quantile(report.cached, 0.95)), 3),
        "fresh_views": len(report.fresh),
        "fresh_median_s": round(statistics.median(report.fresh), 3),
        "problems": len(report.problems),
        "memory_largest_mb": round(max(megabytes for _, megabytes in report.memory_mb)),
        **{f"memory_fifth_{i}_mb": round(value) for i, value in enumerate(report.memory_by_fifth(), 1)},
        "server_processor_s": round(report.processor_s, 1),
        "load_before": load,
        "load_after": Path("/proc/loadavg").read_text().split()[0],
    }
    print(*report.problems[:20], sep="\n")
    write([rows], options.csv.resolve())


if __name__ == "__main__":
    main()
