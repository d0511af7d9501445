"""The article without a server: its numbers are the library's; scenes are dragged, guessed, played and linked."""

import re
from itertools import product

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from scipy.special import ndtr

from imrc.core.change import forward_change, printed_change, squared_differences
from imrc.core.recursions import borrowed_samples, revise, track_forward
from imrc.core.theory import ess_forward, ess_forward_backward
from imrc.paper import shipped
from imrc.solvers import solve
from tests.app.conftest import ROOT
from tests.whole_sequences import track_forward_backward

ARTICLE = ROOT / "docs" / "article" / "article.html"
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
SOLVED = 1e-6
STRATEGIES = ("alone", "forward", "both")
WORLDS = ("walk", "jump", "swap", "independent", "trend")
SCENES = ("1", "2", "3", "4", "4b", "5", "6", "7", "8")
BEST = float(ndtr(-1.25))


@pytest.fixture
def open_article(new_page):
    """Return a function that opens the article at an address, in a browser that asks for little motion."""

    def open_at(address: str = "", width: int = 1100, height: int = 900, **options: object):
        page = new_page(width, height, **options)
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.goto(ARTICLE.as_uri() + address)
        return page

    return open_at


@pytest.fixture
def article(open_article):
    return open_article()


@pytest.fixture(scope="module")
def numbers(browser):
    """One page for all tests that compute in it and change nothing."""
    with browser.new_page(reduced_motion="reduce") as page:
        page.goto(ARTICLE.as_uri())
        yield page


def columns(*rows) -> list[np.ndarray]:
    """Numbers from the page as the library takes them: one row a task, one component."""
    return [np.asarray(row, dtype=np.float64)[:, None] for row in rows]


def revised_last(tau, s, d, b) -> tuple[np.ndarray, np.ndarray]:
    """Each task as it was revised last: when the b-th task after it had arrived, or the newest one."""
    parts = [track_forward_backward(tau[: j + b + 1], s[: j + b + 1], d[: j + b + 1], b) for j in range(len(tau))]
    return tuple(np.stack([part[which][j] for j, part in enumerate(parts)]) for which in (0, 1))


