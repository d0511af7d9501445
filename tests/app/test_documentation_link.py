"""Documentation is found from the app, on the app's own server."""

import pytest

from pages.ui import documentation


def test_the_documentation_opens_from_the_app_and_no_other_file_is_served(server, new_page):
    page = new_page()
    page.goto(f"{server}/effective-sample-size")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Documentation").click()
    target = opened.value
    target.wait_for_load_state()
    assert target.url.startswith(f"{server}/documentation/")
    assert target.title()
    target.close()
    for path in ("conf.py", "..%2fconf.py", "no-such-page.html"):
        assert page.request.get(f"{server}/documentation/{path}").status in (400, 404), path
    assert documentation.LINK.startswith("[Documentation](documentation/")


def test_the_article_runs_under_the_policy_of_the_server(server, new_page):
    page = new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.on("console", lambda said: pytest.fail(said.text) if "Content Security Policy" in said.text else None)
    page.goto(f"{server}/documentation/article.html")
    assert "average of these 10 samples" in page.locator("#average .says").inner_text()
