#!/usr/bin/env python3
"""Measure, upload and gate from any machine: the command line of benchdash.

One file for Python 3.8 or newer, with nothing to install beside it. The environment says where the dashboard
is (BENCHDASH_URL) and who asks (BENCHDASH_TOKEN); options of the same names win. Without a token, a job of
GitHub Actions or GitLab CI shows the one that its CI signs for it.
"""

from __future__ import annotations

import argparse
import contextlib
import email.utils
import glob
import gzip
import hashlib
import http.client
import ipaddress
import json
import os
import platform
import random
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import (
    IO,
    Any,
    BinaryIO,
    Callable,
    Generator,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    NoReturn,
    Sequence,
    Tuple,
    Union,
    cast,
)

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

VERSION = "1.0"
# How a command ends. A gate that passed and an upload that was taken are both fine.
EXIT_FINE, EXIT_REGRESSED, EXIT_CANNOT_TELL, EXIT_ERROR = 0, 1, 2, 3
REQUEST_TIMEOUT_S = 120
CHUNK_BYTES = 256 * 1024

Fields = List[Tuple[str, str]]
# The bytes of a file, or where they are.
Content = Union[bytes, Path]
Files = List[Tuple[str, str, Content]]


class ClientError(Exception):
    """A sentence for the person who must act on what went wrong."""


def note(sentence: str) -> None:
    """Tell the person at the terminal; what a command prints stays what it printed."""
    print(f"benchdash: {sentence}", file=sys.stderr, flush=True)


def note_once(sentence: str) -> None:
    """Tell what holds of several uploads at the first of them."""
    if sentence not in _noted:
        _noted.add(sentence)
        note(sentence)


_noted: set[str] = set()


# --- the server ---------------------------------------------------------------------------------------------

# Trouble that passes by itself.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 507})
# Answers about the upload: sent again, it would be refused again.
_FINAL = frozenset({400, 409, 413, 415, 422})


class ServerAnswer(NamedTuple):
    """An answer: the status of HTTP, the body, and when to ask again, in seconds."""

    status: int
    content: bytes
    retry_after_s: float | None = None
    location: str = ""

    @property
    def body(self) -> dict[str, Any]:
        """The JSON of the body; empty where it is no JSON object."""
        try:
            return _object(json.loads(self.content))
        except ValueError:
            return {}

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300 and bool(self.body)

    def sentence(self) -> str:
        """Say what the server found wrong, with the field or the line of each error."""
        if 300 <= self.status < 400:
            return f"HTTP {self.status}: it is moved to {self.location}; set BENCHDASH_URL to where it is"
        if not self.body:
            return f"HTTP {self.status} without JSON: is a dashboard at this address, or a proxy before it?"
        return errors_sentence(self.body.get("errors", [])) or str(
            self.body.get("detail", f"HTTP {self.status}")
        )


def errors_sentence(errors: Sequence[dict[str, Any]]) -> str:
    """Return errors of an answer in a sentence, with the field or the line of each."""
    places = (error.get("field") or (error.get("line") and f"line {error['line']}") for error in errors)
    return "; ".join(
        f"{place}: {error['message']}" if place else str(error["message"])
        for place, error in zip(places, errors)
    )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class NoAnswerError(ClientError):
    """Nobody answers at the address, or not in time."""


