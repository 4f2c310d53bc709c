"""What a request may take from others: time, memory, threads. Real processes, and locks that they meet."""

import http.client
import json
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from django.contrib.staticfiles.finders import get_finders
from django.db import connection, transaction
from django.urls import get_resolver

from benchdash.accounts.models import AuditEntry, Scope
from benchdash.database.bounds import RequestBounds
from benchdash.entrance.heavy import HEAVY
from benchdash.results.models import Product, Run
from ingest.models import Upload
from tests.builders import make_project, make_run, make_series, make_token
from tests.sysbench_text import sysbench_report
from tests.waiting import wait_until
from tests.web_server import WebServer

pytestmark = pytest.mark.django_db(transaction=True)

RUNS = "/api/v1/runs/?project=open"
PAIR = "/p/open/compare/pair/"
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def project():
    project = make_project("open", public=True)
    make_series([100.0, 101.0], project=project)
    return project


@contextmanager
def running(folder, **environment):
    server = WebServer(folder, STATIC_ROOT=str(names_of_static_files(folder / "static")), **environment)
    try:
        yield server
    finally:
        server.stop()


def names_of_static_files(folder):
    """A folder with the list that pages need, and without the files."""
    folder.mkdir()
    found = [
        (getattr(storage, "prefix", ""), path)
        for finder in get_finders()
        for path, storage in finder.list([])
    ]
    paths = {name: name for name in ("/".join(filter(None, parts)) for parts in found)}
    (folder / "staticfiles.json").write_text(json.dumps({"version": "1.1", "paths": paths}))
    return folder


@contextmanager
def locked(table):
    """Statements on the table wait until the end of the block; yields how many do."""

    def number_waiting():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
                " WHERE NOT granted AND datname = current_database() AND relation = %s::regclass",
                [table],
            )
            return cursor.fetchone()[0]

    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table}")
        yield number_waiting


@pytest.fixture
def pool():
    with ThreadPoolExecutor(20) as pool:
        yield pool


def is_waiting(asked):
    return not wait(asked, timeout=1).done


# --- time ---------------------------------------------------------------------------------------------------


def test_a_statement_that_waits_too_long_is_a_503_for_programs_and_people(tmp_path, project):
    with running(tmp_path, STATEMENT_SECONDS="1") as server:
        with locked("results_run"):
            told, body = server.ask("GET", RUNS)
            page, text = server.ask("GET", PAIR)
        assert (told.status, told.headers["Content-Type"]) == (503, "application/problem+json")
        assert "took the database too long" in json.loads(body)["detail"]
        assert (page.status, page.headers["Content-Type"]) == (503, "text/html; charset=utf-8")
        assert b"took the database too long" in text
        assert told.headers["Retry-After"] == page.headers["Retry-After"] == "5"
        assert server.ask("GET", RUNS)[0].status == server.ask("GET", PAIR)[0].status == 200


def test_a_request_past_its_deadline_changes_nothing_and_its_process_is_replaced(tmp_path, project, pool):
    product = Product.objects.get(project=project)
    token = make_token(project, Scope.ADMIN)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with running(tmp_path, REQUEST_SECONDS="3") as server:
        _, before = server.processes()
        with locked(AuditEntry._meta.db_table) as number_waiting:
            path = f"/api/v1/products/{product.pk}/"
            rename = pool.submit(server.ask, "PATCH", path, json.dumps({"name": "Other"}), **headers)
            wait_until(number_waiting)
            threading.Event().wait(3.5)  # the name is written already, what is noted of it waits
        answer, body = rename.result()
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
        assert "took longer than a request may take" in json.loads(body)["detail"]
        product.refresh_from_db()
        assert (product.name, AuditEntry.objects.filter(action="renamed").count()) == ("MariaDB", 0)
        wait_until(lambda: [one.pid != before.pid for one in server.processes()[1:]] == [True])
        answer, _ = server.ask("PATCH", path, json.dumps({"name": "Other"}), **headers)
        assert answer.status == 200


