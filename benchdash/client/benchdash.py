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
import textwrap
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
    Iterable,
    Iterator,
    Mapping,
    NamedTuple,
    NoReturn,
    Sequence,
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
IDENTITY_TIMEOUT_S = 30
CHUNK_BYTES = 256 * 1024


class ClientError(Exception):
    """What went wrong, in a sentence for the person who must act on it."""


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


class ServerAnswer(NamedTuple):
    """What the server said: the status of HTTP, the JSON of the body, and when to ask again, in seconds.

    ``body`` is empty where the answer was no JSON object.
    """

    status: int
    body: dict[str, Any]
    retry_after_s: float | None = None
    location: str = ""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300 and bool(self.body)

    def sentence(self) -> str:
        """Say what the server found wrong, with the field or the line of each error."""
        if 300 <= self.status < 400:
            return f"HTTP {self.status}: it is moved to {self.location}; set BENCHDASH_URL to where it is"
        if not self.body:
            return f"HTTP {self.status} without JSON: is a dashboard at this address, or a proxy before it?"
        sentences = [_error_sentence(error) for error in self.body.get("errors", [])]
        return "; ".join(sentences) or str(self.body.get("detail", f"HTTP {self.status}"))


def _error_sentence(error: dict[str, Any]) -> str:
    if error.get("field"):
        return f"{error['field']}: {error['message']}"
    return f"line {error['line']}: {error['message']}" if error.get("line") else str(error["message"])


