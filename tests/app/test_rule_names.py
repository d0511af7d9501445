"""Every page that shows errors or risks says of which rule."""

import pytest

from imrc.wording import LOSSES
from tests.app.conftest import texts

QUICK = {"dataset": "identical", "k": "3", "n": "5", "repetitions": "1"}


@pytest.mark.parametrize("preset", ["recommended", "paper"])
def test_guarantees_are_those_of_the_01_rule(app, preset):
    test = app(**QUICK, preset=preset).switch_page("pages/why_it_helps/page.py").run()
    test = test.toggle(key="ess_bound").set_value(True).run()
    used = "Recommended, 0-1 rule" if preset == "recommended" else "As in the paper"
    assert f"those of the {LOSSES['0-1']}, preset *{used}*" in texts(test)


def test_compare_names_both_rules(app):
    test = app(**QUICK).switch_page("pages/against_others/page.py").run()
    test = test.multiselect(key="compare_methods").set_value(["majority"]).run()
    assert f"recommended, {LOSSES['log']}; paper, features blended, {LOSSES['0-1']}" in texts(test)
