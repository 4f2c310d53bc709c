"""Uploads that met trouble: kept in the spool, flushed later, nothing lost and nothing doubled."""

import json
import signal
import stat
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from benchdash.results.models import Run
from ingest.models import Upload
from tests.client.test_upload import SAID, SYSBENCH
from tests.client.wire import Wire, proxy
from tests.web_server import WebServer

pytestmark = pytest.mark.django_db(transaction=True)

IMPORTED = json.dumps({"id": 1, "state": "imported", "runs": [], "warnings": []}).encode()
HTML = b"<html>Bad gateway</html>"


@pytest.fixture
def wire(live_server):
    wire = Wire(urlsplit(live_server.url).port)
    yield wire
    wire.close()


@pytest.fixture
def large(tmp_path):
    """A result whose interval lines do not fit into the buffers of a connection."""
    report = SYSBENCH.read_text()
    line = (
        "[ {}s ] thds: 4 tps: 301.0 qps: 4816.0 (r/w/o: 4214/0/602) lat (ms,95%): 15.0 err/s: 0 reconn/s: 0\n"
    )
    path = tmp_path / "large.txt"
    path.write_text(report + "".join(line.format(second) for second in range(20_000)))
    return path


def kept(benchdash):
    return sorted(benchdash.spool.glob("2*/item.json"))


def send(benchdash, url, *more, file=SYSBENCH):
    return benchdash("upload", file, *SAID, "--retry-for", 0, *more, BENCHDASH_URL=url)


def test_an_upload_that_breaks_off_is_kept_and_counts_from_when_it_was_first_sent(benchdash, wire):
    wire.breaks_after = 1000
    ended = send(benchdash, wire.url)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "is kept in" in ended.stderr
    assert send(benchdash, wire.url, "--strict").returncode == 3
    [item, again] = kept(benchdash)
    assert stat.S_IMODE(benchdash.spool.stat().st_mode) == 0o700
    assert benchdash.environment["BENCHDASH_TOKEN"] not in item.read_text()
    assert Upload.objects.count() == 0

    days = timedelta(days=3)
    for path in (item, again):
        said = json.loads(path.read_text())
        path.write_text(json.dumps({**said, "kept_at": said["kept_at"] - days.total_seconds()}))
    assert benchdash("flush", "--retry-for", 0).returncode == 3  # the wire is still broken
    wire.mend()
    flushed = benchdash("flush")
    assert (flushed.returncode, flushed.stdout.splitlines()[-1]) == (0, "2 sent, 0 left, 0 refused")
    assert kept(benchdash) == []
    run = Run.objects.get()
    assert run.started_at_is_assumed
    assert timedelta(0) <= timezone.now() - days - run.started_at < timedelta(minutes=5)


def test_only_the_first_of_many_files_waits_for_a_server_that_is_down(benchdash):
    ended = benchdash(
        "upload", SYSBENCH, SYSBENCH, SYSBENCH, *SAID, "--retry-for", 2, BENCHDASH_URL="http://127.0.0.1:9"
    )
    assert ended.returncode == 0
    assert ended.stderr.count("trying again") == 1
    assert len(kept(benchdash)) == 3


def test_an_upload_whose_answer_is_lost_is_not_doubled(benchdash, wire):
    wire.loses_answer = True
    assert send(benchdash, wire.url).returncode == 0
    assert (Upload.objects.count(), len(kept(benchdash))) == (1, 1)
    wire.mend()
    assert benchdash("flush").stdout.splitlines()[-1] == "1 sent, 0 left, 0 refused"
    assert (Upload.objects.count(), Run.objects.count(), kept(benchdash)) == (1, 1, [])


def test_a_client_that_is_killed_in_the_middle_loses_nothing(benchdash, wire, large):
    wire.breaks_after, wire.hangs = 100_000, True
    benchdash.environment["BENCHDASH_URL"] = wire.url
    client = benchdash.begin("upload", large, *SAID)
    assert wire.broke.wait(30)
    assert benchdash("flush").stdout == ""  # what another process deals with is left to it
    client.send_signal(signal.SIGKILL)
    client.wait()
    large.unlink()
    wire.mend()
    assert benchdash("flush").stdout.splitlines()[-1] == "1 sent, 0 left, 0 refused"
    assert Upload.objects.get().raw.size > 1_000_000


