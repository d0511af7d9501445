"""Errors that the landing page and the first scene of the lesson show: sixes and nines that turn."""

import base64
import hashlib
import json
import re
from pathlib import Path

import numpy as np
from scipy.stats import t

import imrc
from imrc.datasets.digits import _digits
from imrc.evaluation.run import run_references
from imrc.evaluation.significance import mean_and_stderr, mean_interval, paired_differences
from imrc.evaluation.splits import held_out
from imrc.paper.shipped import results_folder

ARTICLE = Path(__file__).resolve().parents[2] / "docs" / "article" / "article.html"
TURNS, LABELS, REPETITIONS = (0, 90, 180, 360, 720), (2, 4, 8), 10
STRATEGIES = {"single": "alone", "pooled": "pooled", "forward": "forward", "forward_backward": "both"}
"""And what the article calls them."""
SHOWN = 24
"""Pictures in the files: half of them sixes."""


def cell(turn: int, labels: int) -> dict[str, object]:
    """Return the errors at one setting: by step, over all steps, and how much more each makes than the best."""
    overall, by_step = ({name: [] for name in STRATEGIES} for _ in range(2))
    for seed in range(REPETITIONS):
        sequence = imrc.datasets.load("six_or_nine", turn=turn, seed=seed)
        result = imrc.evaluate(sequence, n=labels, repetitions=1, seed=seed)
        references = run_references(sequence, result.settings)
        for name in STRATEGIES:
            source = references if name == "pooled" else result
            overall[name].append(source.judged(name)[0])
            by_step[name].append(source.judged_by_step(name)[0])
    errors = {name: np.array(values) for name, values in overall.items()}
    best = min(STRATEGIES, key=lambda name: errors[name].mean())
    gaps = paired_differences(errors, best)
    found: dict[str, object] = {"best": best}
    for name in STRATEGIES:
        mean, stderr = mean_and_stderr(np.array(by_step[name]))
        more = gaps.get(name)
        found[name] = {
            "mean": mean.round(4).tolist(),
            "stderr": stderr.round(4).tolist(),
            "overall": np.round(mean_interval(errors[name]), 4).tolist()[:3],
            "above_best": None if more is None else np.round([more.mean, more.low, more.high], 4).tolist(),
        }
    return found


def pictures() -> str:
    """Return sixes, then nines, 8 x 8 pixels of four bits each, in base64."""
    images, digits = _digits()
    chosen = np.concatenate([images[digits == digit][: SHOWN // 2] for digit in (6, 9)])
    grey = np.minimum(np.rint(16.0 * chosen), 15).astype(np.uint8).reshape(-1, 2)
    return base64.b64encode((16 * grey[:, 0] + grey[:, 1]).tobytes()).decode()


def replace(path: Path, pattern: str, text: str) -> None:
    """Put a text between the two groups of a pattern that a file has once."""
    content, count = re.subn(pattern, lambda found: found[1] + text + found[2], path.read_text("utf-8"), flags=re.S)
    if count != 1:
        raise SystemExit(f"{path} has no place for this.")
    path.write_text(content, encoding="utf-8", newline="\n")


def main() -> None:
    """Compute the grid and write it."""
    sequence = imrc.datasets.load("six_or_nine")
    cells = {f"{turn},{labels}": cell(turn, labels) for turn in TURNS for labels in LABELS}
    size = int(sequence.sizes[0])
    made = {
        "version": imrc.__version__,
        "repetitions": REPETITIONS,
        "image_seeds": list(range(REPETITIONS)),
        "images": int((_digits()[1] == 6).sum() + (_digits()[1] == 9).sum()),
        "images_a_task": size,
        "tested_a_task": held_out(size),
        "preset": "recommended",
        "b": imrc.evaluation.RunSettings().b,
        "t95": round(float(t.ppf(0.975, REPETITIONS - 1)), 4),  # half an interval of the errors at a step / stderr
        "pictures": pictures(),
        "cells": cells,
    }
    for setting, errors in cells.items():
        print(setting, {name: errors[name]["overall"] for name in STRATEGIES}, flush=True)
    text = json.dumps(made).replace('}}, "', '}},\n"') + "\n"
    (results_folder() / "six_or_nine.json").write_text(text, encoding="utf-8", newline="\n")
    checksum = hashlib.sha256(text.encode()).hexdigest()
    replace(results_folder() / "index.toml", r'(\[six_or_nine\].*?sha256 = ")[0-9a-f]*(")', checksum)
    lines = {f"{turn / 360:g}": cells[f"{turn},4"] for turn in (180, 360, 720)}
    lesson = {
        "version": imrc.__version__,
        "images": size * len(sequence),
        "labels": 4,
        "repetitions": REPETITIONS,
        "errors": {
            turns: {STRATEGIES[name]: found[name]["mean"] for name in STRATEGIES} for turns, found in lines.items()
        },
        "stderr": {STRATEGIES[name]: lines["1"][name]["stderr"][-1] for name in STRATEGIES},
        "pictures": pictures(),
    }
    text = json.dumps(lesson).replace("}, ", "},\n").replace(', "pictures"', ',\n"pictures"')
    replace(ARTICLE, r'(<script type="application/json" id="digits">\n).*?(\n</script>)', text)


if __name__ == "__main__":
    main()
