"""The command README begins with, on a machine where Streamlit was never used."""

from tests.app.conftest import server_process


def test_the_first_start_asks_nothing_at_the_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))  # no credentials file: Streamlit would ask for an e-mail address
    monkeypatch.setenv("BROWSER", "true")  # the command of that name opens nothing
    with server_process("-m", "imrc.cli", "app") as (url, process):
        assert process.poll() is None, url
