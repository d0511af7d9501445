"""Guarantees are said to be those of the rule that has them."""

import pytest

from imrc.wording import LOSSES
from tests.app.conftest import texts

QUICK = {"dataset": "identical", "k": "3", "n": "5", "repetitions": "1"}


@pytest.mark.parametrize("preset", ["recommended", "paper"])
def test_guarantees_are_those_of_the_01_rule(app, preset):
    test = app(**QUICK, preset=preset, ess_experts="true").switch_page("pages/why_it_helps/page.py").run()
    test = test.radio(key="ess_part").set_value("guarantee").run()
    used = "Recommended, 0-1 rule" if preset == "recommended" else "As in the paper"
    assert f"those of the {LOSSES['0-1']}, preset *{used}*" in texts(test)
