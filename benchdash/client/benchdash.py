#!/usr/bin/env python3
"""Measure, upload and gate from any machine: the command line of benchdash.

One file for Python 3.8 or newer, with nothing to install beside it. The environment says where the dashboard
is (BENCHDASH_URL) and who asks (BENCHDASH_TOKEN); options of the same names win.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, Iterator, NamedTuple, NoReturn, Sequence, cast

# How a command ends. A gate that passed and an upload that was taken are both fine.
EXIT_FINE, EXIT_REGRESSED, EXIT_CANNOT_TELL, EXIT_ERROR = 0, 1, 2, 3
REQUEST_TIMEOUT_S = 120


class ClientError(Exception):
    """What went wrong, in a sentence for the person who must act on it."""


# --- the server ---------------------------------------------------------------------------------------------


class ServerAnswer(NamedTuple):
    """What the server said: the status of HTTP and the JSON of the body."""

    status: int
    body: dict[str, Any]

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def sentence(self) -> str:
        """Say what the server found wrong, with the field or the line of each error."""
        sentences = [_error_sentence(error) for error in self.body.get("errors", [])]
        return "; ".join(sentences) or str(self.body.get("detail", f"HTTP {self.status}"))


def _error_sentence(error: dict[str, Any]) -> str:
    if error.get("field"):
        return f"{error['field']}: {error['message']}"
    return f"line {error['line']}: {error['message']}" if error.get("line") else str(error["message"])


class Server(NamedTuple):
    """A dashboard, and the token with which it is asked."""

    url: str
    token: str

    def get(self, path: str, query: dict[str, str] | None = None) -> ServerAnswer:
        """Ask for ``/api/v1/`` and ``path``. Raises ClientError where no server answers."""
        asked = f"?{urllib.parse.urlencode(query)}" if query else ""
        return self._send(urllib.request.Request(f"{self.url}/api/v1/{path}{asked}"))

    def text(self, path: str, query: dict[str, str]) -> str:
        """Ask for an answer that is no JSON. Raises ClientError where there is none."""
        request = urllib.request.Request(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(query)}")
        request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_TIMEOUT_S) as response:
                if response.headers.get_content_type() == "application/json":
                    raise ClientError(f"{self.url} cannot write this form; is it older than this client?")
                return str(response.read().decode())
        except urllib.error.HTTPError as error:
            raise ClientError(ServerAnswer(error.code, _read_json(error.read())).sentence()) from None
        except OSError as error:
            raise ClientError(f"{self.url} does not answer: {error}") from None

    def upload(self, form: Form) -> ServerAnswer:
        """Send fields and files. Raises ClientError where no server answers."""
        boundary = uuid.uuid4().hex
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        address = f"{self.url}/api/v1/uploads/"
        return self._send(urllib.request.Request(address, form.encoded(boundary), headers))

    def _send(self, request: urllib.request.Request) -> ServerAnswer:
        request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_TIMEOUT_S) as response:
                return ServerAnswer(response.status, _read_json(response.read()))
        except urllib.error.HTTPError as error:
            return ServerAnswer(error.code, _read_json(error.read()))
        except OSError as error:
            raise ClientError(f"{self.url} does not answer: {error}") from None


def _read_json(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


class Form(NamedTuple):
    """An upload: fields by name (a name may come again), and the names, paths and bytes of files."""

    fields: list[tuple[str, str]]
    files: list[tuple[str, str, bytes]]

    def encoded(self, boundary: str) -> bytes:
        """Return the body of the request: multipart/form-data (RFC 7578)."""
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in self.fields
        ]
        for name, path, content in self.files:
            file_name = path.replace("\\", "/").replace('"', "%22")
            head = (
                f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file_name}"\r\n'
            )
            parts += [head.encode(), b"Content-Type: application/octet-stream\r\n\r\n", content, b"\r\n"]
        return b"".join([*parts, f"--{boundary}--\r\n".encode()])


# --- upload -------------------------------------------------------------------------------------------------

# Fields of an upload that are an option of the same name, with "-" for "_".
TEXT_FIELDS = (
    *("project", "product", "version", "build", "commit", "committed_at", "branch", "hardware"),
    *("configuration", "counterpart", "workload", "threads", "started_at", "repetition", "session"),
    *("metric", "notes", "format"),
)


def add_field_options(parser: argparse.ArgumentParser) -> None:
    """Add what may be said of a result that its file cannot say."""
    for name in TEXT_FIELDS:
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT")


def fields_of(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the fields that were given as options."""
    given = [(name, getattr(options, name)) for name in TEXT_FIELDS]
    return [(name, value) for name, value in given if value is not None]


