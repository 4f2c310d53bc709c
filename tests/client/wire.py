"""What lies between the client and a server: a wire that breaks, and a proxy that answers by itself."""

import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Wire:
    """A port that leads to a server until ``breaks_after`` bytes went there, or before the answer comes back.

    When it breaks, ``then`` is called and the connection is cut, or with ``hangs`` stays open and silent.
    """

    def __init__(self, port):
        self._to, self._socket = port, socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.breaks_after, self.loses_answer, self.hangs, self.then = None, False, False, lambda: None
        self.broke = threading.Event()
        self._held = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def mend(self, port=None):
        self.breaks_after, self.loses_answer, self.hangs = None, False, False
        self._to = port or self._to

    def close(self):
        for one in (self._socket, *self._held):
            one.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                threading.Thread(target=self._lead, args=(client,), daemon=True).start()

    def _lead(self, client):
        self._held.append(client)
        with suppress(OSError):
            server = socket.create_connection(("127.0.0.1", self._to))
            self._held.append(server)
            back = threading.Thread(target=self._back, args=(server, client), daemon=True)
            back.start()
            passed = 0
            while chunk := client.recv(65536):
                left = len(chunk) if self.breaks_after is None else self.breaks_after - passed
                server.sendall(chunk[:left])
                passed += len(chunk)
                if left < len(chunk):
                    self._break(client, server)
                    return
            server.shutdown(socket.SHUT_WR)
            back.join()
        client.close()

    def _back(self, server, client):
        with suppress(OSError):
            while chunk := server.recv(65536):
                if self.loses_answer:
                    self._break(client, server)
                    return
                client.sendall(chunk)
            client.shutdown(socket.SHUT_WR)

    def _break(self, client, server):
        self.then()
        server.close()
        if not self.hangs:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            client.close()
        self.broke.set()


@contextmanager
def proxy(answers, *, reads_all=True):
    """A server that gives these answers: status, headers and body. ``heard`` are the headers it got.

    Without ``reads_all`` it answers as soon as it has the head of a request, and hangs up.
    """
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]) if reads_all else 0)
            self.server.heard.append(self.headers)
            status, headers, body = left.pop(0)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.heard, server.url = [], f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
