"""The article without a server: its numbers are the library's, its points move, it asks nobody and fits a phone."""

import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from imrc.core.recursions import borrowed_samples, track_forward, track_forward_backward
from imrc.core.theory import ess_forward
from imrc.teaching._world import JUMP, KINDS, SEPARATION
from tests.app.conftest import ROOT

ARTICLE = ROOT / "docs" / "article" / "article.html"
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture
def article(new_page):
    page = new_page(900, 900)
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(ARTICLE.as_uri())
    return page


def columns(*rows) -> list[np.ndarray]:
    """Numbers from the page as the library takes them: one row a task, one component."""
    return [np.asarray(row, dtype=np.float64)[:, None] for row in rows]


def revised_last(tau, s, d, b) -> tuple[np.ndarray, np.ndarray]:
    """Each task as it was revised last: when the b-th task after it had arrived, or the newest one."""
    parts = [track_forward_backward(tau[: j + b + 1], s[: j + b + 1], d[: j + b + 1], b) for j in range(len(tau))]
    return tuple(np.stack([part[which][j] for j, part in enumerate(parts)]) for which in (0, 1))


def test_recursions_equal_the_library(article, rng):
    for k, b in ((1, 0), (2, 1), (12, 3), (30, 40)):
        numbers = [rng.normal(size=k), rng.exponential(size=k), rng.exponential(size=k)]
        numbers[1][rng.random(k) < 0.2] = 0.0
        arguments = [row.tolist() for row in numbers]
        for call, expected in (
            ("trackForward(...rows)", track_forward(*columns(*numbers))),
            (f"trackForwardBackward(...rows, {b})", track_forward_backward(*columns(*numbers), b)),
            (f"revisedLast(...rows, {b})", revised_last(*columns(*numbers), b)),
        ):
            np.testing.assert_allclose(
                article.evaluate(f"(rows) => {call}", arguments), np.stack(expected)[:, :, 0], **CLOSE
            )
    for ess, rho in ((1.0, 0.3), (1e6, 0.01), (20.0, 0.0)):
        assert article.evaluate(f"borrowed({ess}, {rho})") == pytest.approx(borrowed_samples(ess, 1.0, rho), rel=1e-12)
    np.testing.assert_allclose(
        article.evaluate("essForward(7, 0.05, 40)"), ess_forward(np.arange(1, 41), 7, 0.05), rtol=1e-12
    )


def test_what_is_shown_is_what_the_library_computes(article):
    article.locator('#repair input[name="b"]').fill("5")
    shown = article.evaluate("({...sequence(), ...state})")
    tau = np.array([np.mean(points) for points in shown["points"]])
    np.testing.assert_allclose(shown["tau"], tau, **CLOSE)
    rows = columns(tau, np.full(12, 1 / shown["n"]), np.full(12, shown["rho"]))
    np.testing.assert_allclose(shown["forward"], np.stack(track_forward(*rows))[:, :, 0], **CLOSE)
    np.testing.assert_allclose(shown["both"], np.stack(revised_last(*rows, 5))[:, :, 0], **CLOSE)
    assert f"{1 / shown['both'][1][5]:.3g}" in article.locator("#repair .says").inner_text()


def test_worlds_are_those_of_the_lessons(article):
    unit, rho = np.random.default_rng(0).normal(size=12), 0.3
    drawn = {kind: article.evaluate(f"(unit) => truthOf('{kind}', unit, {rho})", unit.tolist()) for kind in KINDS}
    walk = np.cumsum(np.sqrt(rho) * np.append(0.0, unit[1:]))
    np.testing.assert_allclose(drawn["walk"], walk, **CLOSE)
    np.testing.assert_allclose(drawn["trend"], np.sqrt(rho) * np.arange(12), **CLOSE)
    np.testing.assert_allclose(drawn["jump"] - walk, JUMP * (np.arange(12) >= 6), **CLOSE)
    # A class on one side of a centre that walks, then on the other: the first mean of the lesson's world.
    np.testing.assert_allclose(drawn["swap"] - walk, -SEPARATION / 2 * (-1.0) ** np.arange(12), **CLOSE)


