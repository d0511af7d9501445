"""A visitor without a browser: speaks to a real server as the page in a browser does."""

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import parse_qsl, urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from tests.app.conftest import decided


class Visitor:
    """One open page, its elements and its link; those of one `browser` share its cookies."""

    def __init__(self, url: str, page: str = "", *, browser: str = "", **query: Any) -> None:
        self._url = url
        self._page = page
        self._hash = ""
        self._stack = ExitStack()
        address = url.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = self._stack.enter_context(
            connect(
                address,
                subprotocols=["streamlit"],
                max_size=None,
                open_timeout=60,
                additional_headers={"Cookie": f"_streamlit_xsrf={browser}"} if browser else None,
            )
        )
        self.link = {name: str(value) for name, value in query.items()}
        self.elements: list[Any] = []
        self.session = ""
        self._sent: tuple[str, str, int] | None = None

    def upload(self, number: int, content: bytes, name: str = "table.csv") -> int:
        """Send a file as the page's upload does, which is told of it with the next `send`; return the status."""
        self._sent = f"file-{number}", name, len(content)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar := CookieJar()))
        opener.open(f"{self._url}/_stcore/health").close()
        token = next(cookie.value or "" for cookie in jar if cookie.name == "_streamlit_xsrf").strip('"')
        bound = "x" * 40
        head = f'--{bound}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        parts = head.encode(), content, f"\r\n--{bound}--\r\n".encode()
        of = {"Content-Type": f"multipart/form-data; boundary={bound}", "X-Xsrftoken": token}
        of["Content-Length"] = str(sum(map(len, parts)))
        where = f"{self._url}/_stcore/upload_file/{self.session}/file-{number}"
        request = urllib.request.Request(where, parts, of, method="PUT")
        try:
            with opener.open(request, timeout=60) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def close(self) -> None:
        """Leave, as one does by closing the tab."""
        self._stack.close()

    def send(self, press: str | None = None, **numbers: float) -> None:
        """Ask for the page: the state of its numbers, and at most one button pressed (by its label)."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string = urlencode(self.link)
        state.page_name = "" if self._hash else self._page
        state.page_script_hash = self._hash
        state.context_info.timezone, state.context_info.locale = "UTC", "en"
        state.context_info.url, state.context_info.color_scheme = self._url, "light"
        for element in self.elements:
            kind = element.WhichOneof("type")
            if kind == "number_input":
                widget = state.widget_states.widgets.add()
                widget.id = element.number_input.id
                number = element.number_input
                widget.double_value = numbers.get(number.label, number.value if number.set_value else number.default)
            elif kind == "button" and press is not None and element.button.label == press:
                widget = state.widget_states.widgets.add()
                widget.id, widget.trigger_value = element.button.id, True
            elif kind == "file_uploader" and self._sent is not None:
                widget = state.widget_states.widgets.add()
                widget.id = element.file_uploader.id
                sent = widget.file_uploader_state_value.uploaded_file_info.add()
                sent.file_id, sent.name, sent.size = self._sent
                sent.file_urls.file_id = sent.file_id
        self._socket.send(message.SerializeToString())

    def receive(self, seconds: float = 60.0, until: Callable[["Visitor"], bool] | None = None) -> float:
        """Take in what the server sends until the page is finished, or `until` holds; return the seconds it took."""
        started = time.monotonic()
        paths: dict[tuple[int, ...], Any] = {}
        while (left := started + seconds - time.monotonic()) > 0:
            message = ForwardMsg.FromString(self._socket.recv(timeout=left))
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.session = message.new_session.initialize.session_id
                paths.clear()
            elif kind == "navigation":
                self._hash = message.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.link = dict(parse_qsl(message.page_info_changed.query_string))
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                paths[tuple(message.metadata.delta_path)] = message.delta.new_element
            elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                continue
            self.elements = [paths[path] for path in sorted(paths)]
            if kind == "script_finished" or (until is not None and until(self)):
                return time.monotonic() - started
        raise TimeoutError(f"The page was not finished after {seconds:.0f} s.")

    def see(self, press: str | None = None, seconds: float = 60.0, **numbers: float) -> float:
        """Ask for the page and wait for all of it; return the seconds it took."""
        self.send(press, **numbers)
        return self.receive(seconds)

    @property
    def metrics(self) -> dict[str, str]:
        """Numbers on cards by their titles."""
        found = [element.metric for element in self.elements if element.WhichOneof("type") == "metric"]
        kinds = {"plotly_chart": "alt", "markdown": "help"}
        parts = [(element, element.WhichOneof("type")) for element in self.elements]
        told = [getattr(getattr(element, kind), kinds[kind]) for element, kind in parts if kind in kinds]
        return {metric.label: metric.body for metric in found} | decided(told)

    @property
    def buttons(self) -> list[str]:
        """Labels of the buttons."""
        return [element.button.label for element in self.elements if element.WhichOneof("type") == "button"]

    @property
    def alerts(self) -> str:
        """All messages in boxes."""
        return " ".join(element.alert.body for element in self.elements if element.WhichOneof("type") == "alert")

    @property
    def failures(self) -> list[str]:
        """What Streamlit itself shows of failures."""
        return [
            element.exception.type + element.exception.message
            for element in self.elements
            if element.WhichOneof("type") == "exception"
        ]


@contextmanager
def visiting(url: str, page: str = "", **query: Any) -> Iterator[Visitor]:
    """Open a page and leave at the end."""
    visitor = Visitor(url, page, **query)
    try:
        yield visitor
    finally:
        visitor.close()
