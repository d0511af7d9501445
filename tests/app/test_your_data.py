"""The page for a visitor's own table, and the dataset cards, without a browser."""

import pytest

from imrc import datasets
from imrc.evaluation import RunResult, iter_run, largest_n
from imrc.evaluation.words import with_error
from pages.ui.words import plain
from tests.app.conftest import metrics, texts
from tests.unit.nasty_files import HTML, table

PAGE = "pages/views/your_data.py"


@pytest.fixture
def page(app):
    """Return a function that opens the page on a quick dataset, with a file if one is given."""

    def open_page(content: bytes | None = None, name: str = "data.csv"):
        test = app(dataset="identical", k="3", n="4", repetitions="1").switch_page(PAGE).run()
        if content is not None:
            test.file_uploader(key="own_upload").set_value((name, content, "text/csv"))
            test.run()
        return test

    return open_page


def test_sample_file_is_cut_as_the_library_cuts_it_and_used_everywhere(page):
    test = page()
    test.button(key="own_sample").click().run()
    assert not test.exception
    expected = datasets.cut_table(datasets.open_table(datasets.sample_csv()), label="state", task="date")
    assert metrics(test)["Tasks"] == "40"
    assert metrics(test)["Features"] == str(expected.sequence.n_features)
    assert "one per week" in texts(test)
    assert "'vibration' (86 cells)" in texts(test).replace("\\", "")
    test.selectbox(key="own_period_0").set_value("quarter").run()
    assert metrics(test)["Tasks"] == "4"
    test.button(key="own_use").click().run()
    assert not test.exception
    assert test.selectbox(key="dataset").value == "your_file"
    own = test.session_state["visit"].own_sequence
    quarters = datasets.cut_table(
        datasets.open_table(datasets.sample_csv()), label="state", task="date", period="quarter"
    )
    assert own.fingerprint == quarters.sequence.fingerprint
    settings = test.session_state["visit"].choice.settings
    assert (settings.n, settings.repetitions) == (largest_n(own), 1)
    result = RunResult.from_steps(settings, own, list(iter_run(own, settings)))
    # Explore shows the numbers of the visitor's own tasks.
    assert metrics(test)["Error, forward and backward"] == with_error(result.headline()["forward_backward"])


def test_pages_take_gaps_and_words(app):
    test = app(dataset="identical", k="3", n="4", repetitions="1", features="identity").switch_page(PAGE).run()
    test.button(key="own_sample").click().run()
    test.selectbox(key="own_period_0").set_value("quarter").run()
    next(widget for widget in test.number_input if widget.key.startswith("own_n_")).set_value(4).run()
    test.button(key="own_use").click().run()
    for view in ("evolving", "ess", "compare"):
        test.switch_page(f"pages/views/{view}.py").run()
        assert not test.exception, view
        assert not test.error, view
        if view == "evolving":
            assert "pump = B" in test.selectbox(key="evolving_component").options


def test_upload_choose_blocks_exclude_and_use(page):
    test = page(table(40).encode())
    assert not test.exception
    assert test.selectbox(key="own_label").value == "y"
    test.radio(key="own_how").set_value("blocks").run()
    test.number_input(key="own_block").set_value(10).run()
    assert metrics(test)["Tasks"] == "4"
    test.multiselect(key="own_exclude").set_value(["z"]).run()
    assert metrics(test)["Features"] == "1"
    test.button(key="own_use").click().run()
    assert not test.exception
    assert test.session_state["visit"].own_sequence.feature_names == ("x",)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"x,y\n", "data.csv", "no rows"),
        (b"x,y\n1,a\n2,b,c\n", "data.csv", "row 2 has 3 cells"),
        (b"\x80\x04\x95.....", "data.npz", "pickle"),
        (b"PK\x03\x04broken", "data.zip", "damaged"),
        (b"x,y\n" + b"5,a\n5,b\n" * 8, "data.csv", "No column is left"),
    ],
)
def test_files_that_cannot_be_used_give_a_message(page, content, name, message):
    test = page(content, name)
    assert not test.exception
    assert message in " ".join(error.value for error in test.error).replace("\\", "")
    assert "Traceback" not in texts(test)