def upload(options: argparse.Namespace) -> int:
    """Send each file with the same fields."""
    server = server_of(options)
    ends = [EXIT_FINE]
    for file in options.files:
        try:
            content = Path(file).read_bytes()
        except OSError as error:
            raise ClientError(f"{file}: {error.strerror}") from None
        answer = server.upload(Form(fields_of(options), [("file", Path(file).name, content)]))
        print(f"{file}: {answer.body.get('state') if answer.is_success else answer.sentence()}")
        ends.append(EXIT_FINE if answer.is_success else EXIT_ERROR)
    return max(ends)


# --- run ----------------------------------------------------------------------------------------------------

SESSION_VARIABLE = "BENCHDASH_SESSION"
# What prints after its command has ended is no part of the result.
WAIT_FOR_OUTPUT_S = 2.0
SAMPLE_EVERY_S = 1.0
# Sessions that follow each other faster share the mood of the hour.
SESSION_GAP_S = 2 * 3600.0
SIGNALS_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP")
# A control first, then what is tested, twice, then the control: a drift hits both alike.
CONTROL_FIRST = ("other", "tested", "tested", "other")


class Side(NamedTuple):
    """One of the things that are measured: its name, its command, and what only its runs are said to be.

    ``command`` is a list of words, or a line for the shell. A field that is None is not sent of this side.
    """

    name: str
    command: list[str] | str
    fields: dict[str, str | None]

    @property
    def line(self) -> str:
        """The command as one would type it, without secrets."""
        words = self.command
        return without_secrets(words if isinstance(words, str) else " ".join(map(shlex.quote, words)))


class Measured(NamedTuple):
    """A run that is complete: what it left, and when it ran, in UTC."""

    side: Side
    result: Path
    samples: bytes
    started_at: datetime
    ended_at: datetime


class StoppedError(ClientError):
    """A signal asked to stop."""


def run(options: argparse.Namespace) -> int:
    """Measure the sessions that were asked for, and send each when it is complete."""
    sides = sides_of(options)
    order = [sides[name] for name in (CONTROL_FIRST if "other" in sides else ("tested",))] * options.repeat
    sessions = session_names(options)
    if options.dry_run:
        print_plan(order, sessions, options)
        return EXIT_FINE
    server_of(options)  # an hour of measuring is no time to find out that there is no token
    if len(sides) == 1 and len(sessions) > 1 and options.pause < SESSION_GAP_S:
        note(
            "sessions that follow each other within two hours share the mood of the machine and look more"
            " certain than they are; measure beside a --control or the --base, or set a --pause"
        )
    ends = [EXIT_FINE]
    commands = Commands()
    with commands.listening():
        for number, session in enumerate(sessions):
            if number and options.pause:
                note(f"{options.pause:g} s until the next session")
                commands.pause(options.pause)
            if len(order) > 1 or len(sessions) > 1:
                note(f"session {number + 1} of {len(sessions)}: {session}")
            ends.append(measure_session(order, session, options, commands))
    return max(ends)


def measure_session(
    order: Sequence[Side], session: str, options: argparse.Namespace, commands: Commands
) -> int:
    """Measure one session and send its runs: all of them, or none where one failed."""
    folder = Path(tempfile.mkdtemp(prefix="benchdash-"))
    try:
        measured = []
        for number, side in enumerate(order, 1):
            if len(order) > 1:
                note(f"{number} of {len(order)}, {side.name}: {side.line}")
            measured.append(measure(side, folder / str(number), options, commands))
        with commands.held_back():
            return max(send_run(one, number, session, options) for number, one in enumerate(measured, 1))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(side: Side, folder: Path, options: argparse.Namespace, commands: Commands) -> Measured:
    """Run a command to its end, and keep what it printed or wrote. Raises ClientError where it failed."""
    folder.mkdir()
    written = Path(options.output) if options.output else None
    before = state_of_file(written) if written else None
    result = folder / (written.name if written else f"{program_of(side)}.txt")
    sampler = Sampler() if options.sample else None
    started_at = datetime.now(timezone.utc)
    if sampler:
        sampler.start()
    try:
        end = commands.run(side.command, None if written else result, with_stderr=options.with_stderr)
    finally:
        samples = sampler.stop() if sampler else b""
    ended_at = datetime.now(timezone.utc)
    if commands.signal:
        raise StoppedError(f"stopped by {commands.signal}; nothing of this session was sent")
    if end:
        how = f"was ended by {signal_name(-end)}" if end < 0 else f"ended with {end}"
        raise ClientError(f"{program_of(side)} {how}; nothing of this session was sent")
    if written:
        if state_of_file(written) in (None, before):
            raise ClientError(f"{program_of(side)} did not write {written}; nothing of this session was sent")
        shutil.copyfile(written, result)
    if not result.stat().st_size:
        where = f"{written} is empty" if written else f"{program_of(side)} printed nothing"
        hint = "" if written else "; where it writes a file, name it with --output"
        raise ClientError(f"{where}{hint}. Nothing of this session was sent")
    return Measured(side, result, samples, started_at, ended_at)


