"""Pictures and errors of the first scene of the lesson: sixes and nines that turn.

    python -m tests.benchmarks.lesson_digits

An image of task j (from 0) of 20 is turned by (j + u) 360 turns / 20 degrees, u uniform in [0, 1). Four labels a task,
the recommended preset with b = 3, ten repetitions. One pot is the same learner, told that tasks never change. Writes
the result into the element ``digits`` of ``docs/article/article.html``. Run it again whenever the preset changes.
"""

import base64
import json
import re
from pathlib import Path

import numpy as np

import imrc
from imrc.datasets._rotation import rotate_images
from imrc.datasets.digits import _digits
from imrc.tasks import Task, TaskSequence

ARTICLE = Path(__file__).resolve().parents[2] / "docs" / "article" / "article.html"
TASKS, LABELS, REPETITIONS = 20, 4, 10
TURNS = (0.5, 1.0, 2.0)
SHOWN = 24
"""Pictures in the file: half of them sixes."""
LEARNT = {"n": LABELS, "preset": "recommended", "repetitions": REPETITIONS, "seed": 0}


def six_or_nine(turns: float, seed: int = 0) -> TaskSequence:
    """Return the tasks; class 1 is the nine."""
    images, digits = _digits()
    kept = np.flatnonzero(np.isin(digits, (6, 9)))
    generator = np.random.default_rng([seed, 69])
    size = len(kept) // TASKS
    order = kept[generator.permutation(len(kept))[: size * TASKS]]
    number = np.repeat(np.arange(TASKS), size)
    angles = (number + generator.random(len(order))) * 360.0 * turns / TASKS
    X = np.clip(rotate_images(images[order], angles), 0.0, 1.0).reshape(len(order), -1)
    y = (digits[order] == 9).astype(np.int64)
    tasks = tuple(Task(X[number == j], y[number == j]) for j in range(TASKS))
    return TaskSequence(tasks, name="six_or_nine", classes=np.arange(2), column_kinds=("pixel",) * 64)


def errors(turns: float) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the mean error over the tasks seen, after every task, by strategy; and the standard error of the last."""
    sequence = six_or_nine(turns)
    follows = imrc.evaluate(sequence, b=3, **LEARNT).errors
    pools = imrc.evaluate(sequence, methods=("pooled",), **LEARNT).errors
    tables = {
        "alone": follows["single"],
        "pooled": pools["pooled"],
        "forward": follows["forward"],
        "both": follows["forward_backward"],
    }
    seen = {name: np.nanmean(table, axis=2) for name, table in tables.items()}
    spread = {name: float(rows[:, -1].std(ddof=1) / np.sqrt(REPETITIONS)) for name, rows in seen.items()}
    return {name: rows.mean(axis=0).round(4).tolist() for name, rows in seen.items()}, spread


def pictures() -> str:
    """Return sixes, then nines, 8 x 8 pixels of four bits each, in base64."""
    images, digits = _digits()
    chosen = np.concatenate([images[digits == digit][: SHOWN // 2] for digit in (6, 9)])
    grey = np.minimum(np.rint(16.0 * chosen), 15).astype(np.uint8).reshape(-1, 2)
    return base64.b64encode((16 * grey[:, 0] + grey[:, 1]).tobytes()).decode()


def main() -> None:
    """Compute everything and write it into the article."""
    sequence = six_or_nine(1.0)
    found = {f"{turns:g}": errors(turns) for turns in TURNS}
    made = {
        "version": imrc.__version__,
        "images": int(sum(sequence.sizes)),
        "labels": LABELS,
        "repetitions": REPETITIONS,
        "errors": {turns: lines for turns, (lines, _) in found.items()},
        "stderr": {name: round(value, 4) for name, value in found["1"][1].items()},
        "pictures": pictures(),
    }
    for turns, (lines, spread) in found.items():
        print(turns, {name: f"{values[-1]:.3f} ± {spread[name]:.3f}" for name, values in lines.items()})
    page = ARTICLE.read_text(encoding="utf-8")
    place = re.compile(r'(<script type="application/json" id="digits">).*?(</script>)', re.DOTALL)
    text = json.dumps(made).replace("}, ", "},\n").replace(', "pictures"', ',\n"pictures"')
    page, count = place.subn(lambda found: f"{found[1]}\n{text}\n{found[2]}", page)
    if count != 1:
        raise SystemExit(f"{ARTICLE} has no element digits.")
    ARTICLE.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