@pytest.mark.slow
def test_a_server_that_stops_in_the_middle_gets_it_when_it_is_back(benchdash, wire, large, tmp_path):
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    server = WebServer(folders[0])
    wire.mend(server.port)
    wire.breaks_after, wire.then = 100_000, server.stop
    assert send(benchdash, wire.url, file=large).returncode == 0
    assert send(benchdash, wire.url, file=SYSBENCH).returncode == 0
    assert (Upload.objects.count(), len(kept(benchdash))) == (0, 2)
    server = WebServer(folders[1])
    try:
        wire.mend(server.port)
        assert benchdash("flush").stdout.splitlines()[-1] == "2 sent, 0 left, 0 refused"
        assert benchdash("flush").stdout == ""
    finally:
        server.stop()
    assert (Upload.objects.count(), kept(benchdash)) == (2, [])


def test_what_the_server_refuses_for_good_is_set_aside_with_its_reason(benchdash, wire, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("no result at all")
    wire.breaks_after = 100
    assert send(benchdash, wire.url, file=bad).returncode == 0
    wire.mend()
    flushed = benchdash("flush")
    assert (flushed.returncode, flushed.stdout) == (3, "0 sent, 0 left, 1 refused\n")
    [reason] = benchdash.spool.glob("refused/*/reason.txt")
    assert "not a result file" in reason.read_text()
    assert (reason.parent / "0").read_text() == bad.read_text()
    assert benchdash("flush").returncode == 0


def test_a_wrong_token_keeps_the_file_and_is_an_error(benchdash):
    ended = benchdash("upload", SYSBENCH, *SAID, BENCHDASH_TOKEN="wrong")
    assert ended.returncode == 3
    assert "takes --url and --any-token" in ended.stderr
    assert benchdash("flush").stdout == "0 sent, 1 left, 0 refused\n"  # it may be of another project
    assert benchdash("flush", "--any-token").returncode == 0
    assert Upload.objects.get().state == Upload.State.IMPORTED


def test_what_passes_is_tried_again_with_the_same_key(benchdash):
    busy = 503, {"Retry-After": "0"}, HTML
    with proxy([busy, busy, (201, {}, IMPORTED)]) as server:
        ended = benchdash("upload", SYSBENCH, *SAID, BENCHDASH_URL=server.url)
        assert (ended.returncode, kept(benchdash)) == (0, [])
        assert ended.stderr.count("trying again") == 2
        assert len({one["Idempotency-Key"] for one in server.heard}) == 1


def test_a_redirect_takes_the_token_nowhere(benchdash):
    with proxy([]) as elsewhere, proxy([(301, {"Location": f"{elsewhere.url}/"}, b"")]) as server:
        ended = send(benchdash, server.url)
        assert (ended.returncode, elsewhere.heard) == (3, [])
        assert f"moved to {elsewhere.url}/; set BENCHDASH_URL" in ended.stderr


def test_a_refusal_before_the_whole_file_was_sent_is_read(benchdash, large):
    refusal = json.dumps({"detail": "the token is unknown", "errors": []}).encode()
    with proxy([(401, {}, refusal)], reads_all=False) as server:
        ended = send(benchdash, server.url, file=large)
        assert (ended.returncode, len(kept(benchdash))) == (3, 1)
        assert "the token is unknown" in ended.stderr


@pytest.mark.parametrize("status", [200, 403, 413])
def test_a_page_of_a_proxy_is_no_answer_of_the_dashboard(benchdash, status):
    with proxy([(status, {}, HTML)]) as server:
        ended = send(benchdash, server.url)
        assert (ended.returncode, len(kept(benchdash))) == (3, 1)
        assert "is a dashboard at this address" in ended.stderr


def test_without_room_for_the_spool_it_is_sent_all_the_same(benchdash, tmp_path):
    (tmp_path / "file").write_text("")
    ended = benchdash("upload", SYSBENCH, *SAID, "--spool", tmp_path / "file/spool")
    assert ended.returncode == 0
    assert "cannot be kept" in ended.stderr
    assert Upload.objects.count() == 1