class NoAnswerError(ClientError):
    """Nobody answers at the address, or not in time."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: it would take the token along, and lose the file."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


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

    def get(self, path: str, query: dict[str, str] | None = None) -> ServerAnswer:
        """Ask for ``/api/v1/`` and ``path``. Raises NoAnswerError where no server answers."""
        asked = f"?{urllib.parse.urlencode(query)}" if query else ""
        return self.send(urllib.request.Request(f"{self.url}/api/v1/{path}{asked}"))

    def text(self, path: str, query: list[tuple[str, str]]) -> str:
        """Ask for an answer that is no JSON. Raises ClientError where there is none."""
        request = urllib.request.Request(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(query)}")
        try:
            with self.open(request) as response:
                if response.headers.get_content_type() == "application/json":
                    raise ClientError(f"{self.url} cannot write this form; is it older than this client?")
                return str(response.read().decode())
        except urllib.error.HTTPError as error:
            raise ClientError(_answer(error.code, error.headers, error.read()).sentence()) from None
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(f"{self.url} does not answer: {_reason(error)}") from None

    def upload(
        self,
        form: Form,
        *,
        key: str = "",
        waited_s: float = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> ServerAnswer:
        """Send fields and files, read from disk as they are sent. Raises NoAnswerError without an answer.

        ``key`` is the same for each try of one upload. ``waited_s`` is how long it has lain here: the server
        counts the time of receipt from then.
        """
        key = key or uuid.uuid4().hex
        length = form.length(key)
        headers = {
            "Content-Type": f"multipart/form-data; boundary={key}",
            "Content-Length": str(length),
            "Idempotency-Key": key,
        }
        if waited_s >= 1:
            headers["Benchdash-Waited"] = str(int(waited_s))
        body = _watched(form.encoded(key), length, progress) if progress else form.encoded(key)
        return self.send(urllib.request.Request(f"{self.url}/api/v1/uploads/", body, headers))

    def send(self, request: urllib.request.Request) -> ServerAnswer:
        """Send a request with the token. Raises NoAnswerError where no server answers."""
        try:
            with self.open(request) as response:
                return _answer(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return _answer(error.code, error.headers, error.read())
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(f"{self.url} does not answer: {_reason(error)}") from None

    def open(self, request: urllib.request.Request) -> Any:
        """Open an address. Raises HTTPError, for a redirect too, other OSErrors and HTTPException."""
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("User-Agent", f"benchdash/{VERSION}")
        try:
            context = ssl.create_default_context(cafile=self.ca_file or None)
        except OSError as error:
            raise ClientError(f"--ca-file {self.ca_file}: {error.strerror or error}") from None
        opener = urllib.request.build_opener(_NoRedirects, _Connections(context))
        return opener.open(request, timeout=REQUEST_TIMEOUT_S)


def _answer(status: int, headers: Any, content: bytes) -> ServerAnswer:
    return ServerAnswer(
        status, _read_json(content), _seconds(headers.get("Retry-After", "")), headers.get("Location", "")
    )


def _read_json(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


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


def _watched(chunks: Iterable[bytes], length: int, progress: Callable[[int, int], None]) -> Iterator[bytes]:
    sent = 0
    for chunk in chunks:
        yield chunk
        sent += len(chunk)
        progress(sent, length)


# The bytes of a file, or where they are.
Content = Union[bytes, Path]


class Form(NamedTuple):
    """An upload: fields by name (a name may come again), and the names, file names and contents of files."""

    fields: list[tuple[str, str]]
    files: list[tuple[str, str, Content]]

    def encoded(self, boundary: str) -> Iterator[bytes]:
        """Yield the body of the request: multipart/form-data (RFC 7578)."""
        for name, value in self.fields:
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"\r\n\r\n'
            yield f"{head}{value}\r\n".encode(errors="replace")
        for name, file_name, content in self.files:
            yield _file_head(boundary, name, file_name)
            if isinstance(content, bytes):
                yield content
            else:
                with content.open("rb") as file:
                    yield from iter(lambda file=file: file.read(CHUNK_BYTES), b"")  # type: ignore[misc]
            yield b"\r\n"
        yield f"--{boundary}--\r\n".encode()

    def length(self, boundary: str) -> int:
        """Return how many bytes the body has."""
        without = Form(self.fields, [(name, file_name, b"") for name, file_name, _ in self.files])
        return sum(map(len, without.encoded(boundary))) + sum(_size(content) for _, _, content in self.files)

    def value(self, name: str) -> str:
        """Return a field; empty where it is not given."""
        return next((value for field, value in self.fields if field == name), "")


def _file_head(boundary: str, name: str, file_name: str) -> bytes:
    disposition = f'form-data; name="{name}"; filename="{_quoted(file_name)}"'
    head = f"--{boundary}\r\nContent-Disposition: {disposition}\r\n"
    return f"{head}Content-Type: application/octet-stream\r\n\r\n".encode(errors="replace")


def _quoted(name: str) -> str:
    """Return a name as browsers write it between quotes."""
    return name.replace("\\", "/").replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _size(content: Content) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size


# --- the machine --------------------------------------------------------------------------------------------

# What lscpu prints of the moment, which would make each upload another one.
_OF_THE_MOMENT = re.compile(r"\s*(?:CPU [a-z ]*MHz|CPU\(s\) scaling MHz|BogoMIPS|Flags):")
_CPUS = Path("/sys/devices/system/cpu")
# A host name that was made for one container.
_MADE_UP_NAME = re.compile(r"[0-9a-f]{12}|localhost|runner-.*-project-[0-9]+-concurrent-[0-9]+.*")


def machine_facts() -> dict[str, dict[str, Any]]:
    """Return what is known of this machine, as ``hardware`` and ``environment`` of a meta.

    Hardware is what the machine is, environment how it is set: kernel, governor. What cannot be read is left
    out.
    """
    hardware: dict[str, Any] = {"arch": platform.machine(), "instance_type": instance_type()}
    if platform.system() == "Linux":
        hardware.update(_linux_hardware())
    elif platform.system() == "Darwin":
        hardware.update(_mac_hardware())
    environment = {
        "kernel": platform.release() if platform.system() != "Windows" else "",
        "os": _os_name(),
        "governor": _values(_CPUS.glob("cpu[0-9]*/cpufreq/scaling_governor")),
        "boost": _boost(),
        "transparent_hugepage": _chosen(_line("/sys/kernel/mm/transparent_hugepage/enabled")),
    }
    return {"hardware": _known(hardware), "environment": _known(environment)}


def machine_files() -> list[tuple[str, str, Content]]:
    """Return what tools say of this machine, as companions of an upload."""
    said = _printed("lscpu")
    lines = [f"{line}\n" for line in said.splitlines() if not _OF_THE_MOMENT.match(line)]
    return [("companion", "lscpu.txt", "".join(lines).encode())] if lines else []


def instance_type() -> str:
    """Return the type of a virtual machine of Amazon EC2, which its firmware tells; empty elsewhere."""
    if _line("/sys/class/dmi/id/sys_vendor") != "Amazon EC2":
        return ""
    found = re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]+", _line("/sys/class/dmi/id/product_name"))
    return found[0] if found else ""


def hardware_name(variables: dict[str, str]) -> str:
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


def _linux_hardware() -> dict[str, Any]:
    """Return what /proc and the firmware tell; lscpu, where it is installed, tells more."""
    found: dict[str, Any] = {"cpus": os.cpu_count()}
    total = re.search(r"^MemTotal:\s*([0-9]+) kB$", _text("/proc/meminfo"), re.MULTILINE)
    if total:
        found["ram_kib"] = int(total[1])
    model = re.search(r"^model name\s*:\s*(\S.*)$", _text("/proc/cpuinfo"), re.MULTILINE)
    if model:
        found["cpu_model"] = model[1]
    vendor, product = (_line(f"/sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name"))
    found["model"] = " ".join(filter(None, (vendor, product)))
    return found


def _mac_hardware() -> dict[str, Any]:
    memory = _printed("sysctl", "-n", "hw.memsize")
    return {
        "cpu_model": _printed("sysctl", "-n", "machdep.cpu.brand_string"),
        "model": _printed("sysctl", "-n", "hw.model"),
        "cpus": os.cpu_count(),
        "ram_kib": int(memory) // 1024 if memory.isdigit() else None,
    }


def _os_name() -> str:
    """Return the name of a distribution or system with its version."""
    if platform.system() == "Linux":
        named = re.search(r'^PRETTY_NAME="?([^"\n]*)', _text("/etc/os-release"), re.MULTILINE)
        return named[1] if named else ""
    if platform.system() == "Darwin":
        return f"macOS {platform.mac_ver()[0]}".strip()
    return f"{platform.system()} {platform.version()}".strip()


def _boost() -> str:
    """Return whether the clock may rise above the base: on, off, or nothing where nobody says it."""
    no_turbo = _line(str(_CPUS / "intel_pstate/no_turbo"))
    boost = {"0": "1", "1": "0"}.get(no_turbo) or _line(str(_CPUS / "cpufreq/boost"))
    return {"1": "on", "0": "off"}.get(boost, "")


def _values(paths: Iterable[Path]) -> str:
    return ", ".join(sorted(set(filter(None, (_line(str(path)) for path in paths)))))


def _chosen(line: str) -> str:
    found = re.search(r"\[([^\]]+)\]", line)
    return found[1] if found else ""


def _known(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in (None, "")}


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _line(path: str) -> str:
    return _text(path).strip()


def _printed(*command: str, folder: str | None = None) -> str:
    """Return what a program prints in English; nothing where it is missing or fails."""
    try:
        ended = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            cwd=folder,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ended.stdout.decode(errors="replace").strip() if ended.returncode == 0 else ""


# --- continuous integration ---------------------------------------------------------------------------------

_COMMIT = re.compile(r"[0-9a-fA-F]{7,40}")


class Job(NamedTuple):
    """What a system of continuous integration says of the job: its name, fields of an upload, and a link."""

    system: str
    fields: dict[str, str]
    url: str = ""


def job_of(variables: dict[str, str]) -> Job | None:
    """Return the job in which this program runs; None where it runs in none that is known."""
    readers = {
        "GITHUB_ACTIONS": _github_job,
        "GITLAB_CI": _gitlab_job,
        "JENKINS_URL": _jenkins_job,
        "BUILDBOT_REVISION": _buildbot_job,
    }
    for name, read in readers.items():
        if variables.get(name):
            job = read(variables)
            fields = {**job.fields, "branch": _branch(job.fields.get("branch", ""))}
            fields = {name: value for name, value in fields.items() if value}
            if not _COMMIT.fullmatch(fields.get("commit", "")):
                fields.pop("commit", None)
            return job._replace(fields=fields)
    return None


def _branch(ref: str) -> str:
    """Return the name of a branch; empty for a detached checkout, which names none."""
    name = re.sub(r"^(?:(?:refs/)?(?:heads|remotes/origin)/|origin/)+", "", ref)
    return "" if name in ("HEAD", "detached") else name


def _github_job(variables: dict[str, str]) -> Job:
    """Of a pull request GITHUB_SHA is a merge that nobody wrote; the event names what was pushed."""
    say = variables.get
    repository = f"{say('GITHUB_SERVER_URL', '')}/{say('GITHUB_REPOSITORY', '')}"
    url = f"{repository}/actions/runs/{say('GITHUB_RUN_ID', '')}"
    fields = {"commit": say("GITHUB_SHA", ""), "branch": ""}
    if say("GITHUB_REF_TYPE", "branch") == "branch":
        fields["branch"] = say("GITHUB_REF_NAME", "")
    event = _read_json(_text(say("GITHUB_EVENT_PATH", "")).encode()) if say("GITHUB_EVENT_PATH") else {}
    pull = event.get("pull_request")
    if say("GITHUB_EVENT_NAME", "").startswith("pull_request"):
        head = pull.get("head") if isinstance(pull, dict) else None
        number = pull.get("number") if isinstance(pull, dict) else None
        fields = {
            "commit": str(head.get("sha", "")) if isinstance(head, dict) else "",
            "pull_request": str(number or ""),
            "base_branch": say("GITHUB_BASE_REF", ""),
        }
    return Job("GitHub Actions", fields, url)


def _gitlab_job(variables: dict[str, str]) -> Job:
    say = variables.get
    fields = {
        "commit": say("CI_COMMIT_SHA", ""),
        "committed_at": say("CI_COMMIT_TIMESTAMP", ""),
        "branch": say("CI_COMMIT_BRANCH", ""),
    }
    if number := say("CI_MERGE_REQUEST_IID"):
        # Of a pipeline for merged results the commit is a merge that nobody wrote.
        pushed = say("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")
        fields = {
            "commit": pushed or say("CI_COMMIT_SHA", ""),
            "committed_at": "" if pushed else say("CI_COMMIT_TIMESTAMP", ""),
            "pull_request": number,
            "base_branch": say("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", ""),
        }
    return Job("GitLab CI", fields, say("CI_JOB_URL", ""))


def _jenkins_job(variables: dict[str, str]) -> Job:
    say = variables.get
    fields = {"commit": say("GIT_COMMIT", ""), "branch": say("BRANCH_NAME", "") or say("GIT_BRANCH", "")}
    if say("TAG_NAME"):
        fields["branch"] = ""
    if number := say("CHANGE_ID"):
        fields = {
            # Without CHANGE_BRANCH's commit this may be a merge; Jenkins does not tell them apart.
            "commit": say("GIT_COMMIT", ""),
            "pull_request": number,
            "base_branch": say("CHANGE_TARGET", ""),
        }
    return Job("Jenkins", fields, say("BUILD_URL", ""))


def _buildbot_job(variables: dict[str, str]) -> Job:
    """Buildbot sets no variables by itself: the page on the client has the step that does."""
    say = variables.get
    fields = {"commit": say("BUILDBOT_REVISION", ""), "branch": say("BUILDBOT_BRANCH", "")}
    if number := say("BUILDBOT_PULL_REQUEST"):
        fields["branch"] = ""
        fields.update(pull_request=number, base_branch=say("BUILDBOT_BASE_BRANCH", ""))
    return Job("Buildbot", fields, say("BUILDBOT_BUILD_URL", ""))


def git_fields(folder: str | None = None) -> dict[str, str]:
    """Return commit, time and branch of the checkout in a folder. Raises ClientError where there is none."""
    said = _printed("git", "log", "-1", "--format=%H %cI", folder=folder).split()
    if len(said) != 2:
        raise ClientError("--commit git: the working directory is no checkout of git, or git is missing")
    branch = _printed("git", "rev-parse", "--abbrev-ref", "HEAD", folder=folder)
    return {"commit": said[0], "committed_at": said[1], "branch": "" if branch == "HEAD" else branch}


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
    given = getattr(options, "spool", None) or os.environ.get("BENCHDASH_SPOOL")
    if given:
        return Path(given).expanduser()
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local/state") / "benchdash/spool"


class Item(NamedTuple):
    """An upload that is kept in a folder of the spool until the server has taken or refused it.

    ``key`` is the same for each try, by which the server knows it again; ``kept_at`` is when it was first to
    be sent, in seconds since 1970. ``token_hash`` tells the token it was for from others, which
    may be those of other projects. ``lock`` is open as long as this process deals with it.
    """

    folder: Path
    label: str
    url: str
    key: str
    kept_at: float
    token_hash: str
    form: Form
    lock: BinaryIO

    def remove(self) -> None:
        """Forget it; once its description is gone, what is left is no item any more."""
        (self.folder / ITEM_FILE).unlink()
        self.lock.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def set_aside(self, reason: str) -> Path:
        """Move it to the refused ones, with the reason, and return where it is."""
        (self.folder / REASON_FILE).write_text(reason + "\n", encoding="utf-8")
        refused = self.folder.parent / REFUSED_FOLDER
        refused.mkdir(mode=0o700, exist_ok=True)
        self.lock.close()
        return self.folder.rename(refused / self.folder.name)


def hash_of(token: str) -> str:
    """Return what tells a token from others, and gives nobody a token."""
    return hashlib.sha256(token.encode()).hexdigest()[:16]


def keep(spool: Path, label: str, server: Server, form: Form) -> Item:
    """Write an upload to the spool: all of it, or nothing. Raises OSError.

    The token is not written. It is complete under its own name before anybody sends it.
    """
    spool.mkdir(mode=0o700, parents=True, exist_ok=True)
    key, kept_at = uuid.uuid4().hex, time.time()
    begun = spool / f"{_BEGUN}{key}"
    begun.mkdir(mode=0o700)
    try:
        files = [
            {"name": name, "file_name": file_name, "stored": str(number)}
            for number, (name, file_name, _) in enumerate(form.files)
        ]
        for number, (_, _, content) in enumerate(form.files):
            _write(begun / str(number), content)
        said = {"label": label, "url": server.url, "key": key, "kept_at": kept_at}
        item = {**said, "token_hash": hash_of(server.token), "fields": form.fields, "files": files}
        _write(begun / ITEM_FILE, json.dumps(item, indent=1).encode())
        # Locked before others see it; Windows renames no folder in which a file is open.
        lock = _locked(begun / ITEM_FILE) if fcntl else None
        folder = spool / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(kept_at))}-{key[:8]}"
        begun.rename(folder)
        _settle(spool)
    except BaseException:
        shutil.rmtree(begun, ignore_errors=True)
        raise
    lock = lock or (folder / ITEM_FILE).open("r+b")
    return _item_of(folder, item, lock)


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
        item = json.loads((folder / ITEM_FILE).read_text(encoding="utf-8"))
        return _item_of(folder, item, lock)
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


def _item_of(folder: Path, said: dict[str, Any], lock: BinaryIO) -> Item:
    files: list[tuple[str, str, Content]] = [
        (file["name"], file["file_name"], folder / file["stored"]) for file in said["files"]
    ]
    form = Form([(name, value) for name, value in said["fields"]], files)
    return Item(
        folder, said["label"], said["url"], said["key"], said["kept_at"], said["token_hash"], form, lock
    )


def _write(path: Path, content: Content) -> None:
    """Write a file so that it is there even after the power failed."""
    with path.open("wb") as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            with content.open("rb") as source:
                shutil.copyfileobj(source, file, CHUNK_BYTES)
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
# Trouble that passes by itself.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 507})
# Answers about what was sent: sent again, it would be refused again.
_FINAL = frozenset({400, 409, 413, 415, 422})
SENT, REFUSED, KEPT, FAILED = "sent", "refused", "kept", "failed"


class Delivery(NamedTuple):
    """What became of an upload.

    ``fate`` is SENT; REFUSED for good; KEPT in the spool because the server does not answer or cannot take it
    now; or FAILED, where the sender must do something (a wrong token or address) or it could not be kept:
    ``folder`` is where it is kept, if it is. ``sentence`` says what went wrong.
    """

    label: str
    fate: str
    answer: ServerAnswer | None = None
    sentence: str = ""
    folder: Path | None = None

    def exit_code(self, *, strict: bool = False) -> int:
        """Return how the command ends. What is kept is not lost, so it is an error only for the strict."""
        return EXIT_FINE if self.fate == SENT or (self.fate == KEPT and not strict) else EXIT_ERROR


def deliver(form: Form, options: argparse.Namespace, label: str) -> Delivery:
    """Upload, or keep in the spool until ``benchdash flush``; ``label`` is what the upload is called here.

    It is kept before it is sent, so that nothing is lost however this program ends. Raises ClientError where
    no server is named.
    """
    server = server_of(options)
    if getattr(options, "dry_run", False):
        answer = server.upload(form)
        fate = SENT if answer.is_success else REFUSED if answer.status in _FINAL else FAILED
        return Delivery(label, fate, answer, "" if answer.is_success else answer.sentence())
    try:
        item = keep(spool_folder(options), label, server, form)
    except OSError as error:
        note(f"{label} cannot be kept in {spool_folder(options)} ({_reason(error)}) and is sent without")
        return _sent(server, form, options, label, key=uuid.uuid4().hex, kept_at=time.time(), is_kept=False)
    delivery = _sent(server, item.form, options, label, key=item.key, kept_at=item.kept_at, is_kept=True)
    if delivery.fate in (SENT, REFUSED):
        item.remove()
        return delivery
    item.lock.close()
    return delivery._replace(folder=item.folder)


def _sent(
    server: Server,
    form: Form,
    options: argparse.Namespace,
    label: str,
    *,
    key: str,
    kept_at: float,
    is_kept: bool,
) -> Delivery:
    """Send until the server has answered, or the time for it is over."""
    last = time.monotonic() + getattr(options, "retry_for", DEFAULT_RETRY_FOR_S)
    pause = 1.0
    while True:
        answer = None
        progress = Progress(label)
        try:
            answer = server.upload(form, key=key, waited_s=time.time() - kept_at, progress=progress.show)
            trouble = "" if answer.is_success else answer.sentence()
        except NoAnswerError as error:
            trouble = str(error)
        finally:
            progress.clear()
        if answer and answer.is_success:
            return Delivery(label, SENT, answer)
        is_being_sent = answer and answer.status == 409 and answer.retry_after_s is not None
        if answer and answer.status not in _PASSING and not is_being_sent:
            is_about_it = answer.status in _FINAL and bool(answer.body)
            return Delivery(label, REFUSED if is_about_it else FAILED, answer, trouble)
        wait = max(answer.retry_after_s or 0.0 if answer else 0.0, pause * random.uniform(0.7, 1.3))  # noqa: S311
        if time.monotonic() + wait > last:
            return Delivery(label, KEPT if is_kept else FAILED, answer, trouble)
        note(f"{label}: {trouble}; trying again in {wait:.0f} s")
        time.sleep(wait)
        pause = min(2 * pause, MAX_PAUSE_S)


class Progress:
    """Shows how much of a file is sent, on a terminal alone; its line goes when it is done."""

    def __init__(self, label: str) -> None:
        self._label = _on_one_line(label)
        self._is_shown = sys.stderr.isatty() and not os.environ.get("CI")
        self._per_cent = -1

    def clear(self) -> None:
        """Take the line away."""
        if self._per_cent >= 0:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def show(self, sent: int, length: int) -> None:
        """Say how many of the bytes are sent."""
        per_cent = 100 * sent // max(length, 1)
        if self._is_shown and per_cent != self._per_cent:
            self._per_cent = per_cent
            of = f"{length / 1e6:.1f} MB" if length > 1e5 else f"{length} bytes"
            print(f"\r{self._label}: {per_cent} % of {of}", end="", file=sys.stderr, flush=True)


def _on_one_line(text: str) -> str:
    """Return a name fit to be printed: without line ends, and without bytes that are no text."""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return shown.encode(errors="replace").decode()


def wait_for(delivery: Delivery, options: argparse.Namespace) -> Delivery:
    """Wait until an upload that was sent is imported and analysed, for ``options.wait`` seconds at most.

    Raises ClientError where it takes longer.
    """
    server = server_of(options)
    last = time.monotonic() + options.wait
    number = delivery.answer.body.get("id") if delivery.answer else None
    pause = 0.25
    while number is not None:
        try:
            answer = server.get(f"uploads/{number}/")
        except NoAnswerError as error:
            where = str(error)
        else:
            where = "is it imported? is a worker running?"
            if answer.is_success:
                state = answer.body.get("state")
                where = f"it is {state}" if state != "imported" else "it is imported and not analysed yet"
                if state == "refused":
                    files = answer.body.get("files") or [{}]
                    found = [error for file in files[:10] for error in file.get("errors") or []]
                    sentence = ServerAnswer(422, {"errors": found, "detail": "the file"}).sentence()
                    return delivery._replace(fate=REFUSED, answer=answer, sentence=sentence)
                if state not in ("queued", "importing") and answer.body.get("analysis", "done") == "done":
                    return delivery._replace(answer=answer)
            elif answer.status not in _PASSING:
                raise ClientError(f"{delivery.label} is sent, but: {answer.sentence()}")
        if time.monotonic() >= last:
            raise ClientError(f"{delivery.label} is sent, but not done within {options.wait:g} s: {where}")
        time.sleep(min(pause, max(last - time.monotonic(), 0.0)))
        pause = min(2 * pause, 3.0)
    return delivery


def tell(delivery: Delivery, *, as_json: bool = False) -> None:
    """Print what became of an upload on one line, and what the server warned of."""
    label, body = _on_one_line(delivery.label), delivery.answer.body if delivery.answer else {}
    if as_json:
        kept = str(delivery.folder) if delivery.folder else None
        said = {"file": label, "fate": delivery.fate, "error": delivery.sentence or None, "kept": kept}
        print(json.dumps({**said, "answer": body or None}), flush=True)
    if delivery.fate == SENT:
        if not as_json:
            runs = body.get("runs", [])
            count = f", {len(runs)} run{'' if len(runs) == 1 else 's'}" if runs else ""
            again = ", sent before" if body.get("duplicate") else ""
            page = f", {body['page']}" if body.get("page") else ""
            print(f"{label}: {body.get('state')}{again}{count}{page}", flush=True)
        for warning in body.get("warnings", []):
            note(f"{label}: {_on_one_line(str(warning))}")
        return
    where = f"; it is kept in {delivery.folder}" if delivery.folder else ""
    if delivery.fate == KEPT:
        note(f"{label}: {delivery.sentence}{where}, and 'benchdash flush' sends it")
    elif delivery.fate == FAILED and delivery.folder:
        note(f"{label}: {delivery.sentence}{where}: 'benchdash flush' takes --url and --any-token")
    else:
        note(f"{label}: {'refused: ' if delivery.fate == REFUSED else ''}{delivery.sentence}")


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
# What a job of CI says of the version, and what belongs together.
_OF_THE_COMMIT = ("commit", "committed_at", "branch", "pull_request", "base_branch")
META_SUFFIX = ".meta.json"


def add_field_options(parser: argparse.ArgumentParser) -> None:
    """Add what may be said of a result that its file cannot say."""
    for name in TEXT_FIELDS:
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT", help=_HELP.get(name))
    add = parser.add_argument
    for name in JSON_FIELDS:
        add(f"--{name}", metavar="FILE", help="a file with JSON, or the JSON itself")
    add("--tag", action="append", default=[], dest="tags", metavar="TEXT", help="may be repeated")
    add("--field", action="append", default=[], metavar="NAME=VALUE", help="any field; may be repeated")
    add("--meta", metavar="FILE", help="JSON with what else is known")
    add("--companion", action="append", default=[], metavar="FILE", help="output of vmstat and the like")
    add("--configuration-file", action="append", default=[], metavar="FILE", help="my.cnf and the like")
    add("--facts", action="store_true", default=None, help="facts of this machine; --hardware auto has them")
    add("--no-facts", action="store_false", dest="facts", help="no facts of this machine")


def add_delivery_options(parser: argparse.ArgumentParser) -> None:
    """Add how an upload is sent and kept."""
    add = parser.add_argument
    add("--spool", metavar="FOLDER", help="where uploads wait for the server (BENCHDASH_SPOOL)")
    seconds = DEFAULT_RETRY_FOR_S
    add("--retry-for", type=float, default=seconds, metavar="SECONDS", help="try again so long (60)")
    add("--strict", action="store_true", help="end with 3 also where an upload is only kept in the spool")


def fields_of(options: argparse.Namespace, beside: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    """Return the fields that are given as options, then what CI says. Raises ClientError.

    ``beside`` is a meta, of which CI contradicts nothing.
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
        given["hardware"] = hardware_name(dict(os.environ))
    said_beside = set(beside or {})
    found = _fields_of_commit(given, said_beside)
    return [*{**found, **given}.items(), *(("tags", tag) for tag in options.tags)]


