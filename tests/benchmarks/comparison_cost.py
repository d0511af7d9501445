"""Cost of the whole comparison on rotated digits: 20 tasks, n = 10, 5 repetitions, every method of the registry.

    python tests/benchmarks/comparison_cost.py

Writes ``results/comparison_cost.csv``: per method, wall seconds of its run, processor seconds of the process meanwhile
(tests included) and processor milliseconds of learning per task. On a machine that does other work, half the processor
seconds is what two free cores need.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import numpy as np  # noqa: E402 - after the thread setting
import pandas as pd  # noqa: E402

import imrc  # noqa: E402
from imrc.baselines import registry  # noqa: E402
from imrc.evaluation import RunSettings  # noqa: E402
from imrc.evaluation.compared import run_methods  # noqa: E402
from imrc.evaluation.comparison import score_table, title_of_method  # noqa: E402
from imrc.evaluation.methods import warm_up  # noqa: E402


def main() -> None:
    sequence = imrc.datasets.load("rotated_digits", tasks=20, seed=0)
    settings = RunSettings(n=10, repetitions=5, seed=0)
    warm_up(tuple(registry))
    imrc.evaluate(sequence.head(2), n=5, repetitions=1)
    rows = []
    for name in ("imrc:paper", *registry):
        wall, cpu = time.perf_counter(), time.process_time()
        (result,) = run_methods(sequence, settings, [name])
        rows.append(
            {
                "method": title_of_method(name),
                "wall_s": time.perf_counter() - wall,
                "processor_s": time.process_time() - cpu,
                "learning_ms_per_task": 1000 * score_table(result)["seconds"].mean(),
            }
        )
    frame = pd.DataFrame(rows)
    total = frame[["wall_s", "processor_s", "learning_ms_per_task"]].sum()
    frame.loc[len(frame)] = {"method": "all", **total}
    frame["imrc"], frame["numpy"], frame["seed"] = imrc.__version__, np.__version__, settings.seed
    frame.to_csv(HERE / "results" / "comparison_cost.csv", index=False, float_format="%.4g")
    print(frame.iloc[:, :5].round(3).to_string(index=False))


if __name__ == "__main__":
    main()
