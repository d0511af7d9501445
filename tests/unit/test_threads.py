"""Visitors of a server load data in threads of one process: nothing compiled may assume that it is alone."""

import threading

import pytest
from threadpoolctl import threadpool_info

from imrc.evaluation.run import single_thread
from tests.conftest import run_python

# Few images, so that loads are short and meet each other often; random ones, so that the files need not be here.
VISITORS = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from imrc.datasets import _catalogue, _published, load

generator = np.random.default_rng(5)
images = generator.integers(0, 256, (500, 28, 28)).astype(np.uint8), generator.integers(0, 10, 500)
_published._images = lambda *_: images
_catalogue.require = lambda entry: ()

def visit(number):
    return [load(name, tasks=5, seed=number % 3).fingerprint for name in ("rotated_digits", "rotated_mnist")]

visit(0)
with ThreadPoolExecutor(8) as pool:
    seen = list(pool.map(visit, range(12)))
print(len({tuple(one) for one in seen}), all(seen[i] == seen[i % 3] for i in range(12)))
"""


@pytest.mark.slow
def test_rotated_images_are_loaded_by_many_visitors_at_once():
    # What numba falls back to where neither OpenMP nor TBB is installed; it does not stand two threads at once.
    assert run_python("-c", VISITORS, NUMBA_THREADING_LAYER="workqueue").stdout.strip() == "3 True"


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_runs_of_all_visitors_compute_sums_in_one_thread(two_threads):
    """Also while the thread of an earlier visitor, which set the limit first, is still there."""
    before, seen, leave = blas_threads(), [], threading.Event()
    entered = [threading.Event() for _ in range(3)]

    def visit(number: int) -> None:
        with single_thread():
            seen.append(blas_threads())
        entered[number].set()
        leave.wait(60)

    visitors = [threading.Thread(target=visit, args=(number,)) for number in range(3)]
    for visitor, inside in zip(visitors, entered, strict=True):
        visitor.start()
        assert inside.wait(60)
        assert blas_threads() == before
    leave.set()
    for visitor in visitors:
        visitor.join()
    assert seen == [{1}] * 3 != [before] * 3


def test_the_limit_holds_until_the_last_of_overlapping_runs_ends(two_threads):
    before, first_in, second_in, first_out = blas_threads(), *(threading.Event() for _ in range(3))

    def first() -> None:
        with single_thread():
            first_in.set()
            second_in.wait(60)
        first_out.set()

    thread = threading.Thread(target=first)
    thread.start()
    assert first_in.wait(60)
    with single_thread():
        second_in.set()
        assert first_out.wait(60)
        assert blas_threads() == {1}
    thread.join()
    assert blas_threads() == before