def test_what_a_file_holds_is_shown_as_plain_text(page):
    rows = "".join(f"{i},{HTML},{'a*b_c' if i % 2 else ':red[x]'}\n" for i in range(12))
    test = page(f"{HTML},![i](http://e.invalid/x.png),y\n{rows}".encode(), "<script>x</script>.csv")
    assert not test.exception
    for element in [*test.markdown, *test.caption, *test.warning]:
        assert "<script" not in element.value
        assert "](http" not in element.value
    frames = " ".join(str(frame.value.to_string()) for frame in test.dataframe)
    assert "<" not in frames


def test_plain_text_escapes_what_markdown_would_act_on():
    text = "**b** [l](http://e.x) <i> `c` $x$ :red[y] # h ~s~ www.e.x"
    shown = plain(text)
    for mark in "*[]()<>`$:#~":
        assert f"{mark}" not in shown.replace(f"\\{mark}", "")
    assert "http:" not in shown
    assert "www." not in shown


def test_two_visitors_do_not_share_a_file(page, app):
    first = page(table(40).encode())
    first.radio(key="own_how").set_value("blocks").run()
    first.button(key="own_use").click().run()
    assert first.session_state["visit"].own_sequence is not None
    second = app()
    assert second.session_state["visit"].own_sequence is None
    assert "your_file" not in second.selectbox(key="dataset").options
    # A link that asks for someone's file shows the default instead.
    third = app(dataset="your_file")
    assert not third.exception
    assert third.selectbox(key="dataset").value == datasets.DEFAULT


def test_two_visitors_with_one_file_hold_it_once_and_choose_for_themselves(page, monkeypatch):
    read = []
    opened = datasets.open_upload
    monkeypatch.setattr(datasets, "open_upload", lambda *args, **named: read.append(1) or opened(*args, **named))
    first, second = page(table(40).encode()), page(table(40).encode())
    assert len(read) == 1
    second.multiselect(key="own_exclude").set_value(["z"]).run()
    assert metrics(first.run())["Features"] == "2"
    assert metrics(second)["Features"] == "1"
    assert page(table(40).encode(), "other name.csv").session_state["visit"].own_file == "other name.csv"
    assert len(read) == 2


def test_a_new_file_replaces_the_choices_of_the_old_one(page):
    test = page(table(40).encode())
    test.radio(key="own_how").set_value("blocks").run()
    other = "a,b,kind\n" + "".join(f"{i % 5},{i % 3},{'uvw'[i % 3]}\n" for i in range(60))
    test.file_uploader(key="own_upload").set_value(("other.csv", other.encode(), "text/csv"))
    test.run()
    assert not test.exception
    assert test.selectbox(key="own_label").value == "kind"


def test_coming_back_shows_the_choices_and_they_can_be_changed(page):
    test = page(table(40).encode(), "shops.csv")
    test.radio(key="own_how").set_value("blocks").run()
    test.number_input(key="own_block").set_value(10).run()
    test.multiselect(key="own_exclude").set_value(["z"]).run()
    test.button(key="own_use").click().run()
    assert not test.exception
    assert "On *shops*" in texts(test)
    assert "Your file" not in texts(test)
    test.switch_page(PAGE).run()
    assert not test.exception
    assert test.radio(key="own_how").value == "blocks"
    assert test.number_input(key="own_block").value == 10
    assert test.multiselect(key="own_exclude").value == ["z"]
    assert metrics(test)["Tasks"] == "4"
    test.number_input(key="own_block").set_value(8).run()
    assert metrics(test)["Tasks"] == "5"
    test.button(key="own_use").click().run()
    assert len(test.session_state["visit"].own_sequence) == 5


