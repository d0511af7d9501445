"""Several visitors at once on one real server; the long version is `tests/benchmarks/visitors.py`."""

import pytest

from tests.benchmarks.visitors import study


@pytest.mark.timeout(180)
@pytest.mark.usefixtures("compiled")
def test_six_visitors_at_once_meet_no_error_and_only_their_own_numbers():
    report = study(visitors=6, seconds=25, think=2.0, settings=3)
    assert report.problems == []
    # They did something, old and new.
    assert len(report.cached) >= 6
    assert len(report.fresh) >= 6
    assert max(megabytes for _, megabytes in report.memory_mb) < 1000