@pytest.mark.parametrize(("n", "rho", "b"), [(1, 0.001, 11), (40, 1.0, 1), (40, 1.0, 0)])
def test_a_steady_direction_does_not_mislead(article, n, rho, b):
    for name, value in (("n", n), ("rho", np.log10(rho)), ("b", b)):
        article.locator(f'#failure input[name="{name}"]').fill(str(value))
    assert article.evaluate("[state.n, state.rho, state.b]") == [n, pytest.approx(rho), b]
    found = article.evaluate("failure('trend')")
    assert found["both"] < found["single"]
    # Without a task after it the newest lags as far as in forward learning, one between others less.
    rows = "line, Array(12).fill(1 / state.n), Array(12).fill(state.rho)"
    line = list(range(12))
    both, forward = (
        article.evaluate(f"(line) => {name}[0]", line) for name in (f"revisedLast({rows}, 3)", f"trackForward({rows})")
    )
    assert both[11] == pytest.approx(forward[11], rel=1e-12)
    assert abs(both[6] - 6) < abs(both[11] - 11)


@pytest.mark.parametrize("world", KINDS)
def test_failures_are_those_of_the_library(article, world):
    article.locator(f'[name="world"][value="{world}"]').check(force=True)
    drawn = article.evaluate(
        f"({{...simulate('{world}'), ...failure('{world}'), n: state.n, rho: state.rho, b: state.b}})"
    )
    truth, tau = np.array(drawn["truths"]).T, np.array(drawn["averages"]).T
    s, d = np.full_like(tau, 1 / drawn["n"]), np.full_like(tau, drawn["rho"])
    found = {"single": tau, "forward": track_forward(tau, s, d)[0], "both": revised_last(tau, s, d, drawn["b"])[0]}
    for rule, mean in found.items():
        assert drawn[rule] == pytest.approx(((mean - truth) ** 2).mean(), rel=1e-12)
    # Neighbours help where nothing is broken, and the text of the scene is true where they do not.
    worse = drawn["both"] > drawn["single"]
    assert worse == (world in ("jump", "swap"))
    assert ("times that of learning alone" in article.locator("#failure .says").inner_text()) == worse


@pytest.mark.parametrize(("scene", "step"), [("average", (40, 0)), ("neighbours", (0, -40))])
def test_a_dragged_sample_moves_its_average(article, scene, step):
    task = 0 if scene == "average" else 11
    before = article.evaluate("sequence()")
    grip = article.locator(f'svg[data-scene="{scene}"] .handle').nth(2)
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    article.mouse.move(*at)
    article.mouse.down()
    article.mouse.move(at[0] + step[0], at[1] + step[1], steps=4)
    article.mouse.up()
    after = article.evaluate("sequence()")
    moved = np.array(after["points"][task]) - np.array(before["points"][task])
    assert np.flatnonzero(moved).size == 1
    assert moved.sum() > 0.1
    assert after["tau"][task] - before["tau"][task] == pytest.approx(moved.sum() / 10, rel=1e-9)
    assert f"{after['tau'][task]:.2f}" in article.locator(f"#{scene} .says").inner_text()


def test_samples_move_with_keys(article):
    article.locator('svg[data-scene="neighbours"]').focus()
    before = article.evaluate("sequence().tau[11]")
    for key in ("n", "ArrowUp", "ArrowUp"):
        article.keyboard.press(key)
    assert article.evaluate("sequence().tau[11]") - before == pytest.approx(0.02, rel=1e-9)


def test_guess_before_the_answer_is_shown(article):
    for scene, shown in (("gain", r"Task 12 is worth 27\.\d"), ("ceiling", r"A million would count 50\.0")):
        says = article.locator(f"#{scene} .says")
        assert not re.search(shown, says.inner_text())
        article.locator(f"#{scene} .guess input").fill("0.25")
        article.locator(f"#{scene} .guess button").click()
        assert re.search(shown, says.inner_text())
        assert "guessed" in says.inner_text()
        assert article.locator(f"#{scene} .guess").is_hidden()


def test_controls_change_every_scene(article):
    article.locator('#average input[name="n"]').fill("40")
    article.locator('#ceiling input[name="rho"]').fill("-1")
    assert article.evaluate("[state.n, state.rho]") == [40, pytest.approx(0.1)]
    outputs = article.locator('label:has(input[name="n"]) output').all_inner_texts()
    assert set(outputs) == {"40"}
    assert "these 40 samples" in article.locator("#average .says").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_asks_nobody_and_can_be_read(new_page, scheme):
    page = new_page(390, 800, color_scheme=scheme)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(ARTICLE.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    for place in page.locator(".guess button").all():
        place.click()
    for name in page.locator("svg text").all():
        box = name.bounding_box()
        assert box is None or (box["x"] > -1 and box["x"] + box["width"] < 391), name.inner_text()
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