def _fields_of_commit(given: dict[str, str], said_beside: set[str]) -> dict[str, str]:
    """Return what git or CI says of the version; take their words ``git`` and ``none`` out of ``given``."""
    if given.get("commit") == NONE:
        del given["commit"]
        return {}
    if given.get("commit") == GIT:
        del given["commit"]
        found, source = git_fields(), "git"
        if not found["branch"] and "branch" not in said_beside.union(given):
            note_once("the checkout is detached and names no branch: say --branch, or it is a release")
    else:
        job = job_of(dict(os.environ))
        if job is None or "commit" in said_beside:
            return {}
        found, source = dict(job.fields), job.system
        if commit := given.get("commit"):
            # Of another commit than the one that was named, CI knows nothing.
            if not found.get("commit", "").lower().startswith(commit.lower()):
                return {}
            del found["commit"]
        if "commit" in found and "committed_at" not in found:
            found["committed_at"] = _time_of_commit(found["commit"])
        if job.url and "notes" not in said_beside:
            found.setdefault("notes", f"{job.system}: {job.url}")
    said = said_beside.union(given)
    found = {name: value for name, value in found.items() if value and name not in said}
    if told := ", ".join(f"{name} {value}" for name, value in found.items() if name in _OF_THE_COMMIT):
        note_once(f"from {source}: {told}")
    return found


