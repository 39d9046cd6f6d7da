"""A marketplace's page on a site of its own: the HIT in a sandboxed frame, and what it posts to externalSubmit."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import BrowserContext, Frame, Page

from surveys.models import Questionnaire
from tests.builders import frame_query

SANDBOX = "allow-scripts allow-forms allow-same-origin"


class FrameServer(ThreadingHTTPServer):
    """Shows `address` in a frame under any path, with `script` around it.

    Loopback frames loopback: Chromium asks nobody for permission.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), FrameHandler)
        self.origin = f"http://localhost:{self.server_port}"
        self.address = ""
        self.sandbox = SANDBOX
        self.script = ""
        self.submitted: list[dict[str, list[str]]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class FrameHandler(BaseHTTPRequestHandler):
    server: FrameServer

    def do_GET(self) -> None:
        address = self.server.address.replace("&", "&amp;")
        claimed = parse_qs(urlsplit(self.server.address).query).get("assignmentId", [""])[0]
        self._send(
            f'<iframe id="task" data-assignment-id="{claimed}" width="1200" height="700" '
            f'sandbox="{self.server.sandbox}" src="{address}"></iframe><script>{self.server.script}</script>'
        )

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.submitted.append(parse_qs(body))
        self._send("<h1>Thank you</h1>")

    def _send(self, html: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(html.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


class Market:
    """A worker's browser at the marketplace, with one questionnaire's HIT to open."""

    def __init__(
        self, context: BrowserContext, server: FrameServer, *, app_url: str, questionnaire: Questionnaire
    ) -> None:
        self.context, self.server, self.app_url, self.questionnaire = context, server, app_url, questionnaire
        context.set_default_timeout(8000)

    def url(self, **query: str) -> str:
        claims = frame_query(self.questionnaire) | {"turkSubmitTo": self.server.origin} | query
        return f"{self.app_url}/hits/{self.questionnaire.pk}/?{urlencode(claims)}"

    def open(self, **query: str) -> tuple[Page, Frame]:
        self.server.address = self.url(**query)
        page = self.context.new_page()
        return page, self.show(page)

    def show(self, page: Page) -> Frame:
        """Load, or load again, the marketplace's page; return the frame in it."""
        page.goto(f"{self.server.origin}/task")
        frame = page.wait_for_selector("iframe").content_frame()
        frame.wait_for_load_state()
        return frame