def send_run(measured: Measured, number: int, session: str, options: argparse.Namespace) -> int:
    """Send one run with what is known of it."""
    said = dict(fields_of(options))
    said.update(started_at=measured.started_at.isoformat(), session=session)
    said.setdefault("repetition", str(number))
    for name, value in measured.side.fields.items():
        if value is None:
            said.pop(name, None)
        else:
            said[name] = value
    meta = {"command": measured.side.line, "finished_at": measured.ended_at.isoformat()}
    files = [("file", measured.result.name, measured.result.read_bytes())]
    if measured.samples:
        files.append(("companion", "vmstat.txt", measured.samples))
    form = Form([*said.items(), ("meta", json.dumps(meta))], files)
    answer = server_of(options).upload(form)
    print(f"{measured.side.name}: {answer.body.get('state') if answer.is_success else answer.sentence()}")
    return EXIT_FINE if answer.is_success else EXIT_ERROR


def sides_of(options: argparse.Namespace) -> dict[str, Side]:
    """Return what is measured, ``tested`` and if there is one the ``other``. Raises ClientError."""
    if not options.words:
        raise ClientError("nothing to run: benchdash run --version ... -- COMMAND")
    sides = {"tested": Side("test", options.words, {})}
    if options.control and options.base:
        raise ClientError("--control is measured beside a --base in its place, not besides: choose one")
    for name in ("control_version", "base_version", "base_commit"):
        if getattr(options, name) and not getattr(options, name.partition("_")[0]):
            raise ClientError(f'--{name.replace("_", "-")} without --{name.partition("_")[0]} "COMMAND"')
    unsaid: dict[str, str | None] = {"commit": None, "committed_at": None}
    if options.control:
        if not options.control_version:
            raise ClientError("--control-version must say which version the control is")
        fields = {**unsaid, "control": "true", "version": options.control_version}
        sides["other"] = Side("control", options.control, fields)
    if options.base:
        sides["other"] = Side("base", options.base, {**unsaid, **base_fields(options)})
    return sides


def base_fields(options: argparse.Namespace) -> dict[str, str | None]:
    """Return what the runs of the base are: a commit on its branch, or a release."""
    if not options.base_commit and not options.base_version:
        raise ClientError("--base-commit or --base-version must say what the base is")
    fields: dict[str, str | None] = {"pull_request": None, "base_branch": None}
    if options.base_version:
        fields["version"] = options.base_version
    if not options.base_commit:
        return {**fields, "branch": None}
    fields["commit"] = options.base_commit
    if getattr(options, "base_branch", None):
        fields["branch"] = options.base_branch
    return fields


def session_names(options: argparse.Namespace) -> list[str]:
    """Return a name for each session that no other has, on this machine or another."""
    name = options.session or os.environ.get(SESSION_VARIABLE) or new_session_name()
    if options.sessions == 1:
        return [name]
    return [f"{name}.{number}" for number in range(1, options.sessions + 1)]


def new_session_name() -> str:
    """Return a name for a session that begins now."""
    return f"{platform.node() or 'host'}-{datetime.now(timezone.utc):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:4]}"


def print_plan(order: Sequence[Side], sessions: Sequence[str], options: argparse.Namespace) -> None:
    """Print what would be run, and how often."""
    pause = f", {options.pause:g} s apart" if options.pause and len(sessions) > 1 else ""
    print(f"{len(order) * len(sessions)} runs: {len(sessions)} sessions of {len(order)}{pause}")
    for number, side in enumerate(order, 1):
        print(f"  {number}. {side.name}: {side.line}")
        said = {**dict(fields_of(options)), **side.fields}
        print("     " + ", ".join(f"{name}={value}" for name, value in said.items() if value is not None))