def estimated(tau, s, b) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What each rule believes where changes are estimated by eq. (7) with W = 2."""
    squared, k = squared_differences(tau), len(tau)
    d = np.stack([np.zeros_like(tau[0]), *(forward_change(squared, j, 2) for j in range(1, k))])
    forward = track_forward(tau, s, d)
    both = tuple(part.copy() for part in forward)
    for j in range(k - 1):
        last = min(k - 1, j + b)
        crossed = range(last - 1, j - 1, -1)
        earlier = ((tau[i], s[i], forward[0][i], forward[1][i]) for i in crossed)
        for both[0][j], both[1][j] in revise(
            (tau[last], s[last]), earlier, (printed_change(squared, i, last, 2) for i in crossed)
        ):
            pass  # the last of them belongs to task j
    return {"forward": forward, "both": both}


def line_error(w, means) -> np.ndarray:
    """Exact error of lines w, (..., 3), on two normal classes of unit variance with means (..., 4)."""
    length = np.linalg.norm(w[..., 1:], axis=-1)
    one, two = (w[..., 0] + (w[..., 1:] * means[..., at]).sum(axis=-1) for at in (slice(0, 2), slice(2, 4)))
    return 0.5 * (ndtr(one / length) + ndtr(-two / length))


def halfway(means) -> np.ndarray:
    """Return the line half-way between two averages, (..., 4)."""
    one, two = means[..., :2], means[..., 2:]
    return np.concatenate([-((two - one) * (one + two)).sum(axis=-1, keepdims=True) / 2, two - one], axis=-1)


def scene(page, name: str):
    return page.evaluate(f"scenes.{name}.state")


def slide(page, place: str, value: float) -> None:
    page.locator(place).fill(str(value))
    page.wait_for_function("frame === 0")


# -- the numbers are the library's ---------------------------------------------------------------------------------


def test_recursions_and_closed_forms_equal_the_library(numbers, rng):
    for k, b in ((1, 0), (2, 1), (12, 3), (30, 40)):
        rows = [rng.normal(size=k), rng.exponential(size=k), rng.exponential(size=k)]
        rows[1][rng.random(k) < 0.2] = 0.0
        arguments = [row.tolist() for row in rows]
        for call, expected in (
            ("trackForward(...rows)", track_forward(*columns(*rows))),
            (f"trackForwardBackward(...rows, {b})", track_forward_backward(*columns(*rows), b)),
            (f"revisedLast(...rows, {b})", revised_last(*columns(*rows), b)),
        ):
            found = numbers.evaluate(f"(rows) => {call}", arguments)
            np.testing.assert_allclose(found, np.stack(expected)[:, :, 0], **CLOSE)
    for ess, rho in ((1.0, 0.3), (1e6, 0.01), (20.0, 0.0)):
        assert numbers.evaluate(f"borrowed({ess}, {rho})") == pytest.approx(borrowed_samples(ess, 1.0, rho), rel=1e-12)
    j, last = np.arange(1, 41), np.minimum(np.arange(1, 41) + 5, 40)
    for n, rho in ((7, 0.05), (1, 1e-3), (1000, 1.0), (3, 1e-40), (50, 1e-9)):
        found = numbers.evaluate(f"Array.from({{length: 40}}, (_, j) => essForward(j + 1, {n}, {rho}))")
        np.testing.assert_allclose(found, ess_forward(j, n, rho), rtol=1e-12)
        gain = numbers.evaluate(f"Array.from({{length: 40}}, (_, j) => essGain(Math.min(5, 39 - j), {n}, {rho}))")
        np.testing.assert_allclose(np.add(found, gain), ess_forward_backward(j, last, n, rho), rtol=1e-12)


def test_the_minimax_rule_is_that_of_the_library(numbers, rng):
    for n, half in product((6, 20, 40), (0.02, 0.1, 0.3)):
        y = np.repeat([0, 1], n // 2)
        X = rng.normal(size=(n, 2)) + np.where(y[:, None] == 1, 0.9, -0.9) + rng.normal(size=2)
        tau = np.concatenate([np.append(0.5, 0.5 * X[y == c].mean(axis=0)) for c in (0, 1)])
        tau += rng.normal(size=6) * np.array([0, 1, 1, 0, 1, 1]) * half / 2
        lam = np.array([0.0, half, half, 0.0, half, half])
        expected = solve(X, tau, lam, n_classes=2)
        found = numbers.evaluate("(problem) => solveRule(...problem)", [X.tolist(), tau.tolist(), lam.tolist()])
        np.testing.assert_allclose(found["mu"], expected.mu, rtol=SOLVED, atol=SOLVED)
        assert found["value"] == pytest.approx(expected.value, abs=SOLVED)


def test_errors_of_lines_are_exact(numbers, rng):
    z = np.concatenate([np.linspace(-39, 39, 400), [0.0, 3.0, -3.0, 2.9999999, 1e-9]])
    found = np.array(numbers.evaluate("(z) => z.map(normalBelow)", z.tolist()))
    np.testing.assert_allclose(found, ndtr(z), rtol=1e-12, atol=1e-300)
    lines, means = rng.normal(size=(50, 3)), rng.normal(size=(50, 4))
    found = numbers.evaluate("([w, m]) => w.map((line, i) => lineError(line, m[i]))", [lines.tolist(), means.tolist()])
    np.testing.assert_allclose(found, line_error(lines, means), **CLOSE)


@pytest.mark.parametrize("world", WORLDS)
def test_simulated_worlds_are_as_hard_everywhere_and_counted_right(numbers, world):
    n, rho, b = 7, 0.06, 2
    drawn = numbers.evaluate(f"simulate('{world}', {n}, {rho}, 3)")
    truth, tau = (np.array(drawn[name]).reshape(-1, 4, 12).transpose(2, 0, 1) for name in ("truth", "average"))
    np.testing.assert_allclose(line_error(halfway(truth), truth), BEST, rtol=1e-9)
    assert np.mean((tau - truth) ** 2) == pytest.approx(1 / n, rel=0.05)
    steps = np.diff(truth, axis=0)
    if world == "swap":  # classes change places while the walk goes on
        centre = truth.reshape(12, -1, 2, 2).mean(axis=2)
        assert np.mean(np.diff(centre, axis=0) ** 2) == pytest.approx(rho, rel=0.1)
        moved = truth - np.tile(centre, 2)
        np.testing.assert_allclose(moved[1:, :, :2], moved[:-1, :, 2:], atol=1e-12)
    elif world in ("walk", "trend"):
        assert np.mean(steps**2) == pytest.approx(rho, rel=0.1)
        together = np.mean(steps[1:] * steps[:-1])
        assert together == pytest.approx(rho if world == "trend" else 0.0, abs=0.15 * rho)
    elif world == "jump":
        assert np.sqrt(np.mean(np.sum(steps[5, :, :2] ** 2, axis=-1))) == pytest.approx(4.0, rel=0.05)
    flat = tau.reshape(12, -1)
    s, d = np.full_like(flat, 1 / n), np.full_like(flat, rho)
    told = {"forward": track_forward(flat, s, d), "both": revised_last(flat, s, d, b)}
    for knows, believed in (("true", told), ("false", estimated(flat, s, b))):
        found = numbers.evaluate(f"study('{world}', {n}, {rho}, {b}, {knows}, 3)")
        covered = numbers.evaluate(f"coverage('{world}', {n}, {rho}, {b}, {knows}, 3)")
        for rule, (mean, mse) in {"alone": (flat, s), **believed}.items():
            mean, mse = mean.reshape(tau.shape), mse.reshape(tau.shape)
            avoidable = line_error(halfway(mean), truth) - BEST
            np.testing.assert_allclose(found[rule]["avoidable"], avoidable.mean(axis=1), **CLOSE)
            np.testing.assert_allclose(found[rule]["squared"], ((mean - truth) ** 2).mean(axis=(1, 2)), **CLOSE)
            for half, share in zip((1, 2), covered[rule], strict=True):
                holds = (mean - truth) ** 2 <= half**2 * mse
                assert share == pytest.approx(holds.mean(), abs=1e-9)


def test_the_sequence_that_is_drawn_changes_as_its_world_says(numbers, rng):
    unit, rho = rng.normal(size=12), 0.3
    drawn = {world: numbers.evaluate(f"(unit) => truthOf('{world}', unit, {rho})", unit.tolist()) for world in WORLDS}
    walk = np.cumsum(np.sqrt(rho) * np.append(0.0, unit[1:]))
    np.testing.assert_allclose(drawn["walk"], walk, **CLOSE)
    np.testing.assert_allclose(drawn["trend"], np.sqrt(rho) * np.arange(12), **CLOSE)
    np.testing.assert_allclose(drawn["jump"] - walk, 4.0 * (np.arange(12) >= 6), **CLOSE)
    # A class on one side of a centre that walks, then on the other.
    np.testing.assert_allclose(drawn["swap"] - walk, -1.25 * (-1.0) ** np.arange(12), **CLOSE)
    np.testing.assert_allclose(drawn["independent"], unit, **CLOSE)


def test_digits_are_those_of_scikit_learn(numbers):
    from sklearn.datasets import load_digits

    bundle = load_digits()
    chosen = np.concatenate([bundle.images[bundle.target == digit][:12] for digit in (6, 9)])
    found = numbers.evaluate("Array.from({length: 24}, (_, i) => pixelsOf(i))")
    np.testing.assert_array_equal(found, np.minimum(chosen, 15).reshape(24, 64))
    rules = {"alone": "single", "pooled": "pooled", "forward": "forward", "both": "forward_backward"}
    for turns, lines in numbers.evaluate("digits.errors").items():
        measured = shipped.turning_digits()["cells"][f"{360 * float(turns):.0f},4"]
        assert lines == {name: measured[rule]["mean"] for name, rule in rules.items()}
        # With one task there is nobody to borrow from: only penalties differ, by two pictures of 90.
        starts = [line[0] for line in lines.values()]
        assert max(starts) - min(starts) < 2.5 / 90
        assert lines["forward"][0] == lines["both"][0]


# -- what is shown is what is computed -------------------------------------------------------------------------------


def test_a_sequence_shows_what_the_library_computes(article):
    slide(article, "#repair input[name=b]", 2)
    slide(article, "#repair input[name=upto]", 12)
    shown = article.evaluate("({...sequence(scenes.repair.state), ...scenes.repair.state})")
    tau = np.array([np.mean(points) for points in shown["points"]])
    np.testing.assert_allclose(shown["tau"], tau, **CLOSE)
    rows = columns(tau, np.full(12, 1 / shown["n"]), np.full(12, shown["rho"]))
    np.testing.assert_allclose(shown["forward"], np.stack(track_forward(*rows))[:, :, 0], **CLOSE)
    np.testing.assert_allclose(shown["both"], np.stack(revised_last(*rows, 2))[:, :, 0], **CLOSE)
    assert f"{1 / shown['both'][1][5]:.1f}" in article.locator("#repair .says").inner_text()


def test_the_plane_shows_boxes_lines_and_errors_of_the_library(article):
    article.locator("#rule .choice", has_text="task 4").click()
    slide(article, "#rule input[name=n]", 6)
    slide(article, "#rule input[name=upto]", 7)
    state, tasks = scene(article, "rule"), article.evaluate("planeTasks(scenes.rule.state)")
    upto, n, rho, b = (state[name] for name in ("upto", "n", "rho", "b"))
    tau = np.array([task["mean"] for task in tasks])[:upto]
    s, d = np.full_like(tau, 1 / n), np.full_like(tau, rho)
    believed = {"alone": (tau, s), "forward": track_forward(tau, s, d), "both": revised_last(tau, s, d, b)}
    says = article.locator("#rule .says").inner_text()
    shown = article.evaluate("scenes.rule.rules.found")
    for rule, (mean, mse) in believed.items():
        for j in (3, 6):
            X = np.concatenate([task["points"] for task in tasks[max(0, j - b) : j + 1]])
            half = np.sqrt(mse[j, 0]) / 2
            vector = np.array([0.5, *(mean[j, :2] / 2), 0.5, *(mean[j, 2:] / 2)])
            mu = solve(X, vector, [0, half, half, 0, half, half], n_classes=2).mu.reshape(2, 3)
            error = line_error(mu[1] - mu[0], np.array(tasks[j]["truth"]))
            assert shown[j][rule]["error"] == pytest.approx(error, abs=SOLVED)
        assert f"{100 * shown[3][rule]['error']:.1f}" in says
    assert f"{100 * BEST:.1f}" in says


def test_the_sequence_in_the_plane_is_typical(article):
    shown, *drawn = article.evaluate("""() => {
      const errors = (values) => {
        const state = { ...scenes.rule.start, ...values, upto: 12, moved: {} }, tasks = planeTasks(state);
        const { found } = planeRules(state, tasks, planeEstimates(state, tasks));
        return STRATEGIES.map((rule) => average(found.map((one) => one[rule].error)));
      };
      return [errors({}), ...Array.from({ length: IN_THE_PLANE.runs }, (_, run) => errors({ seed: run + 1 }))];
    }""")
    mean = dict(zip(STRATEGIES, np.mean(drawn, axis=0), strict=True))
    for rule in STRATEGIES:
        expect(article.locator(f'#rule .text [data-average="{rule}"]')).to_have_text(f"{100 * mean[rule]:.1f}")
    np.testing.assert_allclose(shown, [mean[rule] for rule in STRATEGIES], atol=0.01)
    assert shown[2] < shown[1] < shown[0]


def test_failures_are_said_as_they_are(article):
    says = article.locator("#failure .says")
    for world in WORLDS:
        article.locator(f'#failure input[value="{world}"]').check(force=True)
        counted = {}
        for told, known in (("told", "true"), ("estimated", "false")):
            article.locator(f'#failure input[value="{told}"]').check(force=True)
            article.wait_for_function("frame === 0")
            counted[told] = article.evaluate(f"study('{world}', 10, 0.02, 3, {known}, 0)")
            for share in (counted["told"]["both"]["errors"], counted[told]["both"]["errors"]):
                assert article.evaluate(f"inHundred({share})") in says.inner_text(), world
        both, alone = (counted["told"][rule]["errors"] for rule in ("both", "alone"))
        assert (both > alone) == (world in ("jump", "swap", "independent"))
        assert (counted["estimated"]["both"]["errors"] < both) == (both > alone)


def test_your_own_numbers_are_those_of_the_theorems(article):
    says = article.locator("#yours .says")
    for k, n, rho, b in ((24, 20, 0.1, 3), (2, 1, 1.0, 8), (200, 1000, 0.001, 0)):
        article.evaluate(f"change(scenes.yours, {{ k: {k}, labels: {n}, rho: {rho}, b: {b} }})")
        article.wait_for_function("frame === 0")
        newest = float(ess_forward(k, n, rho))
        assert article.evaluate(f"number({newest})") in says.inner_text()
        assert article.evaluate(f"number({float(borrowed_samples(newest, 1.0, rho))})") in says.inner_text()
    expect(article.locator("[data-alone]")).to_be_visible()
    expect(article.locator("[data-embedded]")).to_be_hidden()


# -- guess, drag, play ------------------------------------------------------------------------------------------------


GUESSES = {
    "turn": ("Pooled", "Forward and backward"),
    "average": ("Nearly as far", "Half as far"),
    "trust": ("less often", "more often"),
    "gain": ("a million", "50"),
    "repair": ("The last one", "The next one"),
    "failure": ("Labels that swap", "A steady drift"),
}
"""Scenes that ask: a wrong answer and the right one."""


@pytest.mark.parametrize("right", [False, True])
def test_a_guess_shows_what_was_hidden_and_is_answered_with_numbers_that_stay(article, right):
    for name, choices in GUESSES.items():
        answer = article.locator(f"#{name} .answer")
        expect(answer).to_have_text("")
        hidden = "Guess" in article.locator(f"#{name} svg").first.inner_html()
        assert hidden == (name in ("turn", "trust", "gain"))
        article.locator(f"#{name} .guess").get_by_role("button", name=choices[right], exact=True).click()
        expect(answer).to_contain_text("Yes." if right else f"No: {choices[True].lower()}.")
        article.wait_for_function("frame === 0")
        assert "Guess" not in article.locator(f"#{name} svg").first.inner_html()
        turns = {"0.5": "half a circle", "2": "two circles", "1": "a full circle"} if name == "turn" else {}
        for turn, words in turns.items():  # another turn is another question, with its own answer
            article.locator(f'#turn input[value="{turn}"]').check(force=True)
            last = [f"{100 * line[19]:.1f}" for line in article.evaluate(f"Object.values(digits.errors[{turn}])")]
            told = "After {} .*alone {}, pooled {}, forward {}, forward and backward {}[.]".format(words, *last)
            expect(article.locator("#turn .guess")).to_contain_text(re.compile(told))
        before = answer.inner_text()
        assert re.search(r"\d", before)
        article.locator(f"#{name} input[type=range]").first.press("ArrowLeft")
        article.wait_for_function("frame === 0")
        assert answer.inner_text() == before


@pytest.mark.parametrize(
    ("address", "name", "guess"),
    [("4b,rho:0.01,half:1", "trust", "more often"), ("6,rho:0.001,n:2", "repair", "All alike")],
)
def test_an_answer_is_true_of_what_was_asked(open_article, address, name, guess):
    page = open_article(f"#scene={address}")
    page.locator(f"#{name} .guess").get_by_role("button", name=guess).click()
    expect(page.locator(f"#{name} .answer")).to_contain_text("Yes.")
    if name == "trust":  # one step and one half-width were asked about, whatever is shown
        page.wait_for_function("frame === 0")
        assert (scene(page, name)["rho"], scene(page, name)["half"]) == (0.3, 2)
        small, promised = page.evaluate("[misses({ ...TRUSTED, rho: 0.01 }, false, 'both'), promisedMisses(2)]")
        assert small < promised


def drag(page, place: str, step: tuple[int, int], which: int = 2) -> None:
    grip = page.locator(f"{place} .handle").nth(which)
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + step[0], at[1] + step[1], steps=4)
    page.mouse.up()
    page.wait_for_function("frame === 0")


@pytest.mark.parametrize(("name", "task", "step"), [("average", 0, (40, 0)), ("neighbours", 7, (0, -40))])
def test_a_dragged_sample_moves_its_average(article, name, task, step):
    look = f"sequence(scenes.{name}.state)"
    before = article.evaluate(look)
    drag(article, f"#{name}", step)
    after = article.evaluate(look)
    moved = np.array(after["points"][task]) - np.array(before["points"][task])
    assert np.flatnonzero(moved).size == 1
    assert moved.sum() > 0.1
    assert after["tau"][task] - before["tau"][task] == pytest.approx(moved.sum() / 10, rel=1e-9)
    assert f"{after['tau'][task]:.2f}" in article.locator(f"#{name} .says").inner_text()


def test_a_dragged_sample_moves_box_and_line_and_errors_follow(article):
    look = "[planeTasks(scenes.rule.state)[11], scenes.rule.rules.found.map((one) => one.alone.error)]"
    before, errors = article.evaluate(look)
    drag(article, "#rule", (60, -50))
    after, now = article.evaluate(look)
    moved = np.array(after["points"]) - np.array(before["points"])
    assert np.flatnonzero(np.abs(moved).sum(axis=1)).size == 1
    assert moved.sum(axis=0)[0] > 0.3 < moved.sum(axis=0)[1]
    assert now[11] != errors[11]
    assert now[:11] == pytest.approx(errors[:11], abs=1e-12)
    # Another sequence has other samples, and none of them moved.
    article.locator("#rule").get_by_role("button", name="Other samples").click()
    assert scene(article, "rule")["moved"] == {}


TRIALS = {
    "turn": ({"at": 3}, {"guess": 0, "at": 12}, {"at": 20, "turns": 2}),
    "average": ({"n": 3}, {"again": 40}, {"guess": 0, "n": 12}),
    "neighbours": ({"upto": 3}, {"upto": 1}, {"upto": 12, "n": 4}),
    "rule": ({"look": "old"}, {"upto": 2}, {"rho": 1, "upto": 9, "look": "newest"}),
    "trust": ({"rho": 0.1}, {"guess": 0}, {"half": 1}),
    "gain": ({"n": 3}, {"guess": 0}, {"rho": 1, "n": 800}),
    "repair": ({"upto": 1}, {"upto": 12, "b": 0}, {"b": 3, "n": 30}),
    "failure": ({"world": "swap"}, {"told": "estimated"}, {"world": "trend", "rho": 1}),
    "yours": ({"labels": 1}, {"k": 2}, {"b": 0, "rho": 1}),
}


def test_a_picture_that_was_changed_is_the_one_drawn_afresh(open_article):
    """Elements stay where they are and take new attributes: nothing of what was shown before may be left."""
    page = open_article("", 390)
    for name, values in ((name, values) for name, trials in TRIALS.items() for values in trials):
        kept, changed, afresh = page.evaluate(
            """async ([name, values]) => {
              const one = scenes[name], svg = svgOf(one), before = new Set(svg.children);
              // A slow processor solves over several frames, and shows … until then.
              const solved = async () => {
                while (one.section.querySelector('[aria-label*="…"]')) await new Promise(requestAnimationFrame);
              };
              const of = (node) => node.nodeType === 3 ? node.data : [
                node.nodeName,
                [...node.attributes].map((each) => [each.name, each.value]).sort(),
                [...node.childNodes].map(of),
              ];
              const shown = () => JSON.stringify([...one.section.querySelectorAll("svg, .says")].map(of));
              Object.assign(one.state, values);
              one.draw(one);
              await solved();
              const kept = [...svg.children].filter((node) => before.has(node)).length, changed = shown();
              for (const part of one.section.querySelectorAll("svg")) {
                part.replaceChildren();
                part.parts = [];
              }
              one.said = [];
              one.draw(one);
              await solved();
              return [kept, changed, shown()];
            }""",
            [name, values],
        )
        assert changed == afresh, (name, values)
        assert kept > 0


def test_samples_move_with_keys(article):
    article.locator("#neighbours svg").focus()
    before = article.evaluate("sequence(scenes.neighbours.state).tau[7]")
    for key in ("n", "ArrowUp", "ArrowUp"):
        article.keyboard.press(key)
    after = article.evaluate("sequence(scenes.neighbours.state).tau[7]")
    assert after - before == pytest.approx(0.02, rel=1e-9)
    article.locator("#rule svg").first.focus()
    before = article.evaluate("planeTasks(scenes.rule.state)[11].mean")
    for key in ("ArrowRight", "n", "ArrowUp"):
        article.keyboard.press(key)
    moved = np.subtract(article.evaluate("planeTasks(scenes.rule.state)[11].mean"), before)
    np.testing.assert_allclose(moved, [0.02, 0.02, 0, 0], atol=1e-9)
    assert article.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_nothing_moves_before_somebody_presses_play_and_the_space_bar_stops_it(open_article):
    page = open_article(reduced_motion="no-preference")
    page.wait_for_timeout(500)
    assert page.evaluate("[scenes.turn.state.at, playing]") == [0, None]
    page.locator("#neighbours input[name=upto]").fill("1")
    page.locator("#neighbours").get_by_role("button", name="Play").click()
    page.wait_for_function("scenes.neighbours.state.upto >= 3")
    page.keyboard.press("Tab")
    page.locator("#neighbours svg").focus()
    page.keyboard.press("Space")
    expect(page.locator("#neighbours").get_by_role("button", name="Play")).to_be_visible()
    assert page.evaluate("playing") is None


# -- links, projector, phones, everybody ------------------------------------------------------------------------------


def test_a_link_restores_a_scene_with_its_state(article):
    drag(article, "#rule", (60, -50))
    slide(article, "#rule input[name=rho]", -0.5)
    article.locator("#failure .guess button").nth(1).click()
    article.locator('#failure input[value="swap"]').check(force=True)
    # The address of the window follows what was done last.
    article.wait_for_function("location.hash.startsWith('#scene=7,world:swap')")
    look = "({ name, state }) => [addressOf(scenes[name]), name, state]"
    for written, name, state in [article.evaluate(f"({look})(scenes.{name})") for name in ("rule", "failure")]:
        article.goto("about:blank")
        article.goto(ARTICLE.as_uri() + written[written.index("#") :])
        found = scene(article, name)
        assert found == {**state, "moved": found["moved"]}
        for key, place in state["moved"].items():
            np.testing.assert_allclose(found["moved"][key], place, atol=1e-3)
        assert abs(article.evaluate(f"scenes.{name}.section.getBoundingClientRect().top")) < 60


def test_a_scene_opens_by_number_in_hash_and_query(open_article):
    page = open_article()
    names = page.evaluate("order().map((one) => one.name)")
    addresses = [("#scene={}", number, name) for number, name in zip(SCENES, names, strict=True)]
    addresses += [("?scene={}&theme=dark", *one[1:]) for one in addresses[2::2]]  # each of these loads the page again
    for address, number, name in addresses:
        page.goto(ARTICLE.as_uri() + address.format(number))
        assert page.locator(f"#{name} .kicker").inner_text().lower().startswith(f"{number} ")
        expect(page.locator(f"#{name} h2")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize(
    "nonsense",
    [
        "9", "x", "4,n:1e9,rho:-1,upto:2.5,look:<b>,guess:0", "7,world:none,told:1,guess:9",
        "2,moved:a_b_c~0_0_99,seed:-1", "5,rho:",
    ],
)  # fmt: skip
def test_nonsense_in_an_address_is_ignored(open_article, nonsense):
    page = open_article(f"#scene={nonsense}")
    for state, start in page.evaluate("order().map((one) => [one.state, one.start])"):
        assert state == {**start, "moved": {}}


def test_a_teacher_shows_all_scenes_to_a_room_by_keys_or_buttons(open_article):
    page = open_article("#scene=1,projector", 1280, 720)
    back, following = (page.locator(f'.steps [data-step="{by}"]') for by in (-1, 1))
    expect(back).to_be_disabled()
    now, titles = page.locator("section.now"), set()
    for number in range(len(SCENES)):
        if number == 1:
            following.focus()
            page.keyboard.press("Enter")
        elif number:
            page.keyboard.press("PageDown" if number % 2 else "Shift+ArrowRight")
        expect(now).to_have_count(1)
        titles.add(now.locator("h2").inner_text())
        page.wait_for_function("frame === 0")
        expect(now.locator("svg").first).to_be_in_viewport(ratio=0.99)
        expect(now.locator(".panel").first).to_be_in_viewport(ratio=0.9)
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        expect(now.locator(".room")).to_be_visible()
        if now.locator(".play").count():  # the space bar plays, even where a button has the focus
            key = page.evaluate("current().play.key")
            page.evaluate(f"change(current(), {{ {key}: current().play.from }})")
            page.keyboard.press("Space")
            page.wait_for_function(f"current().state.{key} > current().play.from")
            page.keyboard.press("Space")
            assert page.evaluate("playing") is None
        if now.locator(".guess").count():
            now.locator(".guess button").nth(1).click()
            for part in (now.locator(".guess p").first, now.locator(".answer")):
                expect(part).to_be_in_viewport(ratio=0.99)
            page.evaluate("document.activeElement.blur()")
        page.wait_for_function("frame === 0")
        buttons, panel = (page.locator(place).bounding_box() for place in (".steps", "section.now .panel"))
        assert buttons["y"] + buttons["height"] <= panel["y"]
        assert panel["y"] + panel["height"] <= 720
    assert len(titles) == len(SCENES)
    expect(following).to_be_disabled()
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.now .panel')).fontSize)") >= 26
    page.keyboard.press("Escape")
    expect(page.locator("section:visible")).to_have_count(len(SCENES))


def test_a_swipe_that_begins_on_a_sample_moves_the_page(open_article):
    page = open_article("", 390, 800, has_touch=True, is_mobile=True)
    for place in ("#rule svg", "#neighbours svg"):
        grip = page.locator(f"{place} .handle").nth(1)
        grip.evaluate("one => one.scrollIntoView({ block: 'center', behavior: 'instant' })")
        before, box = page.evaluate("scrollY"), grip.bounding_box()
        at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        page.context.new_cdp_session(page).send(
            "Input.synthesizeScrollGesture", {**at, "yDistance": -200, "speed": 800}
        )
        page.wait_for_function(f"scrollY > {before} + 120")
    # After a tap the sample is held, and can be dragged up and down.
    page.locator("#neighbours svg .handle").last.tap()
    expect(page.locator("#neighbours svg .handle.picked")).to_have_css("touch-action", "none")


@pytest.mark.parametrize("width", [390, 1366])
def test_it_fits_asks_nobody_and_can_be_read(new_page, width):
    page = new_page(width, 768)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(ARTICLE.as_uri())
    if width == 390:  # a question comes before its picture
        for name in GUESSES:
            above, below = (page.locator(f"#{name} {part}").bounding_box() for part in (".guess", ".picture"))
            assert above["y"] + above["height"] <= below["y"] + 1
    for guess in page.locator(".guess").all():
        guess.locator("button").last.click()
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    page.wait_for_function("frame === 0")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    cut = page.locator("svg text").evaluate_all(
        """all => all.filter((one) => {
          const [box, whole] = [one, one.closest("svg")].map((part) => part.getBoundingClientRect());
          const across = box.left < whole.left - 1 || box.right > whole.right + 1;
          return across || box.top < whole.top - 1 || box.bottom > whole.bottom + 1;
        }).map((one) => one.textContent)"""
    )
    assert cut == []
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("frame === 0")
        found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_one_small_file_that_names_no_other_host():
    text = ARTICLE.read_text(encoding="utf-8")
    assert len(text.encode()) < 150_000
    assert not re.search(r"https?://", text.replace("http://www.w3.org/2000/svg", ""))
    assert text.count("<script>") == 2  # what the server's policy lets run
