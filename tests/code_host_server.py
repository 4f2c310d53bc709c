"""A real HTTP server that keeps statuses and comments by the addresses of GitHub and of GitLab."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

SECRET = "let-me-in"
REPOSITORY = "quartz/server"


class CodeHostServer:
    """``statuses`` and ``comments`` are what was written; ``down`` answers 503 to everything.

    ``comments`` begins with that of a person, so that the one of ours must be found.
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

    def start(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        status, said = self._answer(request, json.loads(body) if body else {})
        content = json.dumps(said).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def _answer(self, request, sent):
        address = urlsplit(request.path)
        path, method = unquote(address.path), request.command
        self.asked.append((method, path))
        if self.down:
            return 503, {"message": "down"}
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
