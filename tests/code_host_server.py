"""A real HTTP server that keeps statuses and comments by the addresses of GitHub and of GitLab."""

import json
import re
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

SECRET = "let-me-in"
REPOSITORY = "quartz/server"


class CodeHostServer:
    """``statuses`` and ``comments`` are what was written; ``down`` answers 503 to everything.

    ``comments`` begins with that of a person, so that the one of ours must be found. ``oddity`` is a key of
    ODDITIES: the server then answers so to everything. To a path that ends in ``refused`` it answers 500.
    """

    def __init__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            do_POST = do_PATCH = do_PUT = do_GET  # noqa: N815 - the names are given

            def log_message(self, *_args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.statuses, self.comments, self.asked, self.down = [], {7: "A person said this."}, [], False
        self.oddity, self.refused, self._stopping = "", None, threading.Event()

    def start(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        if self.oddity:
            self.asked.append((request.command, request.path))
            # Whoever asked may have hung up.
            with suppress(OSError):
                ODDITIES[self.oddity](self, request)
            return
        self._send(request, *self._answer(request, json.loads(body) if body else {}))

    def _send(self, request, status, said, **headers):
        content = said if isinstance(said, bytes) else json.dumps(said).encode()
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def _answer(self, request, sent):
        address = urlsplit(request.path)
        path, method = unquote(address.path), request.command
        self.asked.append((method, path))
        if self.down:
            return 503, {"message": "down"}
        if self.refused and path.endswith(self.refused):
            return 500, {"message": "sorry"}
        if SECRET not in {request.headers.get("PRIVATE-TOKEN"), self._bearer(request)}:
            return 401, {"message": "Bad credentials"}
        if not path.startswith((f"/repos/{REPOSITORY}", f"/projects/{REPOSITORY}")):
            return 404, {"message": "Not Found"}
        if found := re.search(r"/statuses/(\w+)$", path):
            self.statuses.append({"commit": found[1], **sent})
            return 201, {"id": 1}
        if found := re.search(r"/(?:comments|notes)/(\d+)$", path):
            if int(found[1]) not in self.comments:
                return 404, {"message": "Not Found"}
            self.comments[int(found[1])] = sent["body"]
            return 200, {"id": int(found[1])}
        if method == "POST":
            self.comments[new := max(self.comments) + 1] = sent["body"]
            return 201, {"id": new}
        if re.search(r"/(?:comments|notes)$", path):
            size, page = (int(parse_qs(address.query)[name][0]) for name in ("per_page", "page"))
            rows = [{"id": key, "body": text} for key, text in self.comments.items()]
            return 200, rows[(page - 1) * size : page * size]
        return 200, {"id": 1}

    @staticmethod
    def _bearer(request):
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    # --- oddities -------------------------------------------------------------------------------------------

    def _hang(self, request):
        self._stopping.wait()

    def _drip(self, request):
        """A byte at a time, for ever."""
        request.send_response(200)
        request.end_headers()
        while not self._stopping.wait(0.05):
            request.wfile.write(b" ")
            request.wfile.flush()

    def _flood(self, request):
        """As much as is taken, for ever."""
        request.send_response(200)
        request.end_headers()
        while not self._stopping.is_set():
            request.wfile.write(b"[" * 1024 * 1024)

    def _echo(self, request):
        self._send(request, 400, dict(request.headers))

    def _full_page(self, request):
        """A list of comments without an end; everything else succeeds."""
        rows = [{"id": number, "body": "no"} for number in range(1, 31)]
        self._send(request, 200, rows if request.command == "GET" else {"id": 1})


def _says(status, said, **headers):
    return lambda server, request: server._send(request, status, said, **headers)


ODDITIES = {
    "slow": CodeHostServer._hang,
    "dripping": CodeHostServer._drip,
    "endless": CodeHostServer._flood,
    "huge": _says(200, b'"' + b"x" * 5 * 1024 * 1024 + b'"'),
    "endless list": CodeHostServer._full_page,
    "no list": _says(200, {"message": "hello"}),
    "no id": _says(200, [{"body": "no id"}]),
    "an id that is none": _says(200, [{"id": 10**30, "body": ""}]),
    "rows that are none": _says(200, [1, None, "x"]),
    "deep JSON": _says(200, b"[" * 200_000),
    "no JSON": _says(200, b"<html>Sign in</html>"),
    "nothing": _says(200, b""),
    "redirect": _says(302, b"", Location="/elsewhere"),
    "a status that is none": _says(799, {"message": "?"}),
    "no HTTP": lambda server, request: request.wfile.write(b"\0\r\n" * 100),
    "echo": CodeHostServer._echo,
    "its own error": _says(500, {"message": "sorry"}),
}
