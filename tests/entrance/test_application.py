"""Real processes under clients that are slow, large, or many. Deadlines are short here."""

import http.client
import re
import socket
import time
import uuid
from contextlib import ExitStack, closing, contextmanager
from threading import Thread

import pytest
import uvicorn

from benchdash.accounts.models import Scope
from benchdash.entrance.application import Entrance
from benchdash.entrance.bodies import MAX_STRANGER_BYTES
from benchdash.entrance.middleware import REFUSAL
from benchdash.entrance.worker import Worker
from ingest.models import Upload
from tests.builders import make_project, make_token
from tests.waiting import wait_until
from tests.web_server import SLOW_SENDERS, WebServer, head_of_post, slow_clients

pytestmark = pytest.mark.django_db(transaction=True)

SECONDS = 3
MB = 2**20
LARGE = b"1" * (20 * MB)
UPLOADS = "/api/v1/uploads/"


@pytest.fixture(scope="module")
def server(django_db_setup, tmp_path_factory):
    server = WebServer(
        tmp_path_factory.mktemp("web"),
        REQUEST_HEAD_SECONDS=str(SECONDS),
        REQUEST_BODY_SECONDS=str(SECONDS),
        ANSWER_SECONDS=str(SECONDS),
        MIN_BYTES_PER_SECOND=str(100 * MB),
        MAX_CONNECTIONS_PER_ADDRESS="210",
    )
    yield server
    server.stop()


@pytest.fixture
def token():
    return make_token(make_project("mine"))


def upload(server, token, file):
    boundary = uuid.uuid4().hex
    start = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="r.txt"\r\n\r\n'
    body = start.encode() + file + f"\r\n--{boundary}--\r\n".encode()
    kind = f"multipart/form-data; boundary={boundary}"
    return server.ask("POST", UPLOADS, body, **bearer(token), **{"Content-Type": kind})


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def answer_until_closed(client):
    """Status and text of an answer whose end is that of the connection."""
    received = b""
    while data := client.recv(65536):
        received += data
    lines, _, text = received.partition(b"\r\n\r\n")
    assert b"connection: close" in lines.lower()
    return int(lines.split(b" ", 2)[1]), text.decode()


# --- slow ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", SLOW_SENDERS)
def test_200_slow_senders_keep_nobody_waiting_until_they_are_cut_off(server, what):
    with slow_clients(server.port, 200, SLOW_SENDERS[what]) as slow:
        wait_until(lambda: server.connections() == 200)
        keep_nobody_waiting(server, slow)
    told = {answer.split(b"\r\n", 1)[0] for answer in slow.answers.values() if answer}
    assert told == (set() if what == "the head of a request" else {b"HTTP/1.1 408 Request Timeout"})


def test_200_slow_readers_keep_nobody_waiting_until_they_are_cut_off(server, token):
    upload(server, token, LARGE)
    raw = f"{UPLOADS}{Upload.objects.get().pk}/raw/".encode()
    request = b"GET " + raw + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token.encode()
    with slow_clients(server.port, 200, request + b"\r\n\r\n", reads=True) as slow:
        memory = server.memory_mb()
        wait_until(lambda: server.connections() == 200)
        # It is work to begin 200 answers at once.
        wait_until(lambda: server.seconds_of_healthz() < 0.3)
        keep_nobody_waiting(server, slow)
        assert server.memory_mb() - memory < 200


def keep_nobody_waiting(server, slow):
    """Ask meanwhile, until the last of them is cut off; who waits for one waits for all its seconds."""
    began = time.monotonic()
    while server.connections():
        assert server.seconds_of_healthz() < SECONDS - 0.5
        slow.go_on()
        assert time.monotonic() - began < 30 * SECONDS
        time.sleep(0.1)


def test_a_kept_connection_may_be_used_again_and_is_closed_when_nobody_does(server):
    with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as client:
        for _ in range(3):
            client.request("GET", "/healthz")
            assert client.getresponse().read() == b'{"status": "ok"}'
        began = time.monotonic()
        assert client.sock.recv(65536) == b""
        assert time.monotonic() - began < 20 * SECONDS


def test_requests_that_come_in_one_packet_are_answered_in_turn(server):
    with closing(server.connect()) as client:
        client.sendall(
            b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            b"GET /nothing/ HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n"
        )
        received = b""
        while data := client.recv(65536):
            received += data
    assert re.findall(rb"HTTP/1.1 (\d+) ", received) == [b"200", b"400"]


# --- large --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/sign-in/", "/p/mine/uploads/new/", "/admin/", "/nothing/", UPLOADS])
def test_600_mb_of_a_stranger_are_refused_at_once_and_nothing_is_written(server, path):
    make_project("mine", public=True)
    with closing(server.connect()) as client:
        began = time.monotonic()
        client.sendall(head_of_post(path, Content_Length=600 * MB, Cookie=f"csrftoken={'a' * 32}"))
        client.sendall(b"x" * MB)
        status, _ = answer_until_closed(client)
        assert time.monotonic() - began < 20
    assert status == {UPLOADS: 401, "/p/mine/uploads/new/": 401}.get(path, 413)
    assert server.files_held() == []


