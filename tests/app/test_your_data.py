"""The page for a visitor's own table, and the dataset cards, without a browser."""

import pytest

import imrc.tables
from imrc import datasets
from imrc.evaluation import RunResult, iter_run, largest_n
from imrc.evaluation.significance import with_error
from imrc.tables.apart import read_apart
from tests.app.conftest import link, metrics, texts
from tests.unit.hostile_files import HOSTILE
from tests.unit.known_files import HTML, table

PAGE = "pages/your_data/page.py"


@pytest.fixture
def page(app):
    """Return a function that opens the page on a quick dataset, with a file if one is given."""

    def open_page(content: bytes | None = None, name: str = "data.csv"):
        test = app(dataset="identical", k="3", n="4", repetitions="1").switch_page(PAGE).run()
        if content is not None:
            test.file_uploader(key="own_upload").set_value((name, content, "text/csv")).run()
        return test

    return open_page


def test_sample_file_is_cut_as_the_library_cuts_it_and_used_everywhere(page):
    test = page()
    test.button(key="own_sample").click().run()
    opened = datasets.open_table(datasets.sample_csv())
    expected = datasets.cut_table(opened, label="state", task="date")
    assert metrics(test)["Tasks"] == "10"
    assert metrics(test)["Features"] == str(expected.sequence.n_features)
    assert "one per month" in texts(test)
    assert "'vibration' (86 missing values" in texts(test).replace("\\", "")
    test.selectbox(key="own_period_0").set_value("quarter").run()
    assert metrics(test)["Tasks"] == "4"
    test.button(key="own_use").click().run()
    assert test.selectbox(key="dataset").value == "your_file"
    own = test.session_state["visit"].own_sequence
    quarters = datasets.cut_table(opened, label="state", task="date", period="quarter")
    assert own.fingerprint == quarters.sequence.fingerprint
    settings = test.session_state["visit"].choice.settings
    assert (settings.n, settings.repetitions, settings.scenario) == (largest_n(own), 1, "next_task")
    result = RunResult.from_steps(settings, own, list(iter_run(own, settings)))
    # Explore shows the numbers of the visitor's own tasks.
    assert metrics(test)["Error, forward"] == with_error(result.headline()["forward"])


def test_a_link_to_an_own_file_keeps_its_scenario_and_nonsense_about_columns_is_ignored(app):
    nonsense = "label=&task=%3Cb%3E&period=&words=date&words=date&exclude=1&all=&all=x&read_sheet=1&block=-1&=&&;"
    test = app(dataset="your_file", n="7", k="8", repetitions="1", columns=nonsense).switch_page(PAGE).run()
    test.button(key="own_sample").click().run()
    test.button(key="own_use").click().run()
    choice = test.session_state["visit"].choice
    assert (choice.settings.scenario, choice.settings.repetitions, choice.k) == ("continual", 1, 8)


def test_pages_take_gaps_and_words(app):
    test = app(dataset="identical", k="3", n="4", repetitions="1", features="identity").switch_page(PAGE).run()
    test.button(key="own_sample").click().run()
    test.selectbox(key="own_period_0").set_value("quarter").run()
    next(widget for widget in test.number_input if widget.key.startswith("own_n_")).set_value(4).run()
    test.button(key="own_use").click().run()
    test.session_state["evolving_experts"], test.session_state["evolving_part"] = True, "component"
    for view in ("evolving", "why_it_helps", "against_others"):
        test.switch_page(f"pages/{view}/page.py").run()
        assert not test.error, view
        if view == "evolving":
            assert "pump = B" in test.selectbox(key="evolving_component").options


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"x,y\n", "data.csv", "no rows"),
        (b"x,y\n1,a\n2,b,c\n", "data.csv", "row 2 has 3 cells"),
        (b"\x80\x04\x95.....", "data.npz", "not a kind of table"),
        (b"PK\x03\x04broken", "data.zip", "damaged"),
        (b"x,y\n" + b"5,a\n5,b\n" * 8, "data.csv", "No column is left"),
        (HOSTILE["far cell"](), f"{HTML}.xlsx", "the limits for one file"),
        (HOSTILE["zip with LZMA, dictionary of 4 GB"](), "../../a.zip", "cannot open"),
        (HOSTILE["gzip of many members"]()[:-9], "😀" * 100, "damaged or incomplete"),
    ],
)
def test_files_that_cannot_be_used_give_a_message(page, monkeypatch, content, name, message):
    monkeypatch.setattr(imrc.tables, "read_apart", read_apart)
    test = page(content, name)
    assert message in " ".join(error.value for error in test.error).replace("\\", "")
    assert "Traceback" not in texts(test)