class _AnyAnswer(urllib.request.HTTPErrorProcessor):
    """Take every status for an answer. A redirect would take the token along, and lose the file."""

    def http_response(self, _request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response  # type: ignore[assignment]


class _Connection(http.client.HTTPConnection):
    """A connection that reads the answer also where the server did not want to read all of a request."""

    _is_refused = False

    def send(self, data: Any) -> None:
        if self._is_refused:
            return
        try:
            super().send(data)
        except (BrokenPipeError, ConnectionResetError):
            self._is_refused = True


class _SecureConnection(http.client.HTTPSConnection, _Connection):
    """The same by TLS."""


class _Connections(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    """Opens addresses by connections of these two kinds."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._tls = context

    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Connection, req)

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_SecureConnection, req, context=self._tls)


class Server(NamedTuple):
    """A dashboard, and the token with which it is asked. ``ca_file`` names who vouches for it."""

    url: str
    token: str
    ca_file: str = ""

    def get(self, path: str, query: Fields | None = None) -> ServerAnswer:
        """Ask for ``/api/v1/`` and ``path``. Raises NoAnswerError where no server answers."""
        question = f"?{urllib.parse.urlencode(query)}" if query else ""
        return self.send(urllib.request.Request(f"{self.url}/api/v1/{path}{question}"))

    def text(self, path: str, query: Fields) -> str:
        """Ask for an answer that is no JSON. Raises ClientError where there is none."""
        answer = self.get(path, query)
        if not 200 <= answer.status < 300:
            raise ClientError(answer.sentence())
        if answer.body:
            raise ClientError(f"{self.url} cannot write this form; is it older than this client?")
        return answer.content.decode()

    def upload(self, form: Form, *, key: str, label: str = "", waited_s: float = 0) -> ServerAnswer:
        """Send fields and files, read from disk as they are sent. Raises NoAnswerError without an answer.

        ``key`` is the same for each try of one upload. ``waited_s`` is how long it has lain here: the server
        counts the time of receipt from then. A terminal sees how much of ``label`` is sent.
        """
        length = form.length(key)
        headers = {
            "Content-Type": f"multipart/form-data; boundary={key}",
            "Content-Length": str(length),
            "Idempotency-Key": key,
        }
        if waited_s >= 1:
            headers["Benchdash-Waited"] = str(int(waited_s))
        with contextlib.closing(_shown(form.encoded(key), length, label)) as body:
            return self.send(urllib.request.Request(f"{self.url}/api/v1/uploads/", body, headers))

    def send(self, request: urllib.request.Request) -> ServerAnswer:
        """Send a request with the token. Raises NoAnswerError where no server answers."""
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("User-Agent", f"benchdash/{VERSION}")
        try:
            context = ssl.create_default_context(cafile=self.ca_file or None)
        except OSError as error:
            raise ClientError(f"--ca-file {self.ca_file}: {error.strerror or error}") from None
        opener = urllib.request.build_opener(_AnyAnswer, _Connections(context))
        try:
            with opener.open(request, timeout=REQUEST_TIMEOUT_S) as response:
                retry_after_s = _seconds(response.headers.get("Retry-After", ""))
                location = response.headers.get("Location", "")
                return ServerAnswer(response.status, response.read(), retry_after_s, location)
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(f"{self.url} does not answer: {_reason(error)}") from None


def _seconds(retry_after: str) -> float | None:
    """Return a Retry-After in seconds, which may be a number or a date; None where it is neither."""
    with contextlib.suppress(ValueError):
        return max(float(retry_after), 0.0)
    with contextlib.suppress(TypeError, ValueError):
        return max(email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time(), 0.0)
    return None


def _reason(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(getattr(reason, "strerror", None) or reason or type(reason).__name__)


def _shown(chunks: Iterator[bytes], length: int, label: str) -> Generator[bytes, None, None]:
    """Yield chunks; a terminal sees how much of them is sent, on a line that goes when it is done."""
    is_shown = label and sys.stderr.isatty() and not os.environ.get("CI")
    total = f"{length / 1e6:.1f} MB" if length > 1e5 else f"{length} bytes"
    sent = 0
    try:
        for chunk in chunks:
            yield chunk
            sent += len(chunk)
            if is_shown:
                line = f"\r{_on_one_line(label)}: {100 * sent // length} % of {total}"
                print(line, end="", file=sys.stderr, flush=True)
    finally:
        if is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class Pauses:
    """Pauses between tries, each twice the one before, until the time for all of them is over."""

    def __init__(self, seconds: float, first_s: float, longest_s: float) -> None:
        self._end = time.monotonic() + seconds
        self._next_s, self._longest_s = first_s, longest_s

    @property
    def left_s(self) -> float:
        """The time that is left, in seconds."""
        return self._end - time.monotonic()

    def next_s(self) -> float:
        """Return how long the next pause is."""
        pause = self._next_s
        self._next_s = min(2 * pause, self._longest_s)
        return pause


def completed(server: Server, path: str, query: Fields, seconds: float, label: str) -> ServerAnswer:
    """Ask about an upload or for a verdict until all results are analysed, and return the answer.

    Raises ClientError, which begins with ``label``, where they are not in time.
    """
    pauses = Pauses(seconds, 0.25, LONGEST_POLL_S)
    while True:
        at_least_s = 0.0
        try:
            answer = server.get(path, query)
        except NoAnswerError as error:
            trouble = str(error)
        else:
            trouble = _open_work(answer.body) if answer.is_success else answer.sentence()
            if not trouble:
                return answer
            if not answer.is_success and answer.status not in _PASSING:
                raise ClientError(f"{label}: {trouble}")
            at_least_s = answer.retry_after_s or 0.0
        pause = pauses.next_s()
        if pauses.left_s <= 0:
            raise ClientError(f"{label}: not done within {seconds:g} s: {trouble}")
        if pause >= LONGEST_POLL_S:
            note_once(f"{trouble}; asking again for {seconds:g} s")
        time.sleep(max(min(max(pause, at_least_s), pauses.left_s), 0.0))


def _open_work(body: dict[str, Any]) -> str:
    """Say what has still to be done with an upload or before a verdict; empty where all is done."""
    state = body.get("state", "read")
    if state in ("queued", "importing"):
        return f"it is {state}; is a worker running?"
    is_analysed = state == "refused" or body.get("analysis", "done") == "done"
    return "" if is_analysed else "results are not analysed yet; is a worker running?"


LONGEST_POLL_S = 3.0


class Form(NamedTuple):
    """An upload: fields by name (a name may come again), and the names, file names and contents of files."""

    fields: Fields
    files: Files

    def encoded(self, boundary: str) -> Iterator[bytes]:
        """Yield the body of the request: multipart/form-data (RFC 7578)."""
        part = f"--{boundary}\r\nContent-Disposition: form-data; name="
        for name, value in self.fields:
            yield f'{part}"{_quoted(name)}"\r\n\r\n{value}\r\n'.encode(errors="replace")
        for name, file_name, content in self.files:
            head = (
                f'{part}"{name}"; filename="{_quoted(file_name)}"\r\nContent-Type: application/octet-stream'
            )
            yield f"{head}\r\n\r\n".encode(errors="replace")
            yield from _chunks(content)
            yield b"\r\n"
        yield f"--{boundary}--\r\n".encode()

    def length(self, boundary: str) -> int:
        """Return how many bytes the body has."""
        without = Form(self.fields, [(name, file_name, b"") for name, file_name, _ in self.files])
        sizes = (len(it) if isinstance(it, bytes) else it.stat().st_size for _, _, it in self.files)
        return sum(map(len, without.encoded(boundary))) + sum(sizes)


def _quoted(name: str) -> str:
    """Return a name as browsers write it between quotes."""
    return name.replace("\\", "/").replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _chunks(content: Content) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


# --- the machine --------------------------------------------------------------------------------------------

# Lines of lscpu that hold for a moment, and would make each upload another one.
_OF_THE_MOMENT = re.compile(r"\s*(?:CPU [a-z ]*MHz|CPU\(s\) scaling MHz|BogoMIPS|Flags):")
_CPUS = "/sys/devices/system/cpu"
# A host name that was made for one container.
_MADE_UP_NAME = re.compile(r"[0-9a-f]{12}|localhost|runner-.*-project-[0-9]+-concurrent-[0-9]+.*")


def machine_facts() -> dict[str, dict[str, Any]]:
    """Return what is known of this machine, as ``hardware`` and ``environment`` of a meta.

    Hardware is what the machine is, environment how it is set: kernel, governor. What cannot be read is left
    out.
    """
    governors = {_text(path) for path in glob.glob(f"{_CPUS}/cpu[0-9]*/cpufreq/scaling_governor")}  # noqa: PTH207
    boost = {"0": "1", "1": "0"}.get(_text(f"{_CPUS}/intel_pstate/no_turbo")) or _text(
        f"{_CPUS}/cpufreq/boost"
    )
    facts = {
        "hardware": {"arch": platform.machine(), "instance_type": instance_type(), **_hardware()},
        "environment": {
            "kernel": platform.release() if platform.system() != "Windows" else "",
            "os": _os_name(),
            "governor": ", ".join(sorted(filter(None, governors))),
            "boost": {"1": "on", "0": "off"}.get(boost, ""),
            "transparent_hugepage": _match(
                r"\[([^\]]+)\]", _text("/sys/kernel/mm/transparent_hugepage/enabled")
            ),
        },
    }
    return {
        kind: {name: value for name, value in values.items() if value not in (None, "")}
        for kind, values in facts.items()
    }


def machine_files() -> Files:
    """Return what tools print about this machine, as companions of an upload."""
    lines = [f"{line}\n" for line in _printed("lscpu").splitlines() if not _OF_THE_MOMENT.match(line)]
    return [("companion", "lscpu.txt", "".join(lines).encode())] if lines else []


def instance_type() -> str:
    """Return the type of a virtual machine of Amazon EC2, which its firmware tells; empty elsewhere."""
    is_ec2 = _text("/sys/class/dmi/id/sys_vendor") == "Amazon EC2"
    return _match(r"^([a-z0-9-]+\.[a-z0-9-]+)$", _text("/sys/class/dmi/id/product_name")) if is_ec2 else ""


def hardware_name(variables: Mapping[str, str]) -> str:
    """Return a name for this machine that is the same at the next job. Raises ClientError.

    Results of one name are held against each other, so machines that are made anew for each job are named
    for their kind, and a machine that stays by its own name.
    """
    cpus = os.cpu_count() or 1
    if variables.get("RUNNER_ENVIRONMENT") == "github-hosted":
        system = variables.get("ImageOS") or variables.get("RUNNER_OS", "")
        return f"github-{system}-{variables.get('RUNNER_ARCH', platform.machine())}-{cpus}cpu".lower()
    if kind := instance_type():
        return f"ec2-{kind}"
    host = platform.node().split(".")[0].lower()
    in_cluster = bool(variables.get("KUBERNETES_SERVICE_HOST"))
    if host and not in_cluster and not _MADE_UP_NAME.fullmatch(host):
        return host
    if description := variables.get("CI_RUNNER_DESCRIPTION"):
        # GitLab's own are called 3-blue.saas-linux-small-amd64.runners-manager.gitlab.com/default.
        name = re.sub(r"^[0-9]+-[a-z]+\.(?=saas-)|\.runners-manager\.gitlab\.com.*$", "", description)
        return f"gitlab-{name}"
    if agent := variables.get("NODE_NAME") if variables.get("JENKINS_URL") else "":
        return agent
    raise ClientError(
        f"--hardware auto finds no name that lasts: '{host}' is the name of a container. Name the machine,"
        " for example --hardware bench-01"
    )


def _hardware() -> dict[str, Any]:
    """Return CPUs, memory and model, from /proc and the firmware or from sysctl of macOS."""
    if platform.system() == "Darwin":
        memory = _printed("sysctl", "-n", "hw.memsize")
        return {
            "cpus": os.cpu_count(),
            "ram_kib": int(memory) // 1024 if memory.isdigit() else None,
            "cpu_model": _printed("sysctl", "-n", "machdep.cpu.brand_string"),
            "model": _printed("sysctl", "-n", "hw.model"),
        }
    memory = _match(r"^MemTotal:\s*([0-9]+) kB$", _text("/proc/meminfo"))
    names = (_text(f"/sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name"))
    return {
        "cpus": os.cpu_count(),
        "ram_kib": int(memory) if memory else None,
        "cpu_model": _match(r"^model name\s*:\s*(\S.*)$", _text("/proc/cpuinfo")),
        "model": " ".join(filter(None, names)),
    }


def _os_name() -> str:
    """Return the name of a distribution or system with its version."""
    if platform.system() == "Linux":
        return _match(r'^PRETTY_NAME="?([^"\n]*)', _text("/etc/os-release"))
    if platform.system() == "Darwin":
        return f"macOS {platform.mac_ver()[0]}".strip()
    return f"{platform.system()} {platform.version()}".strip()


def _match(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else ""


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _printed(*command: str) -> str:
    """Return what a program prints in English; nothing where it is missing or fails."""
    try:
        ended = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ended.stdout.decode(errors="replace").strip()


# --- continuous integration ---------------------------------------------------------------------------------

_COMMIT = re.compile(r"[0-9a-fA-F]{7,40}")


class Job(NamedTuple):
    """A job of continuous integration: the system, fields of an upload, and a link to the job."""

    system: str
    fields: dict[str, str]
    url: str = ""


def job_of(variables: Mapping[str, str]) -> Job | None:
    """Return the job in which this program runs; None where it runs in none that is known."""

    def value(name: str) -> str:
        return variables.get(name, "")

    readers = {
        "GITHUB_ACTIONS": _github_job,
        "GITLAB_CI": _gitlab_job,
        "JENKINS_URL": _jenkins_job,
        "BUILDBOT_REVISION": _buildbot_job,
    }
    for name, read in readers.items():
        if value(name):
            job = read(value)
            # Results of a pull request are of no branch; others are merged nowhere.
            surplus = "branch" if job.fields["pull_request"] else "base_branch"
            fields = {**job.fields, "branch": _branch(job.fields["branch"]), surplus: ""}
            if not _COMMIT.fullmatch(fields["commit"]):
                fields["commit"] = ""
            return job._replace(fields={name: value for name, value in fields.items() if value})
    return None


def _branch(ref: str) -> str:
    """Return the name of a branch; empty for a detached checkout, which names none."""
    name = re.sub(r"^(?:(?:refs/)?(?:heads|remotes/origin)/|origin/)+", "", ref)
    return "" if name in ("HEAD", "detached") else name


def _github_job(value: Callable[[str], str]) -> Job:
    """Take the commit of a pull request from the event: GITHUB_SHA is a merge that nobody wrote."""
    is_pull = value("GITHUB_EVENT_NAME").startswith("pull_request")
    event = ServerAnswer(0, _text(value("GITHUB_EVENT_PATH")).encode()).body if is_pull else {}
    pull = _object(event.get("pull_request"))
    fields = {
        "commit": str(_object(pull.get("head")).get("sha", "")) if is_pull else value("GITHUB_SHA"),
        "branch": value("GITHUB_REF_NAME") if value("GITHUB_REF_TYPE") in ("", "branch") else "",
        "pull_request": str(pull.get("number") or ""),
        "base_branch": value("GITHUB_BASE_REF"),
    }
    url = f"{value('GITHUB_SERVER_URL')}/{value('GITHUB_REPOSITORY')}/actions/runs/{value('GITHUB_RUN_ID')}"
    return Job("GitHub Actions", fields, url)


def _gitlab_job(value: Callable[[str], str]) -> Job:
    """Take the commit that was pushed: of a pipeline for merged results CI_COMMIT_SHA is a merge."""
    pushed = value("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")
    fields = {
        "commit": pushed or value("CI_COMMIT_SHA"),
        "committed_at": "" if pushed else value("CI_COMMIT_TIMESTAMP"),
        "branch": value("CI_COMMIT_BRANCH"),
        "pull_request": value("CI_MERGE_REQUEST_IID"),
        "base_branch": value("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
    }
    return Job("GitLab CI", fields, value("CI_JOB_URL"))


def _jenkins_job(value: Callable[[str], str]) -> Job:
    """Take GIT_COMMIT, which may be a merge of a change with its target: Jenkins does not tell them apart."""
    fields = {
        "commit": value("GIT_COMMIT"),
        "branch": "" if value("TAG_NAME") else value("BRANCH_NAME") or value("GIT_BRANCH"),
        "pull_request": value("CHANGE_ID"),
        "base_branch": value("CHANGE_TARGET"),
    }
    return Job("Jenkins", fields, value("BUILD_URL"))


def _buildbot_job(value: Callable[[str], str]) -> Job:
    """Buildbot sets no variables by itself: the page on the client has the step that does."""
    fields = {
        "commit": value("BUILDBOT_REVISION"),
        "branch": value("BUILDBOT_BRANCH"),
        "pull_request": value("BUILDBOT_PULL_REQUEST"),
        "base_branch": value("BUILDBOT_BASE_BRANCH"),
    }
    return Job("Buildbot", fields, value("BUILDBOT_BUILD_URL"))


def git_fields() -> dict[str, str]:
    """Return commit, time and branch of the checkout in the working directory. Raises ClientError."""
    words = _printed("git", "log", "-1", "--format=%H %cI").split()
    if len(words) != 2:
        raise ClientError("--commit git: the working directory is no checkout of git, or git is missing")
    branch = _printed("git", "rev-parse", "--abbrev-ref", "HEAD")
    return {"commit": words[0], "committed_at": words[1], "branch": _branch(branch)}


def _time_of_commit(commit: str) -> str:
    """Return when a commit was made, where the working directory has it."""
    return _printed("git", "show", "-s", "--format=%cI", f"{commit}^{{commit}}", "--")


# --- the spool ----------------------------------------------------------------------------------------------

ITEM_FILE = "item.json"
REFUSED_FOLDER = "refused"
REASON_FILE = "reason.txt"
_BEGUN = ".begun-"


def spool_folder(options: argparse.Namespace) -> Path:
    """Return the folder in which uploads wait for a server that answers."""
    given = options.spool or os.environ.get("BENCHDASH_SPOOL")
    if given:
        return Path(given).expanduser()
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local/state") / "benchdash/spool"


class Item(NamedTuple):
    """An upload, which is kept in a folder of the spool until the server has taken or refused it.

    ``key`` is the same for each try, by which the server knows it again; ``kept_at`` is when it was first to
    be sent, in seconds since 1970. ``token_hash`` tells the token it was for from others, which
    may be those of other projects. ``lock`` is open as long as this process deals with it. Without room for
    the spool there is no folder.
    """

    label: str
    url: str
    key: str
    kept_at: float
    token_hash: str
    form: Form
    folder: Path | None = None
    lock: BinaryIO | None = None

    def release(self) -> None:
        """Leave it to other processes."""
        if self.lock:
            self.lock.close()

    def remove(self) -> None:
        """Forget it; once its description is gone, what is left is no item any more."""
        if self.folder:
            (self.folder / ITEM_FILE).unlink()
            self.release()
            shutil.rmtree(self.folder, ignore_errors=True)

    def set_aside(self, reason: str) -> Path:
        """Move it to the refused ones, with the reason, and return where it is."""
        folder = cast("Path", self.folder)
        (folder / REASON_FILE).write_text(reason + "\n", encoding="utf-8")
        refused = folder.parent / REFUSED_FOLDER
        refused.mkdir(mode=0o700, exist_ok=True)
        self.release()
        return folder.rename(refused / folder.name)


def hash_of(token: str) -> str:
    """Return what tells a token from others, and gives nobody a token."""
    return hashlib.sha256(token.encode()).hexdigest()[:16]


def keep(spool: Path, item: Item) -> Item:
    """Write an upload to the spool: all of it, or nothing. Raises OSError.

    The token is not written. It is complete under its own name before anybody sends it.
    """
    spool.mkdir(mode=0o700, parents=True, exist_ok=True)
    begun = spool / f"{_BEGUN}{item.key}"
    begun.mkdir(mode=0o700)
    try:
        files = []
        for number, (name, file_name, content) in enumerate(item.form.files):
            files.append({"name": name, "file_name": file_name, "stored": str(number)})
            _write(begun / str(number), content)
        description = {name: getattr(item, name) for name in ("label", "url", "key", "kept_at", "token_hash")}
        description.update(fields=item.form.fields, files=files)
        _write(begun / ITEM_FILE, json.dumps(description, indent=1).encode())
        # Locked before others see it; Windows renames no folder in which a file is open.
        lock = _locked(begun / ITEM_FILE) if fcntl else None
        folder = spool / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(item.kept_at))}-{item.key[:8]}"
        begun.rename(folder)
        _settle(spool)
    except BaseException:
        shutil.rmtree(begun, ignore_errors=True)
        raise
    return _item_of(folder, description, lock or (folder / ITEM_FILE).open("r+b"))


def kept_items(spool: Path) -> list[Path]:
    """Return the folders of what is kept, oldest first. Raises ClientError."""
    try:
        return sorted(folder for folder in spool.iterdir() if (folder / ITEM_FILE).exists())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ClientError(f"the spool {spool} cannot be read: {error.strerror}") from None


def take(folder: Path) -> Item | None:
    """Return an item with its lock; None where another process deals with it or has sent it.

    Raises ClientError for one that is damaged.
    """
    try:
        lock = _locked(folder / ITEM_FILE)
        if lock is None:
            return None
        if not (folder / ITEM_FILE).exists():
            lock.close()
            return None
        return _item_of(folder, json.loads((folder / ITEM_FILE).read_text(encoding="utf-8")), lock)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClientError(f"{folder} cannot be read: {error}") from None


def clear_begun(spool: Path) -> None:
    """Remove what was never complete: its writer was ended more than a day ago, before it sent anything."""
    for folder in spool.glob(f"{_BEGUN}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > 24 * 3600:
                shutil.rmtree(folder, ignore_errors=True)


def _item_of(folder: Path, description: dict[str, Any], lock: BinaryIO) -> Item:
    values = dict(description)
    fields = [(name, value) for name, value in values.pop("fields")]
    files = [(file["name"], file["file_name"], folder / file["stored"]) for file in values.pop("files")]
    return Item(**values, form=Form(fields, cast("Files", files)), folder=folder, lock=lock)


def _write(path: Path, content: Content) -> None:
    """Write a file so that it is there even after the power failed."""
    with path.open("wb") as file:
        file.writelines(_chunks(content))
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Write the names in a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(str(folder), os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _locked(path: Path) -> BinaryIO | None:
    """Open a file and lock it against other processes; None where one has it.

    The lock goes with the process, however that ends. Where nothing locks, two may send the same, which the
    server takes for one.
    """
    file = path.open("r+b")
    if fcntl is not None:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        except OSError:
            pass
    return file


# --- delivery -----------------------------------------------------------------------------------------------

DEFAULT_RETRY_FOR_S = 60.0
MAX_PAUSE_S = 30.0
SENT, REFUSED, KEPT, FAILED = "sent", "refused", "kept", "failed"


class Delivery(NamedTuple):
    """The fate of an upload.

    ``fate`` is SENT; REFUSED for good; KEPT in the spool because the server does not answer or cannot take it
    now; or FAILED, where the sender must do something (a wrong token or address) or it could not be kept:
    ``folder`` is where it is kept, if it is. ``sentence`` says what went wrong.
    """

    label: str
    fate: str
    answer: ServerAnswer | None = None
    sentence: str = ""
    folder: Path | None = None

    def exit_code(self, options: argparse.Namespace) -> int:
        """Return how the command ends. A kept file is not lost, so it is an error only for the strict."""
        is_fine = self.fate == SENT or (self.fate == KEPT and not options.strict)
        return EXIT_FINE if is_fine else EXIT_ERROR


def deliver(form: Form, options: argparse.Namespace, label: str, *, keeps_refused: bool = False) -> Delivery:
    """Upload, or keep in the spool until ``benchdash flush``; ``label`` is what the upload is called here.

    It is kept before it is sent, so that nothing is lost however this program ends. Raises ClientError where
    no server is named.
    """
    server = server_of(options)
    item = Item(label, server.url, uuid.uuid4().hex, time.time(), hash_of(server.token), form)
    try:
        item = keep(spool_folder(options), item)
    except OSError as error:
        note(f"{label} cannot be kept in {spool_folder(options)} ({_reason(error)}) and is sent without")
    delivery = send(item, server, options, keeps_refused=keeps_refused)
    if delivery.fate == KEPT:
        options.retry_for = 0.0  # the next file need not wait for the same server
    return delivery


def send(item: Item, server: Server, options: argparse.Namespace, *, keeps_refused: bool) -> Delivery:
    """Send an item, and forget it once it is sent or refused, unless what is refused is to be set aside."""
    delivery = answer_to(item, server, options)
    if delivery.fate == REFUSED and keeps_refused and item.folder:
        return delivery._replace(folder=item.set_aside(delivery.sentence))
    if delivery.fate in (SENT, REFUSED):
        item.remove()
        return delivery._replace(folder=None)
    item.release()
    return delivery


def answer_to(item: Item, server: Server, options: argparse.Namespace) -> Delivery:
    """Try until the server has answered, or the time for it is over."""
    pauses = Pauses(options.retry_for, 1.0, MAX_PAUSE_S)
    while True:
        answer = None
        try:
            waited_s = time.time() - item.kept_at
            answer = server.upload(item.form, key=item.key, label=item.label, waited_s=waited_s)
            if answer.is_success:
                return Delivery(item.label, SENT, answer)
            trouble = answer.sentence()
        except NoAnswerError as error:
            trouble = str(error)
        retry_after_s = answer.retry_after_s if answer else None
        is_being_sent = answer and answer.status == 409 and retry_after_s is not None
        if answer and answer.status not in _PASSING and not is_being_sent:
            is_about_it = answer.status in _FINAL and bool(answer.body)
            return Delivery(item.label, REFUSED if is_about_it else FAILED, answer, trouble, item.folder)
        wait = max(retry_after_s or 0.0, pauses.next_s() * random.uniform(0.7, 1.3))  # noqa: S311
        if wait > pauses.left_s:
            return Delivery(item.label, KEPT if item.folder else FAILED, answer, trouble, item.folder)
        note(f"{item.label}: {trouble}; trying again in {wait:.0f} s")
        time.sleep(wait)


def _on_one_line(text: str) -> str:
    """Return a name fit to be printed: without line ends, and without bytes that are no text."""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return shown.encode(errors="replace").decode()


def wait_for(delivery: Delivery, options: argparse.Namespace) -> Delivery:
    """Wait until an upload that was sent is imported and analysed, for ``options.wait`` seconds at most.

    Raises ClientError where it takes longer.
    """
    number = delivery.answer.body.get("id") if delivery.answer else None
    if number is None:
        return delivery
    label = f"{delivery.label} is sent, but"
    answer = completed(server_of(options), f"uploads/{number}/", [], options.wait, label)
    if answer.body["state"] != "refused":
        return delivery._replace(answer=answer)
    files = answer.body.get("files") or []
    sentence = errors_sentence([error for file in files[:10] for error in file.get("errors") or []])
    return delivery._replace(fate=REFUSED, answer=answer, sentence=sentence or "the file")


def tell(delivery: Delivery, *, as_json: bool = False) -> None:
    """Print what became of an upload on one line, and what the server warned of."""
    label, body = _on_one_line(delivery.label), delivery.answer.body if delivery.answer else {}
    if as_json:
        kept = str(delivery.folder) if delivery.folder else None
        line = {"file": label, "fate": delivery.fate, "error": delivery.sentence or None, "kept": kept}
        print(json.dumps({**line, "answer": body or None}), flush=True)
    elif delivery.fate == SENT:
        runs = body.get("runs", [])
        count = f", {len(runs)} run{'' if len(runs) == 1 else 's'}" if runs else ""
        again = ", sent before" if body.get("duplicate") else ""
        page = f", {body['page']}" if body.get("page") else ""
        print(f"{label}: {body.get('state')}{again}{count}{page}", flush=True)
    if delivery.fate == SENT:
        for warning in body.get("warnings", []):
            note(f"{label}: {_on_one_line(str(warning))}")
        return
    where = {
        KEPT: f"; it is kept in {delivery.folder}, and 'benchdash flush' sends it",
        FAILED: f"; it is kept in {delivery.folder}: 'benchdash flush' takes --url and --any-token",
        REFUSED: f"; it is set aside in {delivery.folder}",
    }
    refused = "refused: " if delivery.fate == REFUSED else ""
    note(f"{label}: {refused}{delivery.sentence}{where[delivery.fate] if delivery.folder else ''}")


# --- upload -------------------------------------------------------------------------------------------------

# Fields of an upload that are an option of the same name, with "-" for "_".
TEXT_FIELDS = (
    *("project", "product", "version", "build", "commit", "committed_at", "branch", "pull_request"),
    *("base_branch", "hardware", "configuration", "counterpart", "workload", "threads", "started_at"),
    *("repetition", "session", "metric", "notes", "format"),
)
JSON_FIELDS = ("map", "metrics")
AUTO, NONE, GIT = "auto", "none", "git"
_HELP = {
    "commit": "a commit; 'git': that of the working directory; 'none': no commit, also where CI names one",
    "hardware": "name of the machine; 'auto': this one, with its facts",
    "project": "by default that of the token",
    "started_at": "when it was measured, where the file does not say it",
}
# Fields by which a job of CI names the version.
_OF_THE_COMMIT = ("commit", "committed_at", "branch", "pull_request", "base_branch")
META_SUFFIX = ".meta.json"


def add_field_options(parser: argparse.ArgumentParser) -> None:
    """Add what may be said of a result that its file cannot say, and how an upload is sent and kept."""
    add = parser.add_argument
    for name in TEXT_FIELDS:
        add(f"--{name.replace('_', '-')}", metavar="TEXT", help=_HELP.get(name))
    for name in JSON_FIELDS:
        add(f"--{name}", metavar="FILE", help="a file with JSON, or the JSON itself")
    add("--tag", action="append", default=[], dest="tags", metavar="TEXT", help="may be repeated")
    add("--field", action="append", default=[], metavar="NAME=VALUE", help="any field; may be repeated")
    add("--meta", metavar="FILE", help="JSON with what else is known")
    add("--companion", action="append", default=[], metavar="FILE", help="output of vmstat and the like")
    add("--configuration-file", action="append", default=[], metavar="FILE", help="my.cnf and the like")
    add("--facts", action="store_true", default=None, help="facts of this machine; --hardware auto has them")
    add("--no-facts", action="store_false", dest="facts", help="no facts of this machine")
    add_delivery_options(parser)


def add_delivery_options(parser: argparse.ArgumentParser) -> None:
    """Add how an upload is sent and kept."""
    add = parser.add_argument
    add("--spool", metavar="FOLDER", help="where uploads wait for the server (BENCHDASH_SPOOL)")
    seconds = DEFAULT_RETRY_FOR_S
    add("--retry-for", type=float, default=seconds, metavar="SECONDS", help="try again so long (60)")
    add("--strict", action="store_true", help="end with 3 also where an upload is only kept in the spool")


def fields_of(options: argparse.Namespace, meta: dict[str, Any]) -> Fields:
    """Return the fields that are given as options, then what CI says that is not in ``meta``.

    Raises ClientError.
    """
    given = {name: getattr(options, name) for name in TEXT_FIELDS if getattr(options, name) is not None}
    for pair in options.field:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ClientError(f"--field {pair}: write NAME=VALUE")
        given[name.strip().replace("-", "_")] = value
    for name in JSON_FIELDS:
        if text := getattr(options, name):
            given[name] = json.dumps(_json_of(f"--{name}", text))
    if given.get("hardware") == AUTO:
        given["hardware"] = hardware_name(os.environ)
    of_commit = _fields_of_commit(given, set(meta))
    return [*{**of_commit, **given}.items(), *(("tags", tag) for tag in options.tags)]


def _fields_of_commit(given: dict[str, str], in_meta: set[str]) -> dict[str, str]:
    """Return what git or CI says of the version; take their words ``git`` and ``none`` out of ``given``."""
    commit = given.get("commit", "")
    if commit in (NONE, GIT):
        del given["commit"]
    if commit == NONE:
        return {}
    stated = in_meta.union(given)
    if commit == GIT:
        fields, source = git_fields(), "git"
        if not fields["branch"] and "branch" not in stated:
            note_once("the checkout is detached and names no branch: say --branch, or it is a release")
    else:
        job = job_of(os.environ)
        # CI knows nothing of another commit than the one that was named.
        if (
            not job
            or "commit" in in_meta
            or not job.fields.get("commit", "").lower().startswith(commit.lower())
        ):
            return {}
        fields, source = dict(job.fields), job.system
        if "commit" in fields and "commit" not in stated and "committed_at" not in fields:
            fields["committed_at"] = _time_of_commit(fields["commit"])
        if job.url:
            fields["notes"] = f"{source}: {job.url}"
    fields = {name: value for name, value in fields.items() if value and name not in stated}
    if words := ", ".join(f"{name} {value}" for name, value in fields.items() if name in _OF_THE_COMMIT):
        note_once(f"from {source}: {words}")
    return fields


def form_of(file_name: str, content: Content, meta: dict[str, Any], options: argparse.Namespace) -> Form:
    """Return an upload with all that is said of it. Raises ClientError.

    Facts of this machine belong to it where it is the one that was measured on, which is known with
    ``--hardware auto`` and ``--facts``; a name alone may be that of another. The meta of the sender wins.
    """
    files: Files = [("file", file_name, content)]
    for name in ("companion", "configuration_file"):
        files += [(name, Path(path).name, readable(path)) for path in getattr(options, name)]
    fields = fields_of(options, meta)
    if options.hardware == AUTO if options.facts is None else options.facts:
        facts, named = machine_facts(), meta.get("hardware")
        hardware = named if isinstance(named, dict) else {"name": named} if named else {}
        meta = {
            **meta,
            "hardware": {**facts["hardware"], **hardware},
            "environment": {**facts["environment"], **_object(meta.get("environment"))},
        }
        files += [] if any(Path(name).stem == "lscpu" for _, name, _ in files) else machine_files()
    return Form([*fields, ("meta", json.dumps(meta))] if meta else fields, files)


def upload(options: argparse.Namespace) -> int:
    """Send each file with the same fields."""
    server_of(options)
    ends = [EXIT_FINE]
    for path in options.files:
        try:
            delivery = _upload_file(path, options)
        except ClientError as error:  # noqa: PERF203 - one bad file does not stop the rest
            note(_on_one_line(str(error)))
            ends.append(EXIT_ERROR)
        else:
            tell(delivery, as_json=options.json)
            ends.append(delivery.exit_code(options))
    return max(ends)


def _upload_file(path: str, options: argparse.Namespace) -> Delivery:
    """Send a file and, where that was asked for, wait for it. Raises ClientError."""
    with contextlib.ExitStack() as stack:
        label = "standard input" if path == "-" else path
        form = form_of(*_result(path, options, stack), options)
        form.fields.extend(_upload_fields(options))
        if options.dry_run:
            answer = server_of(options).upload(form, key=uuid.uuid4().hex)
            if answer.is_success:
                return Delivery(label, SENT, answer)
            fate = REFUSED if answer.status in _FINAL else FAILED
            return Delivery(label, fate, answer, answer.sentence())
        delivery = deliver(form, options, label)
    is_awaited = options.wait is not None and delivery.fate == SENT
    return wait_for(delivery, options) if is_awaited else delivery


def _upload_fields(options: argparse.Namespace) -> Fields:
    """Return the fields that only ``upload`` has."""
    fields = [("control", "true")] * options.control + [("dry_run", "1")] * options.dry_run
    fields += [("pattern", options.pattern)] * bool(options.pattern)
    fields += [("companion_pattern", pattern) for pattern in options.companion_pattern]
    if options.path_map:
        fields.append(("path_map", json.dumps(_json_of("--path-map", options.path_map))))
    return fields


def _result(
    path: str, options: argparse.Namespace, stack: contextlib.ExitStack
) -> tuple[str, Content, dict[str, Any]]:
    """Read what is to be sent: a file, a folder as an archive, or standard input. Raises ClientError."""
    file, meta = Path(path), _json_of("--meta", options.meta)
    content: Content
    if path == "-":
        name, content = "stdin.txt", sys.stdin.buffer.read()
    elif file.is_dir():
        name, content = f"{file.resolve().name}.tar.gz", packed(file, stack)
    else:
        name, content = file.name, readable(path)
        for beside in dict.fromkeys((file.with_suffix(META_SUFFIX), Path(path + META_SUFFIX))):
            if beside.is_file():
                meta = {**_json_of(str(beside), str(beside)), **meta}
    return options.name or name, content, meta


def readable(path: str) -> Path:
    """Return the path of a file that can be read and holds something. Raises ClientError."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            if not opened.read(1):
                raise ClientError(f"{path} is empty")
    except OSError as error:
        raise ClientError(f"{path}: {error.strerror}") from None
    return file


def packed(folder: Path, stack: contextlib.ExitStack) -> Path:
    """Pack a folder as an archive, the same bytes each time, until the stack ends. Raises ClientError."""
    temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchdash-")))
    archive = temporary / "folder.tar.gz"
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    if not paths:
        raise ClientError(f"{folder} has no files")
    try:
        with gzip.GzipFile(str(archive), "wb", mtime=0) as packing, tarfile.open(
            fileobj=packing, mode="w"
        ) as archived:
            for path in paths:
                archived.add(str(path), str(path.relative_to(folder)), recursive=False, filter=_nobody)
    except OSError as error:
        raise ClientError(f"{error.filename or folder}: {error.strerror}") from None
    return archive


def _nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Take the owner out, who is nobody's business and no part of a result."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _json_of(name: str, given: str | None) -> dict[str, Any]:
    """Return a JSON object that is given as such or as a file; empty without. Raises ClientError."""
    if not given:
        return {}
    try:
        is_json = given.lstrip().startswith("{")
        value = json.loads(given if is_json else Path(given).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ClientError(f"{name}: {_reason(error)}") from None
    except ValueError as error:
        raise ClientError(f"{name} is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise ClientError(f"{name} must hold a JSON object")
    return value


def add_upload_options(parser: argparse.ArgumentParser) -> None:
    """Add which files are sent, and how."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="a file, a folder, or - for standard input")
    add("--name", metavar="TEXT", help="what the file is called at the server")
    add("--control", action="store_true", help="a build that never changes")
    add("--pattern", metavar="TEXT", help="what names in a folder or archive say: {version}/{workload}.txt")
    add("--path-map", metavar="FILE", help="JSON: what parts of those names mean")
    add("--companion-pattern", action="append", default=[], metavar="TEXT")
    add("--dry-run", action="store_true", help="say what it would become and store nothing")
    add("--wait", type=float, nargs="?", const=600.0, metavar="SECONDS", help="until it is analysed (600)")
    add("--json", action="store_true", help="print a line of JSON for each file")
    parser.set_defaults(command=upload)


# --- flush --------------------------------------------------------------------------------------------------


def flush(options: argparse.Namespace) -> int:
    """Send what is kept, oldest first; what is refused for good is set aside with the reason."""
    spool = spool_folder(options)
    clear_begun(spool)
    folders = kept_items(spool)
    if options.list:
        for folder in folders:
            item = json.loads((folder / ITEM_FILE).read_text(encoding="utf-8"))
            print(f"{folder}: {_on_one_line(item['label'])} for {item['url']}")
        return EXIT_FINE
    fates = []
    silent: set[str] = set()
    for folder in folders:
        try:
            item = take(folder)
        except ClientError as error:
            note(str(error))
            fates.append(FAILED)
            continue
        if item is not None:
            fates.append(_flush_item(item, silent, options))
            item.release()
    sent, refused = fates.count(SENT), fates.count(REFUSED)
    if fates or sys.stdout.isatty():
        print(f"{sent} sent, {len(fates) - sent - refused} left, {refused} refused", flush=True)
    return EXIT_FINE if sent == len(fates) else EXIT_ERROR


def _flush_item(item: Item, silent: set[str], options: argparse.Namespace) -> str:
    """Send an item unless its server was ``silent`` before; return its fate."""
    address = options.url or item.url
    server = server_of(argparse.Namespace(**{**vars(options), "url": address}))
    if item.token_hash != hash_of(server.token) and not options.any_token:
        note(
            f"{item.folder} ({_on_one_line(item.label)}) was for another token, maybe that of another"
            " project; --any-token sends it with this one"
        )
        return KEPT
    if address in silent:
        return KEPT
    delivery = send(item, server, options, keeps_refused=True)
    if delivery.fate not in (SENT, REFUSED):
        silent.add(address)  # the others would meet the same
    tell(delivery)
    return delivery.fate


def add_flush_options(parser: argparse.ArgumentParser) -> None:
    """Add what is flushed."""
    add = parser.add_argument
    add("--list", action="store_true", help="name what is kept and send nothing")
    add("--any-token", action="store_true", help="send also what was to be sent with another token")
    parser.set_defaults(command=flush)


# --- run ----------------------------------------------------------------------------------------------------

SESSION_VARIABLE = "BENCHDASH_SESSION"
# Output after the end of its command is no part of the result.
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

    @property
    def program(self) -> str:
        """The name of the program that it runs."""
        words = self.command.split() if isinstance(self.command, str) else self.command
        return re.sub(r"[^\w.+-]", "_", Path(words[0]).name) or "command"


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
        for number, session in enumerate(sessions, 1):
            if number > 1 and options.pause:
                note(f"{options.pause:g} s until the next session")
                commands.pause(options.pause)
            if len(order) > 1 or len(sessions) > 1:
                note(f"session {number} of {len(sessions)}: {session}")
            ends.append(measure_session(order, session, options, commands))
    return max(ends)


def measure_session(
    order: Sequence[Side], session: str, options: argparse.Namespace, commands: Commands
) -> int:
    """Measure one session and send its runs: all of them, or none where one failed."""
    with tempfile.TemporaryDirectory(prefix="benchdash-") as folder:
        runs = []
        for number, side in enumerate(order, 1):
            if len(order) > 1:
                note(f"{number} of {len(order)}, {side.name}: {side.line}")
            runs.append(measure(side, Path(folder) / str(number), options, commands))
        with commands.held_back():
            return max(
                send_run(measured, number, session, options) for number, measured in enumerate(runs, 1)
            )


def measure(side: Side, folder: Path, options: argparse.Namespace, commands: Commands) -> Measured:
    """Run a command to its end, and keep what it printed or wrote. Raises ClientError where it failed."""
    folder.mkdir()
    written = Path(options.output) if options.output else None
    before = state_of_file(written) if written else None
    result = folder / (written.name if written else f"{side.program}.txt")
    sampler = Sampler() if options.sample else None
    started_at = datetime.now(timezone.utc)
    if sampler:
        sampler.start()
    try:
        end = commands.run(side.command, None if written else result, with_stderr=options.with_stderr)
    finally:
        samples = sampler.stop() if sampler else b""
    ended_at = datetime.now(timezone.utc)
    trouble = ""
    if commands.signal:
        raise StoppedError(f"stopped by {commands.signal}; nothing of this session was sent")
    if end:
        how = f"was ended by {signal_name(-end)}" if end < 0 else f"ended with {end}"
        trouble = f"{side.program} {how}"
    elif written and state_of_file(written) in (None, before):
        trouble = f"{side.program} did not write {written}"
    elif written:
        shutil.copyfile(written, result)
        trouble = "" if result.stat().st_size else f"{written} is empty"
    elif not result.stat().st_size:
        trouble = f"{side.program} printed nothing; where it writes a file, name it with --output"
    if trouble:
        raise ClientError(f"{trouble}; nothing of this session was sent")
    return Measured(side, result, samples, started_at, ended_at)


def send_run(measured: Measured, number: int, session: str, options: argparse.Namespace) -> int:
    """Send one run with what is known of it."""
    side = measured.side
    meta = {
        **_json_of("--meta", options.meta),
        "command": side.line,
        "finished_at": measured.ended_at.isoformat(),
    }
    form = form_of(measured.result.name, measured.result, meta, options)
    given = dict(form.fields)
    own = {"started_at": measured.started_at.isoformat(), "session": session, **side.fields}
    if own.get("commit") and given.get("base_branch"):
        own["branch"] = given["base_branch"]
    own["repetition"] = given.get("repetition") or str(number)
    fields = [(name, value) for name, value in form.fields if name not in own]
    fields += [(name, value) for name, value in own.items() if value is not None]
    samples: Files = [("companion", "vmstat.txt", measured.samples)] if measured.samples else []
    form = Form(fields, [*form.files, *samples])
    delivery = deliver(form, options, side.name, keeps_refused=True)
    tell(delivery)
    return delivery.exit_code(options)


def sides_of(options: argparse.Namespace) -> dict[str, Side]:
    """Return what is measured, ``tested`` and if there is one the ``other``. Raises ClientError."""
    if not options.words:
        raise ClientError("nothing to run: benchdash run --version ... -- COMMAND")
    sides = {"tested": Side("test", options.words, {})}
    if options.control and options.base:
        raise ClientError("--control and --base are both measured beside the test: choose one")
    for name in ("control_version", "base_version", "base_commit"):
        if getattr(options, name) and not getattr(options, name.partition("_")[0]):
            raise ClientError(f'--{name.replace("_", "-")} without --{name.partition("_")[0]} "COMMAND"')
    if options.control:
        if not options.control_version:
            raise ClientError("--control-version must say which version the control is")
        fields = {"commit": None, "committed_at": None, "control": "true", "version": options.control_version}
        sides["other"] = Side("control", options.control, fields)
    if options.base:
        sides["other"] = Side("base", options.base, base_fields(options))
    return sides


def base_fields(options: argparse.Namespace) -> dict[str, str | None]:
    """Return what the runs of the base are: a commit on its branch, or a release."""
    commit, version = options.base_commit, options.base_version
    if not commit and not version:
        raise ClientError("--base-commit or --base-version must say what the base is")
    fields: dict[str, str | None] = {
        "commit": commit,
        "committed_at": (_time_of_commit(commit) or None) if commit else None,
        "pull_request": None,
        "base_branch": None,
    }
    if version:
        fields["version"] = version
    return fields if commit else {**fields, "branch": None}


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
        fields = {**dict(fields_of(options, {})), **side.fields}
        print("     " + ", ".join(f"{name}={value}" for name, value in fields.items() if value is not None))


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
        self._pipe = cast("IO[bytes]", process.stdout)
        # Files by name, and the first error of each: after a failure the command must not stand still.
        self._files: dict[str, BinaryIO] = {"shown": sys.stdout.buffer}
        if kept:
            self._files["kept"] = kept.open("wb")
        self._errors: dict[str, Exception] = {}
        self._is_closed = threading.Event()
        self.start()

    def run(self) -> None:
        while chunk := os.read(self._pipe.fileno(), 65536):
            if self._is_closed.is_set():
                return
            for name, file in self._files.items():
                if name not in self._errors:
                    try:
                        file.write(chunk)
                        file.flush()
                    except (OSError, ValueError) as error:
                        self._errors[name] = error

    def close(self) -> None:
        """Stop. Raises ClientError where something could not be kept."""
        self.join(WAIT_FOR_OUTPUT_S)
        if self.is_alive():
            note("what the command started in the background still holds its output, which is not waited for")
        self._is_closed.set()
        if "kept" in self._errors:
            raise ClientError(f"what the command printed cannot be kept: {_reason(self._errors['kept'])}")


class Sampler(threading.Thread):
    """Looks at the machine each second, as ``vmstat -t 1`` does, and writes it as vmstat prints it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._is_over = threading.Event()
        self._lines: list[str] = []

    def run(self) -> None:
        try:
            # The first line of vmstat is an average since the machine started, which nobody reads.
            before = now = Counters.read()
            due = time.monotonic()
            while True:
                self._lines.append(now.line_since(before))
                due += SAMPLE_EVERY_S
                if self._is_over.wait(max(0.0, due - time.monotonic())):
                    return
                before, now = now, Counters.read()
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
    """Counts of Linux since it started, in the units of vmstat, and what it holds now."""

    at: float
    cpu: list[int]  # user, nice, system, idle, iowait, irq, softirq, steal
    counts: list[int]  # swapped in, swapped out (kB), read, written (kB), interrupts, context switches
    now: list[int]  # running, blocked, swap used, free, buffers, cache (kB)

    @classmethod
    def read(cls) -> Counters:
        """Raise OSError where there is no /proc."""
        stat, paging, memory = map(_counts_of, ("stat", "vmstat", "meminfo"))
        page_kb = os.sysconf("SC_PAGE_SIZE") // 1024
        counts = [
            *(page_kb * paging.get(name, [0])[0] for name in ("pswpin", "pswpout")),
            *(paging.get(name, [0])[0] for name in ("pgpgin", "pgpgout")),
            *(stat["intr"][0], stat["ctxt"][0]),
        ]
        swap, swap_free, free, buffers, cached, slab = (
            memory.get(name, [0])[0]
            for name in ("SwapTotal", "SwapFree", "MemFree", "Buffers", "Cached", "SReclaimable")
        )
        # The sampler itself runs just now.
        running, blocked = max(stat["procs_running"][0] - 1, 0), stat["procs_blocked"][0]
        now = [running, blocked, swap - swap_free, free, buffers, cached + slab]
        return cls(time.time(), [*stat["cpu"], *[0] * 8][:8], counts, now)

    def line_since(self, before: Counters) -> str:
        """Return the line of vmstat for the time since others were read."""
        seconds = max(self.at - before.at, 1e-3)
        rates = [round(max(b - a, 0) / seconds) for a, b in zip(before.counts, self.counts)]
        ticks = [max(b - a, 0) for a, b in zip(before.cpu, self.cpu)]
        user, nice, system, idle, wait, irq, soft, steal = ticks
        parts = (user + nice, system + irq + soft, idle, wait, steal)
        shares = [f"{100 * part / max(sum(ticks), 1):.1f}" for part in parts]
        clock = datetime.fromtimestamp(self.at, timezone.utc)
        return " ".join(map(str, [*self.now, *rates, *shares])) + f" {clock:%Y-%m-%d %H:%M:%S}"


def _counts_of(name: str) -> dict[str, list[int]]:
    """Return the numbers of a file of /proc by the first word of their line."""
    lines = map(str.split, Path("/proc", name).read_text().splitlines())
    return {words[0].rstrip(":"): [int(word) for word in words[1:] if word.isdigit()] for words in lines}


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
    parser.set_defaults(command=run, facts=True)


def positive(text: str) -> int:
    """Return a number from 1 on, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


# --- gate ---------------------------------------------------------------------------------------------------

_GATE_HELP = {
    "commit": "what to judge; 'git': that of the working directory; by default that of CI",
    "version": "a release to judge, in place of a commit",
    "base": "a commit, a release or a branch; the dashboard finds one without",
}
GATE_QUESTIONS = ("project", "product", "branch", "commit", "base", "version", "pull_request")
EXIT_OF_VERDICT = {"pass": EXIT_FINE, "fail": EXIT_REGRESSED, "unknown": EXIT_CANNOT_TELL}


def gate(options: argparse.Namespace) -> int:
    """Ask for the verdict, measure more where that was asked for, write it down, and end as it says."""
    server = server_of(options)
    question = gate_question(options)
    answer = completed(server, "gate/", question, options.timeout, "there is no verdict").body
    measured = 0
    while options.run_more and (wanted := min(missing_sessions(answer), options.max_more - measured)):
        for _ in range(wanted):
            measured += 1
            note(f"session {measured} of {options.max_more} at most: {without_secrets(options.run_more)}")
            measure_more(options)
        answer = completed(server, "gate/", question, options.timeout, "there is no verdict").body
    print(server.text("gate/", [*question, ("format", "txt")]), end="")
    write_verdict(server, question, answer, options)
    if answer["verdict"] == "unknown" and is_compared(answer) and options.unknown_is:
        return {"fine": EXIT_FINE, "fail": EXIT_REGRESSED}[options.unknown_is]
    return EXIT_OF_VERDICT[answer["verdict"]]


def gate_question(options: argparse.Namespace) -> Fields:
    """Return what is asked: what was said, and of a commit what CI knows of it. Raises ClientError."""
    given = {name: getattr(options, name) for name in GATE_QUESTIONS if getattr(options, name) is not None}
    if "version" not in given:
        fields = _fields_of_commit(given, set())
        given.update((name, fields[name]) for name in ("commit", "branch", "pull_request") if name in fields)
    if not {"version", "commit", "branch", "pull_request"}.intersection(given):
        raise ClientError("say what to judge: --commit, --branch, --pull-request or --version")
    return [*given.items(), *(("workload", workload) for workload in options.workload)]


def is_compared(answer: dict[str, Any]) -> bool:
    """Say whether something was measured that has something to be compared with."""
    return any(row["base"] for row in answer["rows"])


def missing_sessions(answer: dict[str, Any]) -> int:
    """Return how many sessions would settle the verdict: 0 where none is open or nobody can say it."""
    if answer["verdict"] != "unknown":
        return 0
    # The first session tells whether there is anything to compare.
    return answer["more_sessions"] or (0 if is_compared(answer) else 1)


def measure_more(options: argparse.Namespace) -> None:
    """Measure one session by the command of the user. Raises ClientError where it fails."""
    environment = {**os.environ, SESSION_VARIABLE: new_session_name(), "BENCHDASH_URL": options.url}
    if options.token:
        environment["BENCHDASH_TOKEN"] = options.token
    end = subprocess.run(options.run_more, shell=True, env=environment, check=False).returncode  # noqa: S602 - a line for the shell
    if end:
        raise ClientError(f"the command that measures more ended with {end}; there is no verdict")


def write_verdict(
    server: Server, question: Fields, answer: dict[str, Any], options: argparse.Namespace
) -> None:
    """Write the texts that were asked for; the server is who writes Markdown and JUnit."""
    if options.json:
        write_text(options.json, json.dumps(answer, indent=1) + "\n")
    for path, form in ((options.markdown, "md"), (options.junit, "junit")):
        if path:
            write_text(path, server.text("gate/", [*question, ("format", form)]))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if options.summary and summary:
        write_text(summary, server.text("gate/", [*question, ("format", "md")]) + "\n", mode="a")


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
        add(f"--{name.replace('_', '-')}", metavar="TEXT", help=_GATE_HELP.get(name))
    workload_help = "only this one counts; may be repeated"
    add("--workload", action="append", default=[], metavar="TEXT", help=workload_help)
    add("--timeout", type=float, default=600.0, metavar="SECONDS", help="how long to wait (600)")
    add("--run-more", metavar="COMMAND", help="a line for the shell that measures one more session")
    add("--max-more", type=positive, default=4, metavar="N", help="sessions to measure at most (4)")
    add("--unknown-is", choices=("fine", "fail"), help="how to end where what was measured cannot tell")
    for name in ("--markdown", "--junit", "--json"):
        add(name, metavar="FILE")
    summary_help = "append the Markdown to the summary of the job (GitHub Actions)"
    add("--summary", action="store_true", help=summary_help)
    parser.set_defaults(command=gate)


# --- identity -----------------------------------------------------------------------------------------------


def identity_token(url: str) -> str:
    """Return the token that the CI signs for this job and this dashboard; empty where it signs none.

    GitLab puts it into a variable, GitHub Actions is asked for it. It lives for minutes. Raises ClientError.
    """
    if ready := os.environ.get("BENCHDASH_ID_TOKEN"):
        return ready
    address = os.environ.get("ACTIONS_ID_TOKEN_REQUEST_URL", "")
    secret = os.environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
    if not (address and secret):
        return ""
    audience = urllib.parse.urlencode({"audience": url})
    request = urllib.request.Request(f"{address}{'&' if '?' in address else '?'}{audience}")
    token = Server("GitHub", secret).send(request).body.get("value")
    if not isinstance(token, str) or not token:
        raise ClientError("GitHub gives no token for this job; has it 'permissions: id-token: write'?")
    return token


# --- about --------------------------------------------------------------------------------------------------


def about(_options: argparse.Namespace) -> int:
    """Say which client this is, and what it would say of this machine and job."""
    print(f"benchdash {VERSION}, Python {platform.python_version()}")
    print(f"sha256 {hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}")
    try:
        print(f"hardware {hardware_name(os.environ)}")
    except ClientError as error:
        print(f"hardware: {error}")
    facts: dict[str, dict[str, Any]] = dict(machine_facts())
    if job := job_of(os.environ):
        facts[job.system] = job.fields
    for kind, values in facts.items():
        for name, value in values.items():
            print(f"{kind} {name}: {value}")
    return EXIT_FINE


# --- the command line ---------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """A parser whose errors end with EXIT_ERROR, because 2 means that a gate cannot tell."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_ERROR, f"{self.prog}: {message}\n")


def server_of(options: argparse.Namespace) -> Server:
    """Return the server that options or environment name. Raises ClientError where neither does."""
    if not options.url:
        raise ClientError("set BENCHDASH_URL or give --url")
    url = re.sub(r"/+(?:api(?:/v1)?(?:/uploads)?/*)?$", "", options.url.strip())
    try:
        parts = urllib.parse.urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ClientError(f"BENCHDASH_URL {url}: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ClientError(f"BENCHDASH_URL must begin with https:// or http://, not be '{options.url}'")
    if parts.query or parts.fragment or parts.username:
        raise ClientError(f"BENCHDASH_URL must be the address of the front page, not '{options.url}'")
    token = (options.token or identity_token(url)).strip()
    if not token:
        raise ClientError("set BENCHDASH_TOKEN or give --token")
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise ClientError("BENCHDASH_TOKEN is no token: it holds a blank or a letter that none has")
    if parts.scheme == "http" and not _is_loopback(host):
        note_once(f"{url} is not encrypted: whoever is on the way can read the token; use https://")
    return Server(url, token, options.ca_file or "")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _server_options(url: str | None, about_url: str) -> Parser:
    shared = Parser(add_help=False)
    shared.add_argument("--url", default=url, help=about_url)
    shared.add_argument("--token", default=os.environ.get("BENCHDASH_TOKEN"), help="safer in BENCHDASH_TOKEN")
    shared.add_argument("--ca-file", metavar="FILE", help="certificates to trust (SSL_CERT_FILE)")
    return shared


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; ``command`` of its result is the function to call."""
    shared = _server_options(os.environ.get("BENCHDASH_URL"), "address of the dashboard (BENCHDASH_URL)")
    # A kept upload goes to where it was to go.
    kept = _server_options(None, "send it to this address and not to where it was to go")
    whole = Parser(prog="benchdash", description="Measure, upload and gate.")
    whole.add_argument("--version", action="version", version=f"benchdash {VERSION}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = commands.add_parser("upload", parents=[shared], help="send result files")
    add_field_options(command)
    add_upload_options(command)

    command = commands.add_parser("flush", parents=[kept], help="send what is kept in the spool")
    add_delivery_options(command)
    add_flush_options(command)

    usage = "benchdash run [OPTIONS] -- COMMAND"
    command = commands.add_parser("run", parents=[shared], usage=usage, help="measure a command and send it")
    add_field_options(command)
    add_run_options(command)

    command = commands.add_parser("gate", parents=[shared], help="ask whether something became worse")
    add_gate_options(command)

    command = commands.add_parser("about", help="say which client this is, and what it knows of this machine")
    command.set_defaults(command=about)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return how it ended."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Words behind "--" are the command that is measured; its options are none of ours.
    at = words.index("--") if words[:1] == ["run"] and "--" in words else len(words)
    options = parser().parse_args(words[:at])
    options.words = words[at + 1 :]
    try:
        end: int = options.command(options)
    except ClientError as error:
        note(str(error))
        return EXIT_ERROR
    except KeyboardInterrupt:
        note("stopped")
        return EXIT_ERROR
    return end


if __name__ == "__main__":
    sys.exit(main())