def program_of(side: Side) -> str:
    """Return the name of the program that a side runs."""
    words = side.command.split() if isinstance(side.command, str) else side.command
    return re.sub(r"[^\w.+-]", "_", Path(words[0]).name) or "command"


def state_of_file(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is written; None where there is none."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def note(sentence: str) -> None:
    """Tell the person at the terminal; what the command prints stays what it printed."""
    print(f"benchdash: {sentence}", file=sys.stderr, flush=True)


_HIDDEN_NAME = (
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|auth|(?:api|access|private)[_-]?key)"
)
_HIDDEN_VALUE = r"(?:'[^']*'|\"[^\"]*\"|\S+)"
_HIDDEN = (
    # --mysql-password=x, --token x, PGPASSWORD=x, -Dhttp.password=x
    re.compile(rf"(?i)([\w.-]*{_HIDDEN_NAME}[\w.-]*=){_HIDDEN_VALUE}"),
    re.compile(rf"(?i)((?<!\S)'?--?[\w.-]*{_HIDDEN_NAME}'?\s+)(?!-){_HIDDEN_VALUE}"),
    # mysql -pX, and user:password@ of an address
    re.compile(r"(?s)((?:mysql|mariadb)\S*\s(?:.*?\s)?-p)(?=\S)\S+"),
    re.compile(r"(://[^\s:/@]*:)[^\s@]+(?=@)"),
    re.compile(r"((?<!\S)(?:-u|--user)[\s=]+[^\s:]+:)\S+"),
)


def without_secrets(line: str) -> str:
    """Mask passwords and tokens of a command line; they never leave this machine."""
    for pattern in _HIDDEN:
        line = pattern.sub(r"\1***", line)
    return line


class Commands:
    """Runs commands one after the other, and passes signals on to the one that runs.

    ``signal`` is the name of the last signal that came while it was listening.
    """

    def __init__(self) -> None:
        self.signal = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._may_stop = True

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take the signals that ask to stop."""
        numbers = [getattr(signal, name) for name in SIGNALS_PASSED_ON if hasattr(signal, name)]
        before = {number: signal.signal(number, self._pass_on) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def run(self, command: list[str] | str, kept: Path | None, *, with_stderr: bool = False) -> int:
        """Run a command to its end, show what it prints and keep it in a file. Return how it ended.

        Raises ClientError where it cannot be started, and where what it prints cannot be kept.
        """
        self._may_stop = False
        try:
            self._process = subprocess.Popen(
                command,
                shell=isinstance(command, str),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if with_stderr else None,
                # A terminal sends Ctrl-C to all that it started; elsewhere all that the command starts
                # is a group of its own, which gets the signals together.
                start_new_session=not is_at_terminal(),
            )
        except OSError as error:
            program = command if isinstance(command, str) else command[0]
            raise ClientError(f"{program}: {error.strerror}") from None
        finally:
            self._may_stop = True
        if self.signal:
            self._send(signal.SIGTERM)  # it came while the command was started
        output = Output(self._process, kept)
        output.start()
        end = self._process.wait()
        self._process = None
        output.close()
        return end

    def pause(self, seconds: float) -> None:
        """Wait. Raises StoppedError when a signal comes."""
        if self.signal:
            raise StoppedError(f"stopped by {self.signal}")
        time.sleep(seconds)

    @contextlib.contextmanager
    def held_back(self) -> Iterator[None]:
        """Let a first signal wait until what has begun is done; a second one stops it."""
        self._may_stop = False
        try:
            yield
        finally:
            self._may_stop = True
        if self.signal:
            raise StoppedError(f"stopped by {self.signal}; what was complete is sent")

    def _pass_on(self, number: int, _frame: object) -> None:
        is_first, self.signal = not self.signal, signal_name(number)
        if self._process:
            self._send(number)
        elif self._may_stop or not is_first:
            raise StoppedError(f"stopped by {self.signal}")

    def _send(self, number: int) -> None:
        """Send a signal to the command; at a terminal Ctrl-C was already sent to it."""
        if self._process is None or (number == signal.SIGINT and is_at_terminal()):
            return
        with contextlib.suppress(OSError):
            if is_at_terminal() or not hasattr(os, "killpg"):
                self._process.send_signal(number)
            else:
                os.killpg(self._process.pid, number)


def is_at_terminal() -> bool:
    """Tell whether Ctrl-C of a terminal reaches this program and what it starts."""
    try:
        with Path("/dev/tty").open("rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except (OSError, AttributeError):
        return False


class Output(threading.Thread):
    """Shows what a command prints as it comes, and keeps it in a file if one is named."""

    def __init__(self, process: subprocess.Popen[bytes], kept: Path | None) -> None:
        super().__init__(daemon=True)
        self._process = process
        self._kept = kept.open("wb") if kept else None
        self._is_shown = True
        self._is_closed = threading.Event()
        self._error: OSError | None = None

    def run(self) -> None:
        pipe = cast("IO[bytes]", self._process.stdout).fileno()
        while chunk := os.read(pipe, 65536):
            if self._is_closed.is_set():
                return
            self._keep(chunk)
            self._show(chunk)

    def close(self) -> None:
        """Stop. Raises ClientError where something could not be kept."""
        self.join(WAIT_FOR_OUTPUT_S)
        if self.is_alive():
            note("what the command started in the background still holds its output, which is not waited for")
        self._is_closed.set()
        if self._kept:
            try:
                self._kept.close()
            except OSError as error:
                self._error = self._error or error
        if self._error:
            raise ClientError(f"what the command printed cannot be kept: {self._error.strerror}")

    def _keep(self, chunk: bytes) -> None:
        """Write to the file. After a failure the command may still print: it must not stand still."""
        if self._kept and not self._error:
            try:
                self._kept.write(chunk)
            except OSError as error:
                self._error = error

    def _show(self, chunk: bytes) -> None:
        if self._is_shown:
            try:
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
            except (OSError, ValueError):
                self._is_shown = False  # nobody reads it any more


class Sampler(threading.Thread):
    """Looks at the machine each second, as ``vmstat -t 1`` does, and writes it as vmstat prints it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._is_over = threading.Event()
        self._lines: list[str] = []

    def run(self) -> None:
        try:
            # What vmstat prints first is the average since the machine started.
            before = Counters.read()
            self._lines.append(before.line_since(Counters.since_boot(before)))
            due = time.monotonic()
            while True:
                due += SAMPLE_EVERY_S
                if self._is_over.wait(max(0.0, due - time.monotonic())):
                    return
                now = Counters.read()
                self._lines.append(now.line_since(before))
                before = now
        except (OSError, ValueError, KeyError, IndexError) as error:
            note(f"the machine is not sampled: {error}")

    def stop(self) -> bytes:
        """Return what vmstat would have printed; nothing where there is no whole second."""
        self._is_over.set()
        self.join()
        return "\n".join([*VMSTAT_HEADING, *self._lines, ""]).encode() if len(self._lines) > 1 else b""


