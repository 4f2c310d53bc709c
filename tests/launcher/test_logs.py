import os
import signal
import sys

from benchdash.launcher.logs import rotate
from benchdash.launcher.processes import Program, Service, stop
from tests.small_disk import small_disk
from tests.waiting import wait_until

TALK = """
import itertools, time
for number in itertools.count():
    print("line", number, flush=True)
    time.sleep(0.001)
"""


def test_a_short_log_stays_as_it_is(tmp_path):
    log = tmp_path / "web.log"
    rotate(log)
    log.write_text("a line\n")
    rotate(log, max_bytes=100)
    assert [file.name for file in tmp_path.iterdir()] == ["web.log"]
    assert log.read_text() == "a line\n"


def test_the_older_lines_of_a_long_log_are_kept_once(tmp_path):
    log = tmp_path / "web.log"
    for text in ("first" * 50, "second" * 50):
        log.write_text(text)
        rotate(log, max_bytes=100)
    assert log.read_text() == ""
    assert (tmp_path / "web.log.1").read_text() == "second" * 50


def test_a_program_that_goes_on_writing_has_a_short_log_for_ever(tmp_path):
    service = Service(
        Program("talker", [sys.executable, "-c", TALK], orphan_signal=signal.SIGKILL),
        environment=os.environ,
        logs=tmp_path,
        max_log_bytes=2000,
    )
    service.start()
    try:
        process = service.process
        wait_until(lambda: service.look_after() or service.log.with_name("talker.log.1").exists())
        wait_until(lambda: service.look_after() or "line 1000\n" in all_lines(service.log))
        assert service.process is process
        assert service.process.poll() is None
        # No hole remains where the lines before were.
        assert "\0" not in service.log.read_text()
    finally:
        stop([service.process])


def all_lines(log):
    return log.with_name(f"{log.name}.1").read_text() + log.read_text()


def test_a_long_log_on_a_full_disk_gives_its_room_back(tmp_path):
    log = tmp_path / "web.log"
    with small_disk(tmp_path, kilobytes=100):
        log.write_bytes(b"x" * 90_000)
        rotate(log, max_bytes=1000)
        assert log.stat().st_size == 0