def form_of(file_name: str, content: Content, options: argparse.Namespace, meta: dict[str, Any]) -> Form:
    """Return an upload with all that is said of it. ``meta`` is what lay beside it. Raises ClientError."""
    files: list[tuple[str, str, Content]] = [("file", file_name, content)]
    for name in ("companion", "configuration_file"):
        files += [(name, Path(path).name, readable(path)) for path in getattr(options, name)]
    form = Form(fields_of(options, meta), files)
    if meta:
        form.fields.append(("meta", json.dumps(meta)))
    return with_facts(form, options)


def with_facts(form: Form, options: argparse.Namespace) -> Form:
    """Return an upload with the facts of this machine, if they are wanted: see ``wants_facts``.

    What its meta says of the machine wins.
    """
    if not wants_facts(options):
        return form
    meta = json.loads(form.value("meta") or "{}")
    facts = machine_facts()
    named = meta.get("hardware")
    said = named if isinstance(named, dict) else {"name": named} if named else {}
    meta["hardware"] = {**facts["hardware"], **said}
    surroundings = meta.get("environment")
    meta["environment"] = {**facts["environment"], **(surroundings if isinstance(surroundings, dict) else {})}
    fields = [(name, value) for name, value in form.fields if name != "meta"]
    is_told = any(Path(file_name).stem == "lscpu" for _, file_name, _ in form.files)
    return Form([*fields, ("meta", json.dumps(meta))], [*form.files, *([] if is_told else machine_files())])