def test_two_visitors_with_one_file_hold_it_once_and_choose_for_themselves(page, app, monkeypatch):
    read = []
    monkeypatch.setattr(imrc.tables, "read_apart", lambda *args: read.append(1) or read_apart(*args))
    first, second = page(table(40).encode()), page(table(40).encode())
    assert len(read) == 1
    second.multiselect(key="own_exclude").set_value(["z"]).run()
    assert [metrics(test)["Features"] for test in (first.run(), second)] == ["2", "1"]
    assert page(table(40).encode(), "other name.csv").session_state["visit"].own_file == "other name.csv"
    assert len(read) == 2
    first.selectbox(key="own_task").set_value("").run()
    first.button(key="own_use").click().run()
    assert first.session_state["visit"].own_sequence is not None
    third = app()
    assert third.session_state["visit"].own_sequence is None
    assert "your_file" not in third.selectbox(key="dataset").options


def test_a_new_file_replaces_the_choices_of_the_old_one_and_its_identifiers_are_off(page):
    test = page(table(40).encode())
    test.selectbox(key="own_task").set_value("").run()
    other = "customer_id,a,kind\n" + "".join(f"{1000 + i * 37 % 97},{i % 5},{'uvw'[i % 3]}\n" for i in range(60))
    test.file_uploader(key="own_upload").set_value(("other.csv", other.encode(), "text/csv")).run()
    assert test.selectbox(key="own_label").value == "kind"
    assert test.selectbox(key="own_label").proto.set_value  # else the browser shows what it held before
    assert test.multiselect(key="own_exclude").value == ["customer_id"]
    test.multiselect(key="own_exclude").set_value([]).run()
    assert metrics(test)["Features"] == "2"


def test_coming_back_shows_the_choices_and_they_can_be_changed(page):
    test = page(table(40).encode(), "shops.csv")
    test.selectbox(key="own_task").set_value("").run()
    test.number_input(key="own_block").set_value(10).run()
    test.multiselect(key="own_exclude").set_value(["z"]).run()
    test.button(key="own_use").click().run()
    assert "On *shops*" in texts(test)
    assert "Your file" not in texts(test)
    test.switch_page(PAGE).run()
    assert test.selectbox(key="own_task").value == ""
    assert test.number_input(key="own_block").value == 10
    assert test.multiselect(key="own_exclude").value == ["z"]
    assert metrics(test)["Tasks"] == "4"
    test.number_input(key="own_block").set_value(8).run()
    assert metrics(test)["Tasks"] == "5"
    test.button(key="own_use").click().run()
    assert len(test.session_state["visit"].own_sequence) == 5


def test_of_many_tasks_the_newest_are_used_and_that_is_said(page, monkeypatch):
    monkeypatch.setattr("pages.shell.state.OWN_TASKS", 5)
    rows = "".join(f"{i // 6},{i % 5},{'ab'[i % 2]}\n" for i in range(42))
    test = page(f"batch,x,y\n{rows}".encode(), "line 4.csv")
    assert "12 rows left out: tasks before the newest 5 of 7." in texts(test).replace("\\", "")
    test.button(key="own_use").click().run()
    assert test.session_state["visit"].choice.k == 5
    assert test.session_state["visit"].own_sequence.labels == ("2", "3", "4", "5", "6")
    assert any("The newest 5 tasks of line 4" in note for note in test.session_state["visit"].notes)
    test.switch_page(PAGE).run()
    test.radio(key="own_all").set_value("all").run()
    assert metrics(test)["Tasks"] == "7"
    test.button(key="own_use").click().run()
    assert test.session_state["visit"].choice.k == 7