VMSTAT_HEADING = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----",
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC",
)


class Counters(NamedTuple):
    """What Linux has counted since it started, in the units of vmstat, and what it holds now."""

    at: float
    cpu: list[int]  # user, nice, system, idle, iowait, irq, softirq, steal
    counts: list[int]  # swapped in, swapped out (kB), read, written (kB), interrupts, context switches
    now: list[int]  # running, blocked, swap used, free, buffers, cache (kB)

    @classmethod
    def read(cls) -> Counters:
        """Raise OSError where there is no /proc."""
        stat = dict(line.split(" ", 1) for line in Path("/proc/stat").read_text().splitlines())
        paging = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
        memory = {
            line.partition(":")[0]: int(line.split()[1])
            for line in Path("/proc/meminfo").read_text().splitlines()
        }
        page_kb = os.sysconf("SC_PAGE_SIZE") // 1024
        counts = [
            *(int(paging.get(name, 0)) * page_kb for name in ("pswpin", "pswpout")),
            *(int(paging.get(name, 0)) for name in ("pgpgin", "pgpgout")),
            *(int(stat[name].split()[0]) for name in ("intr", "ctxt")),
        ]
        now = [
            # The sampler itself runs just now.
            *(max(int(stat["procs_running"]) - 1, 0), int(stat["procs_blocked"])),
            *(memory.get("SwapTotal", 0) - memory.get("SwapFree", 0), memory["MemFree"]),
            *(memory.get("Buffers", 0), memory.get("Cached", 0) + memory.get("SReclaimable", 0)),
        ]
        cpu = [int(ticks) for ticks in stat["cpu"].split()[:8]]
        return cls(time.time(), cpu + [0] * (8 - len(cpu)), counts, now)

    @classmethod
    def since_boot(cls, now: Counters) -> Counters:
        """Return the counters as they were when the machine started."""
        uptime = float(Path("/proc/uptime").read_text().split()[0])
        return cls(now.at - uptime, [0] * 8, [0] * 6, now.now)

    def line_since(self, before: Counters) -> str:
        """Return the line of vmstat for the time since others were read."""
        seconds = max(self.at - before.at, 1e-3)
        rates = [round(max(b - a, 0) / seconds) for a, b in zip(before.counts, self.counts)]
        ticks = [max(b - a, 0) for a, b in zip(before.cpu, self.cpu)]
        user, nice, system, idle, wait, irq, soft, steal = ticks
        shares = [
            f"{100 * part / max(sum(ticks), 1):.1f}"
            for part in (user + nice, system + irq + soft, idle, wait, steal)
        ]
        clock = datetime.fromtimestamp(self.at, timezone.utc)
        return " ".join(map(str, [*self.now, *rates, *shares])) + f" {clock:%Y-%m-%d %H:%M:%S}"


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add how often, beside what and in which order a command is measured."""
    add = parser.add_argument
    add("--control", metavar="COMMAND", help="a build that never changes, measured in turns with the command")
    add("--control-version", metavar="VERSION", help="which version the control is")
    add("--base", metavar="COMMAND", help="what the gate compares with, measured in turns with the command")
    add("--base-commit", metavar="COMMIT")
    add("--base-version", metavar="VERSION")
    add("--sessions", type=positive, default=1, metavar="N", help="how often all of it is measured (1)")
    add("--repeat", type=positive, default=1, metavar="N", help="rounds within a session (1)")
    add("--pause", type=float, default=0.0, metavar="SECONDS", help="time between sessions (0)")
    add("--output", metavar="FILE", help="send this file, which the command writes, and not what it prints")
    add("--with-stderr", action="store_true", help="keep what the command prints as errors, too")
    add("--no-sample", dest="sample", action="store_false", help="do not sample the machine")
    add("--dry-run", action="store_true", help="print the plan and measure nothing")
    parser.set_defaults(command=run)


def positive(text: str) -> int:
    """Return a number from 1 on, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


