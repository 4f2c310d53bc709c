"""A real HTTP server that keeps what webhooks are sent."""

import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Delivery:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class WebhookServer:
    """``status`` and ``answer`` are what it answers, after ``delay`` seconds; ``headers`` go with them.

    With ``drip`` it sends a byte of the answer's head at a time, for ever.
    """

    def __init__(self, *, tls=None):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.receive(self)

            do_GET = do_POST  # noqa: N815 - the same

            def log_message(self, *_args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._stopping = threading.Event()
        self.forget_everything()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/hook"

    def forget_everything(self):
        self.deliveries = []
        self.status, self.answer, self.headers = 204, b"", {}
        self.delay, self.drip = 0.0, False

    def start(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def receive(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        self.deliveries.append(Delivery(request.path, dict(request.headers), body))
        self._stopping.wait(self.delay)
        # Whoever asked may have had enough of waiting.
        with suppress(OSError):
            self._answer(request)

    def _answer(self, request):
        while self.drip and not self._stopping.is_set():
            request.wfile.write(b"H")
            request.wfile.flush()
            time.sleep(0.05)
        request.send_response(self.status)
        for name, value in self.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(self.answer)))
        request.end_headers()
        request.wfile.write(self.answer)