def test_a_file_that_can_be_read_in_two_ways_has_a_control_and_its_choice_stays(app, page):
    rows = "".join(
        f"{1 + i * 5 % 12:02d}/{1 + i * 7 % 12:02d}/2020,{i % 5},{'ab'[i * 5 % 7 % 2]}\n" for i in range(120)
    )
    test = page(f"day,x,y\n{rows}".encode(), "us.csv")
    assert not [box for box in page(table(40).encode()).selectbox if box.key.startswith("own_read")]
    assert test.selectbox(key="own_read_dayfirst").value is True
    assert "dayfirst=False reads them as month/day/year" in texts(test).replace("\\", "")
    test.selectbox(key="own_read_dayfirst").set_value(False).run()
    assert "dayfirst=True reads them as day/month/year" in texts(test).replace("\\", "")
    test.run()
    assert test.selectbox(key="own_read_dayfirst").value is False
    test.button(key="own_use").click().run()
    assert test.session_state["visit"].own_source[1]["dayfirst"] is False
    again = app(**link(test))
    again.file_uploader(key="own_upload").set_value(("us.csv", f"day,x,y\n{rows}".encode(), "text/csv")).run()
    assert again.selectbox(key="own_read_dayfirst").value is False


def test_a_reload_asks_for_the_file_and_restores_its_settings_and_choices(app, page):
    first = page(table(60).encode())
    first.selectbox(key="own_task").set_value("").run()
    first.number_input(key="own_block").set_value(15)
    first.multiselect(key="own_exclude").set_value(["z"]).run()
    first.button(key="own_use").click().run()
    first.number_input(key="b").set_value(2).run()
    said, used = link(first), first.session_state["visit"].own_sequence
    for header in ("x,z,y", "x,q,y"):
        test = app(**said)
        assert "Choose it again" in texts(test)
        # No other dataset is shown under its settings: they wait for the file.
        choice = test.session_state["visit"].choice
        assert (choice.dataset, choice.settings.b) == (datasets.DEFAULT, 3)
        test.file_uploader(key="own_upload").set_value(("a.csv", table(60, header=header).encode(), "text/csv")).run()
        same = header == "x,z,y"
        assert ("are not in this file: 'z'" in texts(test).replace("\\", "")) != same
        test.button(key="own_use").click().run()
        own = test.session_state["visit"].own_sequence
        assert (link(test) == said, own.fingerprint == used.fingerprint) == (same, same)
        assert (link(test)["b"], len(own)) == ("2", 4)


def test_measured_labels_are_cut_at_the_median_and_periods_say_how_many_tasks_they_give(page):
    rows = "".join(f"2020-{1 + i // 28:02d}-{1 + i % 28:02d},{i * 37 % 168 * 1.5},{i % 70}\n" for i in range(168))
    test = page(f"when,revenue,x\n{rows}".encode())
    assert test.selectbox(key="own_label").value is None
    test.selectbox(key="own_label").set_value("revenue").run()
    assert not test.error
    assert metrics(test)["Classes"] == "2"
    assert "month (6)" in test.selectbox(key="own_period_0").options
    test.button(key="own_use").click().run()
    assert test.session_state["visit"].own_source[1]["threshold"] == "median"


# Dataset cards


def test_a_download_that_fails_says_so_and_after_one_the_dataset_can_be_run(app, nothing_here, monkeypatch):
    rows = "".join(f"{i % 7}.5,{i % 5},{i % 24}\n" for i in range(29928))
    arff = b"@relation p\n@attribute a numeric\n@attribute b numeric\n@attribute h {0,1}\n@data\n" + rows.encode()
    seen = []

    def refuse(name, progress=None):
        raise datasets.DownloadError("Power Supply could not be downloaded: x.org cannot be reached.", "By hand: …")

    def put(name, progress=None):
        for done in (len(arff) // 2, len(arff)):
            progress("powersupply.arff", done, len(arff))
            seen.append(done)
        (nothing_here / "power_supply").mkdir(parents=True)
        (nothing_here / "power_supply" / "powersupply.arff").write_bytes(arff)

    monkeypatch.setattr("imrc.datasets._catalogue.verify", lambda file, path: None)
    test = app(dataset="power_supply")
    assert "Power Supply is not on this computer; *Is it a 6 or a 9?* is shown until it is." in texts(test)
    test = app(dataset="identical", k="3", n="4", repetitions="1")
    test.selectbox(key="dataset").set_value("power_supply").run()
    monkeypatch.setattr(datasets, "download", refuse)
    test.button(key="download_power_supply").click().run()
    assert "cannot be reached" in " ".join(error.value for error in test.error)
    monkeypatch.setattr(datasets, "download", put)
    test.number_input(key="k").set_value(3)
    test.button(key="download_power_supply").click().run()
    assert len(seen) == 2
    assert not [button for button in test.button if button.key == "download_power_supply"]
    assert "On *Power Supply*" in texts(test)
