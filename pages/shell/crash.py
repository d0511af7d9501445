"""When something fails that should not: a message with a way on, for the one visitor it happened to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime

import streamlit as st

_MARK = "shown_to_the_visitor"


def _start_over() -> None:
    """Forget everything of this visit; the next run starts from the defaults."""
    st.session_state.clear()
    st.query_params.clear()


def _message(error: Exception) -> None:
    # Only kind and moment: the text of an error can name files of this machine. The server's log has it in full.
    st.error(
        "**Something went wrong here, and it is not your fault.** Nobody else is affected, and your settings are kept. "
        "Try once more, or start over with the default settings (an uploaded file has to be chosen again). "
        "If it happens again, please report it with the address of this page and this line: "
        f"`{type(error).__name__}, {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC`.",
        icon=":material/sentiment_dissatisfied:",
    )
    left, right = st.columns(2)
    left.button("Try again", icon=":material/refresh:", key="crash_again", width="stretch")
    right.button(
        "Start over", icon=":material/restart_alt:", key="crash_start_over", on_click=_start_over, width="stretch"
    )


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Show a message for whatever fails inside, then let it go on to the server's log."""
    try:
        yield
    except Exception as error:
        _message(error)
        setattr(error, _MARK, True)
        raise


def was_shown(error: Exception) -> bool:
    """Tell the server that it need not show a failure again."""
    return getattr(error, _MARK, False)