def test_an_upload_that_is_cut_leaves_nothing_and_may_be_sent_again(tmp_path, project, pool):
    token = make_token(project)
    before = (Upload.objects.count(), Run.objects.count())
    part = '--b\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n{}\r\n'
    facts = {"product": "MariaDB", "version": "11.4", "hardware": "box", "workload": "oltp"}
    form = "".join(part.format(name, "", text) for name, text in facts.items())
    form += part.format("file", '; filename="r.txt"', sysbench_report(100.0)) + "--b--\r\n"
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "multipart/form-data; boundary=b"}
    with running(tmp_path, REQUEST_SECONDS="3") as server:
        with locked("results_measurement") as number_waiting:
            upload = pool.submit(server.ask, "POST", "/api/v1/uploads/", form, **headers)
            wait_until(number_waiting)
            threading.Event().wait(3.5)
        assert upload.result()[0].status == 503
        assert (Upload.objects.count(), Run.objects.count()) == before
        again = [server.ask("POST", "/api/v1/uploads/", form, **headers)[0].status for _ in range(2)]
        assert again[-1] == 200
        assert (Upload.objects.count(), Run.objects.count()) == (before[0] + 1, before[1] + 1)


def test_health_is_answered_while_all_threads_wait(tmp_path, project, pool):
    with running(tmp_path, WEB_THREADS="2") as server:
        with locked("results_run") as number_waiting:
            asked = [pool.submit(server.ask, "GET", RUNS) for _ in range(6)]
            wait_until(lambda: number_waiting() == 2)
            for _ in range(3):
                assert server.ask("GET", "/healthz")[0].status == 200
            assert is_waiting(asked)
        assert [one.result()[0].status for one in asked] == [200] * 6


def setting_of(**options):
    connection.close()
    usual = connection.settings_dict["OPTIONS"]
    connection.settings_dict["OPTIONS"] = {**usual, **options}
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return cursor.fetchone()[0]
    finally:
        connection.settings_dict["OPTIONS"] = usual
        connection.close()


def test_connections_of_requests_alone_have_a_timeout_unless_the_url_has_one():
    assert setting_of() == "0"
    with RequestBounds.of_request(0).hold():
        assert setting_of() == "15s"
        assert setting_of(options="-c statement_timeout=7s") == "7s"
        assert setting_of(server_side_binding=False, prepare_threshold=None) == "15s"


def test_a_pooler_that_shares_connections_is_told_no_timeout(tmp_path):
    connection.ensure_connection()
    server = connection.connection.info
    socket_ = Path(server.host) / f".s.PGSQL.{server.port}"
    with renumbering_pooler(tmp_path, socket_) as folder, RequestBounds.of_request(0).hold():
        assert setting_of(host=str(folder)) == "0"