# --- gate ---------------------------------------------------------------------------------------------------

# Seconds between questions: short at first, then the last.
ASK_AFTER_S = (0.25, 0.5, 1.0, 2.0, 3.0)
GATE_QUESTIONS = ("project", "product", "branch", "commit", "base", "version", "pull_request", "hardware")
EXIT_OF_VERDICT = {"pass": EXIT_FINE, "fail": EXIT_REGRESSED, "unknown": EXIT_CANNOT_TELL}
# The verdicts of a row in the words of the table, and the order in which it stands there.
VERDICT_WORDS = {
    "worse": "worse",
    "likely_worse": "likely worse",
    "unknown": "cannot tell",
    "likely_better": "likely better",
    "better": "better",
    "same": "same",
}
TABLE_HEADING = ("workload", "threads", "metric", "base", "now", "change in % (95 %)", "verdict")
TABLE_WIDTH = 100
MIN_WORKLOAD_WIDTH = 12
MAX_ROWS_SHOWN = 50


def gate(options: argparse.Namespace) -> int:
    """Ask for the verdict, measure more where that was asked for, write it down, and end as it says."""
    server = server_of(options)
    question = {name: getattr(options, name) for name in GATE_QUESTIONS if getattr(options, name)}
    answer = verdict_of(server, question, options.timeout)
    measured = 0
    while options.run_more and (wanted := min(missing_sessions(answer), options.max_more - measured)):
        for _ in range(wanted):
            measured += 1
            note(f"session {measured} of {options.max_more} at most: {without_secrets(options.run_more)}")
            measure_more(options)
        answer = verdict_of(server, question, options.timeout)
    print_table(answer["rows"])
    print(sentence_of(answer, measured))
    write_verdict(server, question, answer, options)
    if answer["verdict"] == "unknown" and answer["rows"] and options.unknown_is:
        return {"fine": EXIT_FINE, "fail": EXIT_REGRESSED}[options.unknown_is]
    return EXIT_OF_VERDICT[answer["verdict"]]