def test_many_tasks_begin_with_the_first_and_that_is_said(page, monkeypatch):
    monkeypatch.setattr("pages.ui.state.OWN_FIRST_TASKS", 5)
    rows = "".join(f"{i // 6},{i % 5},{'ab'[i % 2]}\n" for i in range(42))
    test = page(f"batch,x,y\n{rows}".encode(), "line 4.csv")
    assert "begins with the first 5 of 7 tasks" in " ".join(warning.value for warning in test.warning)
    test.button(key="own_use").click().run()
    assert test.session_state["visit"].choice.k == 5
    assert any("The first 5 of 7 tasks of line 4" in note for note in test.session_state["visit"].notes)
    test.switch_page(PAGE).run()
    test.radio(key="own_all").set_value("all").run()
    assert not test.warning
    test.button(key="own_use").click().run()
    assert test.session_state["visit"].choice.k == 7


def test_measured_labels_are_cut_at_the_median_and_periods_say_how_many_tasks_they_give(page):
    rows = "".join(f"2020-{1 + i // 28:02d}-{1 + i % 28:02d},{i * 37 % 168 * 1.5},{i % 70}\n" for i in range(168))
    test = page(f"when,revenue,x\n{rows}".encode())
    assert test.selectbox(key="own_label").value is None
    test.selectbox(key="own_label").set_value("revenue").run()
    assert not test.error
    assert metrics(test)["Classes"] == "2"
    assert "month (6)" in test.selectbox(key="own_period_0").options
    test.button(key="own_use").click().run()
    assert not test.exception
    assert test.session_state["visit"].own_source[1]["threshold"] == "median"


def test_an_upload_is_dropped_once_it_is_read(page, monkeypatch):
    dropped = []
    monkeypatch.setattr("pages.ui.streamlit_private.drop_uploads", lambda: dropped.append(True))
    page(table(40).encode())
    assert dropped


# Dataset cards


@pytest.fixture
def nothing_here(tmp_path, monkeypatch):
    monkeypatch.setenv("IMRC_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("IMRC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_dataset_that_is_not_here_offers_its_download(app, nothing_here, monkeypatch):
    test = app(dataset="identical", k="3", n="4", repetitions="1")
    test.selectbox(key="dataset").set_value("power_supply").run()
    assert not test.exception
    assert test.button(key="download_power_supply").label == "Download (0.4 MB)"

    def refuse(name, progress=None):
        raise datasets.DownloadError("Power Supply could not be downloaded: x.org cannot be reached.", "By hand: …")

    monkeypatch.setattr(datasets, "download", refuse)
    test.button(key="download_power_supply").click().run()
    assert not test.exception
    assert "cannot be reached" in " ".join(error.value for error in test.error)


def test_after_a_download_the_dataset_can_be_run(app, nothing_here, monkeypatch):
    rows = "".join(f"{i % 7}.5,{i % 5},{i % 24}\n" for i in range(29928))
    arff = b"@relation p\n@attribute a numeric\n@attribute b numeric\n@attribute h {0,1}\n@data\n" + rows.encode()
    seen = []

    def put(name, progress=None):
        for done in (len(arff) // 2, len(arff)):
            progress("powersupply.arff", done, len(arff))
            seen.append(done)
        (nothing_here / "power_supply").mkdir(parents=True)
        (nothing_here / "power_supply" / "powersupply.arff").write_bytes(arff)

    monkeypatch.setattr(datasets, "download", put)
    monkeypatch.setattr("imrc.datasets._files.verify", lambda file, path: None)
    test = app(dataset="identical", k="3", n="4", repetitions="1")
    test.selectbox(key="dataset").set_value("power_supply").run()
    test.button(key="download_power_supply").click().run()
    assert len(seen) == 2
    assert not test.exception
    assert not [button for button in test.button if button.key == "download_power_supply"]
    test.number_input(key="k").set_value(3)
    test.button(key="run").click().run()
    assert not test.exception
    assert "On *Power Supply*" in texts(test)


def test_a_link_to_a_dataset_that_is_not_here_shows_the_default_and_says_so(app, nothing_here):
    test = app(dataset="spam")
    assert not test.exception
    assert "Spam is not on this computer; Rotated digits is shown until it is." in texts(test)


def test_a_dataset_of_the_paper_runs_from_a_link(app, real_data):
    test = app(dataset="usenet1", n="5", repetitions="1")
    assert not test.exception
    assert "On *Usenet1*" in texts(test)