def wants_facts(options: argparse.Namespace) -> bool:
    """Say whether facts of this machine belong to the upload: where it is the one that was measured on.

    That is known with ``--hardware auto`` and ``--facts``; a name alone may be that of another machine.
    """
    return options.hardware == AUTO if options.facts is None else bool(options.facts)


class Result(NamedTuple):
    """A file to be sent: what it is called here and there, its content, and the meta beside it."""

    label: str
    file_name: str
    content: Content
    meta: dict[str, Any]


def upload(options: argparse.Namespace) -> int:
    """Send each file with the same fields."""
    server_of(options)
    ends = [EXIT_FINE]
    for path in _expanded(options.files):
        try:
            delivery = _upload_one(path, options)
        except ClientError as error:  # noqa: PERF203 - one bad file does not stop the rest
            note(_on_one_line(str(error)))
            ends.append(EXIT_ERROR)
        else:
            tell(delivery, as_json=options.json)
            ends.append(delivery.exit_code(strict=options.strict))
            if delivery.fate == KEPT:
                options.retry_for = 0.0  # the next file need not wait for the same server
    return max(ends)


def _upload_one(path: str, options: argparse.Namespace) -> Delivery:
    """Send a file and, where that was asked for, wait for it. Raises ClientError."""
    with contextlib.ExitStack() as stack:
        result = _result(path, options, stack)
        form = form_of(result.file_name, result.content, options, result.meta)
        form.fields.extend(_upload_fields(options))
        delivery = deliver(form, options, result.label)
    if options.wait is not None and delivery.fate == SENT and not options.dry_run:
        return wait_for(delivery, options)
    return delivery