def verdict_of(server: Server, question: dict[str, str], timeout_s: float) -> dict[str, Any]:
    """Ask until all results are analysed. Raises ClientError where they are not in time."""
    last = time.monotonic() + timeout_s
    for delay in itertools.chain(ASK_AFTER_S, itertools.repeat(ASK_AFTER_S[-1])):
        answer = server.get("gate/", question)
        if answer.is_success and answer.body.get("analysis") == "done":
            return answer.body
        if not answer.is_success and answer.status < 500 and answer.status != 429:
            raise ClientError(f"the gate does not answer: {answer.sentence()}")
        if time.monotonic() >= last:
            why = (
                "results are not analysed yet; is a worker running?"
                if answer.is_success
                else answer.sentence()
            )
            raise ClientError(f"no verdict within {timeout_s:g} s: {why}")
        time.sleep(min(delay, max(last - time.monotonic(), 0.0)))
    raise AssertionError  # the delays have no end


def missing_sessions(answer: dict[str, Any]) -> int:
    """Return how many sessions would settle the verdict: 0 where none is open or nobody can say it."""
    if answer["verdict"] != "unknown":
        return 0
    # The first session tells whether there is anything to compare.
    return answer["more_sessions"] or (0 if any(row["base"] for row in answer["rows"]) else 1)


def measure_more(options: argparse.Namespace) -> None:
    """Measure one session by the command of the user. Raises ClientError where it fails."""
    session = new_session_name()
    environment = {SESSION_VARIABLE: session, "BENCHDASH_URL": options.url, "BENCHDASH_TOKEN": options.token}
    end = subprocess.run(  # noqa: S602 - it is a line for the shell
        options.run_more,
        shell=True,
        env={**os.environ, **environment},
        check=False,
    ).returncode
    if end:
        raise ClientError(f"the command that measures more ended with {end}; there is no verdict")


def sentence_of(answer: dict[str, Any], measured: int) -> str:
    """Say what the verdict rests on, and what would settle an open one."""
    rows = answer["rows"]
    after = f" after {_count(measured, 'more session')}" if measured else ""
    verdicts = [verdict_of_row(row) for row in rows]
    if answer["verdict"] == "fail":
        return f"fail{after}: {verdicts.count('worse')} of {_count(len(rows), 'row')} worse"
    if answer["verdict"] == "pass":
        return f"pass{after}: nothing of {_count(len(rows), 'row')} is worse"
    if not rows:
        return f"cannot tell{after}: there are no runs of this"
    if not any(row["base"] for row in rows):
        return f"cannot tell{after}: there is nothing to compare with"
    if answer["more_sessions"]:
        return f"cannot tell{after}: {_count(answer['more_sessions'], 'more session')} of each side would"
    return f"cannot tell{after}, nor how many more sessions would"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


def verdict_of_row(row: dict[str, Any]) -> str:
    """Return the verdict of a row; unknown where there is nothing to compare."""
    return str((row["cells"][0] or {}).get("verdict") or "unknown")


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print the rows by place, what is worse first, on lines of 100 columns at most."""
    if not rows:
        return
    order = list(VERDICT_WORDS)
    rows = sorted(rows, key=lambda row: order.index(verdict_of_row(row)))
    shown, places = rows[:MAX_ROWS_SHOWN], list(dict.fromkeys(map(place_of_row, rows[:MAX_ROWS_SHOWN])))
    cells = {place: [cells_of_row(row) for row in shown if place_of_row(row) == place] for place in places}
    lines = [TABLE_HEADING, *(line for of_place in cells.values() for line in of_place)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    spare = TABLE_WIDTH - sum(widths) - 2 * (len(widths) - 1)
    widths[0] = max(min(widths[0], widths[0] + spare), MIN_WORKLOAD_WIDTH)
    for place, of_place in cells.items():
        print(place)
        for line in (TABLE_HEADING, *of_place):
            print(_table_line(line, widths))
    if len(rows) > len(shown):
        print(f"and {_count(len(rows) - len(shown), 'more row')}")


def _table_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    workload = cells[0] if len(cells[0]) <= widths[0] else cells[0][: widths[0] - 1] + "…"
    of_numbers = range(3, 5)
    texts = [
        text.rjust(width) if at in of_numbers or at == 1 else text.ljust(width)
        for at, (text, width) in enumerate(zip([workload, *cells[1:]], widths))
    ]
    return "  ".join(texts).rstrip()


def place_of_row(row: dict[str, Any]) -> str:
    return ", ".join(
        filter(None, (row[name] for name in ("hardware", "configuration", "build", "counterpart")))
    )


def cells_of_row(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts of a line of the table."""
    cell, base = row["cells"][0] or {}, row["base"] or {}
    unit = row.get("printed_unit") or row["unit"]
    factor = row.get("printed_factor") or 1
    return (
        row["workload"],
        str(row["threads"] or "–"),
        row["metric"] if unit in ("", "1/s") else f"{row['metric']} {unit}",
        *(_figure(one.get("value"), factor) for one in (base, cell)),
        _change(cell),
        VERDICT_WORDS[verdict_of_row(row)],
    )


