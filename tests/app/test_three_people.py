"""What an analyst and a researcher come for, from the first page to what they take away; a teacher: `test_article`."""

import re

import numpy as np
import pandas as pd
from playwright.sync_api import expect

import imrc
from imrc.evaluation.significance import with_error
from tests.app.conftest import IDLE, decided
from tests.conftest import run_python


def errors_shown(page) -> dict[str, str]:
    """Return the errors in the picture of the decision, by the names of the rules."""
    chart = page.locator("[aria-label^='Error of each strategy']").last
    expect(chart).to_be_attached()
    page.wait_for_selector(IDLE)
    return decided([chart.get_attribute("aria-label")])


def test_an_analyst_goes_from_a_file_to_a_script_that_predicts_it(new_page, server, tmp_path):
    page = new_page(1366, 768)
    page.goto(f"{server}/your-data?repetitions=2&b=1")
    file = tmp_path / "pumps.csv"
    file.write_bytes(b"".join(imrc.datasets.sample_csv().splitlines(keepends=True)[:1201]))  # five months
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(file)
    page.get_by_role("button", name="Use this").click()
    expect(page.get_by_role("heading", level=1, name=re.compile("^On pumps, "))).to_be_visible()
    shown = errors_shown(page)
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()

    # The model of the page and that of its script answer the next file alike.
    page.get_by_role("button", name="Model", exact=True).click()
    page.get_by_test_id("stPopoverBody").get_by_role("combobox").click()
    page.get_by_role("option", name="Forward", exact=True).click()
    with page.expect_download() as script:
        page.get_by_role("button", name="Script", exact=True).click()
    with page.expect_download() as fitted:
        page.get_by_test_id("stPopoverBody").get_by_role("button", name="Model", exact=True).click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Score a file").click()
    next_file = page.get_by_test_id("stPopoverBody").get_by_test_id("stFileUploader").locator("input")
    next_file.set_input_files(file)
    expect(page.get_by_text(re.compile("^1,200 rows were predicted"))).to_be_visible()
    with page.expect_download() as scored:
        page.get_by_role("button", name="Scored rows").click()
    script.value.save_as(tmp_path / "imrc_model.py")
    fitted.value.save_as(tmp_path / "downloaded.imrc")
    run_python("imrc_model.py", folder=tmp_path)
    written, downloaded = (imrc.load(tmp_path / name) for name in ("model.imrc", "downloaded.imrc"))
    answers = downloaded.predict_proba(file)
    np.testing.assert_array_equal(written.predict_proba(file), answers)
    rows = pd.read_csv(scored.value.path())
    np.testing.assert_array_equal(rows.iloc[:, -answers.shape[1] :], answers.round(4))  # as many decimals as written
    code = (tmp_path / "imrc_model.py").read_text(encoding="utf-8")
    call = re.search(r"^tasks = (.+)$", code, re.MULTILINE)
    sequence = eval(call[1].replace("'pumps.csv'", repr(str(file))), {"imrc": imrc})

    # The numbers of the page are those of the copied code.
    query = dict(part.split("=") for part in page.url.partition("?")[2].split("&"))
    asked = {name: query[name] for name in ("preset", "scenario")}
    result = imrc.evaluate(sequence, n=int(query["n"]), b=1, repetitions=2, **asked)
    for rule, title in (("single", "Error, alone"), ("forward", "Error, forward")):  # of tomorrow's task
        assert shown[title] == with_error(result.headline()[rule])


def test_a_researcher_goes_from_a_link_to_a_pinned_comparison_and_the_report(new_page, server, tmp_path):
    page = new_page(1440, 900)
    page.goto(f"{server}/?dataset=random_walk&k=6&n=5&b=2&repetitions=3&preset=paper")
    few = errors_shown(page)
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_text("This run is pinned")).to_be_visible()
    page.get_by_role("spinbutton", name="Samples n").fill("20")
    page.get_by_role("spinbutton", name="Samples n").press("Enter")
    expect(page.get_by_text("Change since the pinned run").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]n=20(&|$)"))
    many = errors_shown(page)
    assert few != many
    sequence = imrc.datasets.load("random_walk", tasks=6)
    for n, shown in ((5, few), (20, many)):
        expected = imrc.evaluate(sequence, n=n, b=2, repetitions=3, preset="paper").headline()
        assert shown["Error, forward and backward"] == with_error(expected["forward_backward"])

    with page.expect_download() as download:
        page.get_by_role("button", name="Report").click()
    download.value.save_as(tmp_path / "report.html")
    link = page.url
    page.context.set_offline(True)
    page.goto((tmp_path / "report.html").as_uri())
    expect(page.locator("h1")).to_contain_text("random walk")
    expect(page.get_by_text(with_error(expected["single"])).first).to_be_visible()

    # Whoever gets the link, knowing nothing else, sees the same.
    page.context.set_offline(False)
    page.context.clear_cookies()
    page.goto(link)
    expect(page.get_by_text("Change since the pinned run").first).to_be_visible()
    assert errors_shown(page) == many
