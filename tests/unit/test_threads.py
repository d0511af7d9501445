"""Visitors of a server load data in threads of one process: nothing compiled may assume that it is alone."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Few images, so that loads are short and meet each other often; random ones, so that the files need not be here.
VISITORS = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from imrc.datasets import _files, _mnist, load

generator = np.random.default_rng(5)
images = generator.integers(0, 256, (2000, 28, 28)).astype(np.uint8), generator.integers(0, 10, 2000)
_mnist.IMAGES = 2000
_mnist._images = lambda *_: images
_files.require = lambda entry: ()

def visit(number):
    return [load(name, tasks=5, seed=number % 3).fingerprint for name in ("rotated_digits", "rotated_mnist")]

visit(0)
with ThreadPoolExecutor(8) as pool:
    seen = list(pool.map(visit, range(60)))
print(len({tuple(one) for one in seen}), all(seen[i] == seen[i % 3] for i in range(60)))
"""


def test_rotated_images_are_loaded_by_many_visitors_at_once():
    done = subprocess.run(
        [sys.executable, "-c", VISITORS],
        cwd=ROOT,
        # What numba falls back to where neither OpenMP nor TBB is installed; it does not stand two threads at once.
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_THREADING_LAYER": "workqueue"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "3 True"


def test_no_kernel_uses_the_thread_pool_of_numba():
    for path in (ROOT / "imrc").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "parallel":
                raise AssertionError(f"{path} line {node.value.lineno}: parallel=")
            if isinstance(node, ast.alias) and node.name == "prange":
                raise AssertionError(f"{path} line {node.lineno}: prange")