@contextmanager
def renumbering_pooler(folder, server):
    """Passes a connection on as PgBouncer does, by a number of its own in place of that of the process."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / server.name))
        listener.listen()
        thread = threading.Thread(target=pass_one_on, args=(listener, server), daemon=True)
        thread.start()
        yield folder
        thread.join(timeout=10)


def pass_one_on(listener, server):
    client, _ = listener.accept()
    with suppress(OSError), closing(client), socket.socket(socket.AF_UNIX) as other:
        other.connect(str(server))
        while sent := client.recv(65536):
            other.sendall(sent)
            received = other.recv(65536)
            key = received.find(b"K\0\0\0\x0c")
            client.sendall(
                received[: key + 5] + os.urandom(4) + received[key + 9 :] if key >= 0 else received
            )


# --- room ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [{"MAX_REQUEST_ROWS": "20"}, {"MAX_REQUEST_BYTES": "20000"}])
def test_who_asks_for_more_than_a_request_may_hold_is_asked_to_ask_for_less(tmp_path, project, limit):
    for number in range(40):
        make_run(project=project, workload=f"workload {number} {'x' * 200}", options={"text": "y" * 1000})
    with running(tmp_path, **limit) as server:
        answer, body = server.ask("GET", f"{RUNS}&limit=100")
        assert answer.status == 413
        assert "ask for less, by a filter" in json.loads(body)["detail"]
        assert server.ask("GET", f"{RUNS}&limit=1")[0].status == 200


def test_a_process_that_grew_is_replaced_and_no_request_is_lost(tmp_path, project, pool):
    with running(tmp_path, MAX_PROCESS_BYTES="1") as server:
        first = server.processes()[1].pid
        asked = [pool.submit(statuses_of_kept_connection, server, 20) for _ in range(4)]
        asked += [pool.submit(statuses_of_new_connections, server, 20) for _ in range(4)]
        assert {status for one in asked for status in one.result()} == {200}
        assert first not in [process.pid for process in server.processes()]
        wait_until(lambda: len(server.processes()) == 2)


def statuses_of_new_connections(server, times):
    return [server.ask("GET", "/api/v1/projects/")[0].status for _ in range(times)]


def statuses_of_kept_connection(server, times):
    """The connection is opened again where the answer before said that it is the last."""
    statuses = []
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as client:
        for _ in range(times):
            client.request("GET", "/api/v1/projects/")
            answer = client.getresponse()
            answer.read()
            statuses.append(answer.status)
    return statuses


# --- turns --------------------------------------------------------------------------------------------------


def from_(address):
    return {"X-Forwarded-For": address}


def test_expensive_requests_of_one_address_leave_room_for_others_and_for_signing_in(tmp_path, project, pool):
    limits = {"MAX_HEAVY_PER_ADDRESS": "1", "MAX_HEAVY_WAITING_PER_ADDRESS": "2", "MAX_HEAVY": "2"}
    with running(tmp_path, BEHIND_PROXY="1", WEB_THREADS="3", **limits) as server:
        with locked("results_run") as number_waiting:
            asked = [pool.submit(server.ask, "GET", PAIR, **from_(HERE)) for _ in range(12)]
            refused = 12 - 3
            wait_until(lambda: sum(one.done() for one in asked) == refused)
            wait_until(lambda: number_waiting() == 1)
            for answer, text in [one.result() for one in asked if one.done()]:
                assert (answer.status, answer.headers["Retry-After"]) == (429, "5")
                assert b"too many expensive requests from your address" in text.lower()
            told, body = server.ask("GET", "/api/v1/compare/?project=open", **from_(HERE))
            assert (told.status, json.loads(body)["status"]) == (429, 429)
            assert server.ask("GET", "/sign-in/", **from_(HERE))[0].status == 200
            other = pool.submit(server.ask, "GET", PAIR, **from_(ELSEWHERE))
            wait_until(lambda: number_waiting() == 2)
        assert other.result()[0].status == 200
        assert sorted(one.result()[0].status for one in asked) == [200] * 3 + [429] * refused


def test_expensive_requests_of_many_addresses_are_refused_beyond_a_number(tmp_path, project, pool):
    limits = {"MAX_HEAVY": "1", "MAX_HEAVY_WAITING": "1", "HEAVY_WAIT_SECONDS": "3"}
    with running(tmp_path, BEHIND_PROXY="1", **limits) as server:
        with locked("results_run") as number_waiting:
            first = pool.submit(server.ask, "GET", PAIR, **from_("192.0.2.3"))
            wait_until(number_waiting)
            asked = [pool.submit(server.ask, "GET", PAIR, **from_(f"192.0.2.{4 + n}")) for n in range(3)]
            # One waits for a turn that does not come.
            for answer, _ in [one.result() for one in asked]:
                assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
            assert server.ask("GET", "/sign-in/")[0].status == 200
        assert first.result()[0].status == 200


def test_every_expensive_address_is_one_of_the_site():
    def names(patterns, space=""):
        for one in patterns:
            inner = getattr(one, "url_patterns", None)
            if inner is None:
                yield f"{space}{one.name}"
            else:
                yield from names(inner, f"{one.namespace}:" if one.namespace else space)

    assert set(names(get_resolver().url_patterns)) >= HEAVY