def _expanded(paths: Sequence[str]) -> list[str]:
    """Return the files, also of patterns that no shell expanded."""
    found = []
    for path in paths:
        matching = [] if path == "-" or os.path.lexists(path) else sorted(glob.glob(path))  # noqa: PTH207
        found += matching or [path]
    return found


def _upload_fields(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the fields that only ``upload`` has."""
    fields = [("control", "true")] * options.control + [("dry_run", "1")] * options.dry_run
    fields += [("pattern", options.pattern)] * bool(options.pattern)
    fields += [("companion_pattern", pattern) for pattern in options.companion_pattern]
    if options.path_map:
        fields.append(("path_map", json.dumps(_json_of("--path-map", options.path_map))))
    return fields


def _result(path: str, options: argparse.Namespace, stack: contextlib.ExitStack) -> Result:
    """Read what is to be sent: a file, a folder as an archive, or standard input. Raises ClientError."""
    meta = _json_of("--meta", options.meta) if options.meta else {}
    if path == "-":
        return Result("standard input", options.name or "stdin.txt", sys.stdin.buffer.read(), meta)
    file = Path(path)
    if file.is_dir():
        return Result(path, options.name or f"{file.resolve().name}.tar.gz", packed(file, stack), meta)
    content = readable(path)
    for beside in dict.fromkeys((file.with_suffix(META_SUFFIX), Path(path + META_SUFFIX))):
        if beside.is_file():
            meta = {**_json_of(str(beside), str(beside)), **meta}
    return Result(path, options.name or file.name, content, meta)


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


def _json_of(name: str, given: str) -> dict[str, Any]:
    """Return a JSON object that is given as such or as a file. Raises ClientError."""
    text = given
    if not given.lstrip().startswith("{"):
        try:
            text = Path(given).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ClientError(f"{name}: {_reason(error)}") from None
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ClientError(f"{name} is not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise ClientError(f"{name} must hold a JSON object")
    return found


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
    sent = left = refused = 0
    silent: set[str] = set()
    for folder in folders:
        try:
            item = take(folder)
        except ClientError as error:
            note(str(error))
            left += 1
            continue
        if item is None:
            continue
        address = options.url or item.url
        server = server_of(argparse.Namespace(**{**vars(options), "url": address}))
        is_for_another = item.token_hash != hash_of(server.token) and not options.any_token
        if is_for_another:
            note(
                f"{folder} ({_on_one_line(item.label)}) was for another token, maybe that of another project;"
                " --any-token sends it with this one"
            )
        if is_for_another or address in silent:
            item.lock.close()
            left += 1
            continue
        delivery = _sent(
            server, item.form, options, item.label, key=item.key, kept_at=item.kept_at, is_kept=True
        )
        if delivery.fate == SENT:
            sent += 1
            item.remove()
        elif delivery.fate == REFUSED:
            refused += 1
            delivery = delivery._replace(folder=item.set_aside(delivery.sentence))
        else:
            left += 1
            silent.add(address)  # the others would meet the same
            item.lock.close()
            delivery = delivery._replace(folder=folder)
        _tell_flushed(delivery)
    if sent or left or refused or sys.stdout.isatty():
        print(f"{sent} sent, {left} left, {refused} refused", flush=True)
    return EXIT_ERROR if left or refused else EXIT_FINE


def _tell_flushed(delivery: Delivery) -> None:
    if delivery.fate == REFUSED:
        label = _on_one_line(delivery.label)
        note(f"{label}: refused: {delivery.sentence}; it is set aside in {delivery.folder}")
    else:
        tell(delivery)


def add_flush_options(parser: argparse.ArgumentParser) -> None:
    """Add what is flushed."""
    add = parser.add_argument
    add("--list", action="store_true", help="name what is kept and send nothing")
    add("--any-token", action="store_true", help="send also what was to be sent with another token")
    parser.set_defaults(command=flush)


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
    meta = _json_of("--meta", options.meta) if options.meta else {}
    meta.update(command=measured.side.line, finished_at=measured.ended_at.isoformat())
    form = form_of(measured.result.name, measured.result, options, meta)
    own = {"started_at": measured.started_at.isoformat(), "session": session, **measured.side.fields}
    if own.get("commit") and form.value("base_branch"):
        own["branch"] = form.value("base_branch")
    if not form.value("repetition"):
        own["repetition"] = str(number)
    fields = [(name, value) for name, value in form.fields if name not in own]
    fields += [(name, value) for name, value in own.items() if value is not None]
    samples: list[tuple[str, str, Content]] = [("companion", "vmstat.txt", measured.samples)]
    form = Form(fields, [*form.files, *(samples if measured.samples else [])])
    delivery = deliver(form, options, measured.side.name)
    tell(delivery)
    if delivery.fate in (REFUSED, FAILED) and not delivery.folder:
        kept = keep(spool_folder(options), measured.side.name, server_of(options), form)
        note(f"what was measured is in {kept.set_aside(delivery.sentence)}")
    if delivery.fate == KEPT:
        options.retry_for = 0.0  # the next run need not wait for the same server
    return delivery.exit_code(strict=options.strict)


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
    time_of_commit = _time_of_commit(options.base_commit) or None
    return {**fields, "commit": options.base_commit, "committed_at": time_of_commit}


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
    parser.set_defaults(command=run, facts=True)


def positive(text: str) -> int:
    """Return a number from 1 on, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


# --- gate ---------------------------------------------------------------------------------------------------

MAX_GATE_PAUSE_S = 3.0
_GATE_HELP = {
    "commit": "what to judge; 'git': that of the working directory; by default that of CI",
    "version": "a release to judge, in place of a commit",
    "base": "a commit, a release or a branch; the dashboard finds one without",
}
GATE_QUESTIONS = ("project", "product", "branch", "commit", "base", "version", "pull_request")
EXIT_OF_VERDICT = {"pass": EXIT_FINE, "fail": EXIT_REGRESSED, "unknown": EXIT_CANNOT_TELL}
# The verdicts of a row in the words of the table, and the order in which it stands there.
VERDICT_WORDS = {
    "worse": "worse",
    "likely_worse": "likely worse",
    "unknown": "cannot tell",
    "no base": "no base",
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
    question = gate_question(options)
    answer = verdict_of(server, question, options.timeout)
    measured = 0
    while options.run_more and (wanted := min(missing_sessions(answer), options.max_more - measured)):
        for _ in range(wanted):
            measured += 1
            note(f"session {measured} of {options.max_more} at most: {without_secrets(options.run_more)}")
            measure_more(options)
        answer = verdict_of(server, question, options.timeout)
    print_table(answer["rows"])
    for sentence in (answer["summary"], *answer["reasons"], answer["url"]):
        print(textwrap.fill(sentence, TABLE_WIDTH, break_long_words=False, break_on_hyphens=False))
    write_verdict(server, question, answer, options)
    if answer["verdict"] == "unknown" and is_compared(answer) and options.unknown_is:
        return {"fine": EXIT_FINE, "fail": EXIT_REGRESSED}[options.unknown_is]
    return EXIT_OF_VERDICT[answer["verdict"]]


def gate_question(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return what is asked: what was said, and of a commit what CI knows of it. Raises ClientError."""
    given = {name: getattr(options, name) for name in GATE_QUESTIONS if getattr(options, name) is not None}
    if "version" not in given:
        found = _fields_of_commit(given, set())
        given.update((name, found[name]) for name in ("commit", "branch", "pull_request") if name in found)
    if not {"version", "commit", "branch", "pull_request"}.intersection(given):
        raise ClientError("say what to judge: --commit, --branch, --pull-request or --version")
    return [*given.items(), *(("workload", workload) for workload in options.workload)]


def verdict_of(server: Server, question: list[tuple[str, str]], timeout_s: float) -> dict[str, Any]:
    """Ask until all results are analysed. Raises ClientError where they are not in time."""
    last, pause = time.monotonic() + timeout_s, 0.25
    is_told = False
    while True:
        wait = pause
        try:
            answer = server.get(f"gate/?{urllib.parse.urlencode(question)}")
        except NoAnswerError as error:
            trouble = str(error)
        else:
            trouble = "results are not analysed yet; is a worker running?"
            if answer.is_success and answer.body["analysis"] == "done":
                return answer.body
            if not answer.is_success:
                trouble = answer.sentence()
                wait = max(pause, answer.retry_after_s or 0.0)
                if answer.status not in _PASSING:
                    raise ClientError(f"the gate does not answer: {trouble}")
        if time.monotonic() + wait > last:
            raise ClientError(f"no verdict within {timeout_s:g} s: {trouble}")
        if pause >= MAX_GATE_PAUSE_S and not is_told:
            note(f"{trouble}; asking again for {timeout_s:g} s")
            is_told = True
        time.sleep(wait)
        pause = min(2 * pause, MAX_GATE_PAUSE_S)


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
    session = new_session_name()
    environment = {SESSION_VARIABLE: session, "BENCHDASH_URL": options.url}
    if options.token:
        environment["BENCHDASH_TOKEN"] = options.token
    end = subprocess.run(  # noqa: S602 - it is a line for the shell
        options.run_more,
        shell=True,
        env={**os.environ, **environment},
        check=False,
    ).returncode
    if end:
        raise ClientError(f"the command that measures more ended with {end}; there is no verdict")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


def verdict_of_row(row: dict[str, Any]) -> str:
    """Return the verdict of a row, or that there is nothing to compare with."""
    return str(row["cells"][0]["verdict"]) if row["base"] else "no base"


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
    server: Server, question: list[tuple[str, str]], answer: dict[str, Any], options: argparse.Namespace
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
    add(
        "--workload",
        action="append",
        default=[],
        metavar="TEXT",
        help="only this one counts; may be repeated",
    )
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


# --- identity -----------------------------------------------------------------------------------------------


def identity_token(url: str, environment: Mapping[str, str]) -> str:
    """Return the token that the CI signs for this job and this dashboard; empty where it signs none.

    GitLab puts it into a variable, GitHub Actions is asked for it. It lives for minutes. Raises ClientError.
    """
    if ready := environment.get("BENCHDASH_ID_TOKEN"):
        return ready
    address = environment.get("ACTIONS_ID_TOKEN_REQUEST_URL", "")
    secret = environment.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
    if not (address and secret):
        return ""
    audience = urllib.parse.urlencode({"audience": url})
    request = urllib.request.Request(f"{address}{'&' if '?' in address else '?'}{audience}")
    request.add_header("Authorization", f"Bearer {secret}")
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=IDENTITY_TIMEOUT_S) as response:
            token = _read_json(response.read()).get("value")
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise ClientError(f"GitHub gives no token for this job: {error}") from None
    if not isinstance(token, str) or not token:
        raise ClientError("GitHub gives no token for this job; has it 'permissions: id-token: write'?")
    return token


# --- about --------------------------------------------------------------------------------------------------


def about(_options: argparse.Namespace) -> int:
    """Say which client this is, and what it would say of this machine and job."""
    content = Path(__file__).read_bytes()
    print(f"benchdash {VERSION}, Python {platform.python_version()}")
    print(f"sha256 {hashlib.sha256(content).hexdigest()}")
    try:
        print(f"hardware {hardware_name(dict(os.environ))}")
    except ClientError as error:
        print(f"hardware: {error}")
    for kind, facts in machine_facts().items():
        for name, value in facts.items():
            print(f"{kind} {name}: {value}")
    job = job_of(dict(os.environ))
    for name, value in (job.fields if job else {}).items():
        print(f"{job.system if job else ''} {name}: {value}")
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
    token = (options.token or identity_token(url, os.environ)).strip()
    if not token:
        raise ClientError("set BENCHDASH_TOKEN or give --token")
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise ClientError("BENCHDASH_TOKEN is no token: it holds a blank or a letter that none has")
    if parts.scheme == "http" and not _is_loopback(host) and not _warned:
        _warned.add(url)
        note(f"{url} is not encrypted: whoever is on the way can read the token; use https://")
    return Server(url, token, getattr(options, "ca_file", None) or "")


# Addresses of which it was said that they are not encrypted.
_warned: set[str] = set()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
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
    whole = Parser(prog="benchdash", description="Measure, upload and gate.")
    whole.add_argument("--version", action="version", version=f"benchdash {VERSION}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = commands.add_parser("upload", parents=[shared], help="send result files")
    add_field_options(command)
    add_delivery_options(command)
    add_upload_options(command)

    # What is kept goes to where it was to go.
    kept = _server_options(None, "send it to this address and not to where it was to go")
    command = commands.add_parser("flush", parents=[kept], help="send what is kept in the spool")
    add_delivery_options(command)
    add_flush_options(command)

    usage = "benchdash run [OPTIONS] -- COMMAND"
    command = commands.add_parser("run", parents=[shared], usage=usage, help="measure a command and send it")
    add_field_options(command)
    add_delivery_options(command)
    add_run_options(command)

    command = commands.add_parser("gate", parents=[shared], help="ask whether something became worse")
    add_gate_options(command)

    command = commands.add_parser("about", help="say which client this is, and what it knows of this machine")
    command.set_defaults(command=about)
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
        note(str(error))
        return EXIT_ERROR
    except KeyboardInterrupt:
        note("stopped")
        return EXIT_ERROR
    return end


if __name__ == "__main__":
    sys.exit(main())