def test_a_body_of_unknown_length_is_cut_off_at_the_limit(server):
    with closing(server.connect()) as client:
        client.sendall(head_of_post("/sign-in/", Transfer_Encoding="chunked"))
        sent = 0
        while sent < 100 * MB:
            try:
                client.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
            except OSError:
                break
            sent += 4096
            assert server.files_held() == []
        assert MAX_STRANGER_BYTES < sent < 50 * MB


def test_who_may_not_upload_is_told_so_before_the_file_is_read(server, token):
    reading = make_token(make_project(), Scope.READ)
    for headers, expected in [
        ({}, 401),
        (bearer("bd_wrong"), 401),
        (bearer(reading), 403),
    ]:
        with closing(server.connect()) as client:
            client.sendall(head_of_post(UPLOADS, Content_Length=len(LARGE), **headers))
            status, text = answer_until_closed(client)
        assert status == expected
        assert '"type":"about:blank"' in text
    assert server.files_held() == []


def test_who_may_upload_sends_20_mb_and_gets_them_back(server, token):
    answer, _ = upload(server, token, LARGE)
    assert answer.status == 202
    memory = server.memory_mb()
    for _ in range(3):
        assert upload(server, token, LARGE)[0].status == 202
        answer, content = server.ask("GET", f"{UPLOADS}{Upload.objects.get().pk}/raw/", **bearer(token))
        assert (answer.status, content) == (200, LARGE)
    assert server.memory_mb() - memory < 10
    assert server.files_held() == []


def test_a_file_may_come_in_chunks_without_its_length(server, token):
    boundary = b'--b\r\nContent-Disposition: form-data; name="file"; filename="r.txt"\r\n\r\n'
    parts = [boundary, LARGE[: 2 * MB], b"\r\n--b--\r\n"]
    headers = {**bearer(token), "Content-Type": "multipart/form-data; boundary=b"}
    answer, _ = server.ask("POST", UPLOADS, iter(parts), **headers)
    assert answer.status == 422  # it is no result, and was read
    assert Upload.objects.get().raw.size == 2 * MB


def test_a_refused_client_that_sends_on_still_reads_why(server):
    answer, _ = server.ask("POST", UPLOADS, b"x" * (2 * MB), **{"Content-Type": "text/plain"})
    assert (answer.status, answer.headers["Content-Type"]) == (401, "application/problem+json")


@pytest.mark.parametrize("length", ["9" * 5000, "+60", "1e9", "-1"])
def test_a_length_that_is_none_is_a_bad_request(server, length):
    with closing(server.connect()) as client:
        client.sendall(head_of_post("/sign-in/", Content_Length=length) + b"x" * 100)
        assert client.recv(65536).startswith(b"HTTP/1.1 400 ")


# --- many ---------------------------------------------------------------------------------------------------


def test_an_address_has_so_many_connections_and_no_more(server):
    with slow_clients(server.port, 210, b"GET / HTTP/1.1\r\n"), closing(server.connect()) as one_more:
        assert one_more.recv(65536).startswith(b"HTTP/1.1 429 ")
    wait_until(server.seconds_of_healthz_or_none)


def test_who_takes_no_answers_gets_no_more_of_them(settings):
    settings.MAX_UNSENT_BYTES_PER_ADDRESS = 10 * MB

    def application(environ, start_response):
        start_response("429 Too Many Requests" if REFUSAL in environ else "200 OK", [])
        return [b"" if REFUSAL in environ else LARGE]

    request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with serving(application) as port:
        told = []
        with ExitStack() as open_:
            for _ in range(2):
                client = socket.create_connection(("127.0.0.1", port), timeout=10)
                open_.enter_context(closing(client)).sendall(request)
                told.append(client.recv(20))
    assert told == [b"HTTP/1.1 200 OK\r\ndat", b"HTTP/1.1 429 Too Man"]


@contextmanager
def serving(application):
    """Another application behind the same entrance, in a thread of this process."""
    config = uvicorn.Config(Entrance(application), port=0, log_config=None, **Worker.CONFIG_KWARGS)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def test_behind_a_proxy_the_requests_of_the_address_that_it_appended_are_counted(django_db_setup, tmp_path):
    server = WebServer(tmp_path, BEHIND_PROXY="1", MAX_CONNECTIONS_PER_ADDRESS="3")
    request = head_of_post("/sign-in/", Content_Length=1000, X_Forwarded_For="10.0.0.1, 10.0.0.2")
    with slow_clients(server.port, 3, request):
        for appended, expected in [("10.0.0.2", 429), ("10.0.0.1", 200)]:
            forwarded = f"10.0.0.3, {appended}"
            answer, _ = server.ask("GET", "/healthz", **{"X-Forwarded-For": forwarded})
            assert answer.status == expected
    assert server.stop() < 6


# --- as before ----------------------------------------------------------------------------------------------


def test_heads_alone_are_answered_without_a_body(server, token):
    upload(server, token, LARGE)
    raw = f"{UPLOADS}{Upload.objects.get().pk}/raw/"
    answer, content = server.ask("HEAD", raw, **bearer(token))
    assert (answer.status, answer.headers["Content-Length"], content) == (200, str(len(LARGE)), b"")
    answer, content = server.ask("HEAD", "/healthz")
    assert (answer.status, content) == (200, b"")


def test_a_process_that_dies_is_replaced(server):
    _, worker = server.processes()
    worker.kill()
    wait_until(lambda: [one.pid != worker.pid for one in server.processes()[1:]] == [True])
    wait_until(server.seconds_of_healthz_or_none)