def _figure(value: float | None, factor: float) -> str:
    if value is None:
        return "–"
    value *= factor
    return f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _change(cell: dict[str, Any]) -> str:
    change, low, high = (cell.get(name) for name in ("ratio", "low", "high"))
    if change is None:
        return "–"
    interval = "" if low is None or high is None else f" ({_per_cent(low)} to {_per_cent(high)})"
    return _per_cent(change) + interval


def _per_cent(ratio: float) -> str:
    change = 100 * (ratio - 1)
    return f"{change:+.0f}" if abs(change) >= 1000 else f"{change:+.1f}"


def write_verdict(
    server: Server, question: dict[str, str], answer: dict[str, Any], options: argparse.Namespace
) -> None:
    """Write the texts that were asked for; the server is who writes Markdown and JUnit."""
    if options.json:
        write_text(options.json, json.dumps(answer, indent=1) + "\n")
    for path, form in ((options.markdown, "md"), (options.junit, "junit")):
        if path:
            write_text(path, server.text("gate/", {**question, "format": form}))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if options.summary and summary:
        write_text(summary, server.text("gate/", {**question, "format": "md"}) + "\n", mode="a")


def write_text(path: str, text: str, mode: str = "w") -> None:
    """Write or append (``mode`` "a") to a file. Raises ClientError."""
    try:
        with Path(path).open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ClientError(f"{path}: {error.strerror}") from None


def add_gate_options(parser: argparse.ArgumentParser) -> None:
    """Add what is compared with what, how long to wait, what to measure, and what to write."""
    add = parser.add_argument
    for name in GATE_QUESTIONS:
        add(f"--{name.replace('_', '-')}", metavar="TEXT")
    add("--timeout", type=float, default=600.0, metavar="SECONDS", help="how long to wait (600)")
    add("--run-more", metavar="COMMAND", help="a line for the shell that measures one more session")
    add("--max-more", type=positive, default=4, metavar="N", help="sessions to measure at most (4)")
    add("--unknown-is", choices=("fine", "fail"), help="how to end where what was measured cannot tell")
    add("--markdown", metavar="FILE")
    add("--junit", metavar="FILE")
    add("--json", metavar="FILE")
    add(
        "--summary",
        action="store_true",
        help="append the Markdown to the summary of the job (GitHub Actions)",
    )
    parser.set_defaults(command=gate)


# --- the command line ---------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """A parser whose errors end with EXIT_ERROR, because 2 means that a gate cannot tell."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_ERROR, f"{self.prog}: {message}\n")


def server_of(options: argparse.Namespace) -> Server:
    """Return the server that options or environment name. Raises ClientError where neither does."""
    for name in ("url", "token"):
        if not getattr(options, name):
            raise ClientError(f"set BENCHDASH_{name.upper()} or give --{name}")
    return Server(options.url.rstrip("/"), options.token)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; ``command`` of its result is the function to call."""
    shared = Parser(add_help=False)
    shared.add_argument("--url", default=os.environ.get("BENCHDASH_URL"), help="address of the dashboard")
    shared.add_argument("--token", default=os.environ.get("BENCHDASH_TOKEN"), help="safer in BENCHDASH_TOKEN")
    whole = Parser(prog="benchdash", description="Measure, upload and gate.")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = commands.add_parser("upload", parents=[shared], help="send result files")
    command.add_argument("files", nargs="+", metavar="FILE")
    add_field_options(command)
    command.set_defaults(command=upload)

    usage = "benchdash run [OPTIONS] -- COMMAND"
    command = commands.add_parser("run", parents=[shared], usage=usage, help="measure a command and send it")
    add_field_options(command)
    add_run_options(command)

    command = commands.add_parser("gate", parents=[shared], help="ask whether something became worse")
    add_gate_options(command)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return how it ended."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # What follows "--" is the command that is measured; its options are none of ours.
    at = words.index("--") if words[:1] == ["run"] and "--" in words else len(words)
    options = parser().parse_args(words[:at])
    options.words = words[at + 1 :]
    try:
        end: int = options.command(options)
    except ClientError as error:
        print(f"benchdash: {error}", file=sys.stderr)
        return EXIT_ERROR
    return end


if __name__ == "__main__":
    sys.exit(main())
