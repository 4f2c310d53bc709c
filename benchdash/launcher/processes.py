"""Child processes that end with the launcher, restart when they die, and stop within seconds."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchdash.launcher.logs import MAX_LOG_BYTES, rotate

_STOP_WITHIN_S = 5.0
_FIRST_DELAY_S = 1.0
MAX_DELAY_S = 30.0
# After this long, the cause of the last failure counts as gone.
_SETTLED_AFTER_S = 60.0
# Read by glibc: large blocks go back to the system when they are freed, and threads share their memory.
# Without it a web process grew from 160 to 350 MB. The image sets the same.
MEMORY_SETTINGS = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "262144",
    "MALLOC_TRIM_THRESHOLD_": "262144",
}
_PR_SET_PDEATHSIG = 1  # of the kernel's prctl(2), for which Python has no function
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Program:
    """A program to run. The kernel sends it ``orphan_signal`` when the launcher itself is killed."""

    name: str
    command: Sequence[str]
    orphan_signal: signal.Signals = signal.SIGTERM
    inherited: tuple[int, ...] = ()


def spawn(program: Program, environment: Mapping[str, str], **streams: object) -> "subprocess.Popen[str]":
    """Start a program in its own session, so that Ctrl-C reaches the launcher alone."""
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]  # noqa: S603 - our own programs
        program.command,
        env={**MEMORY_SETTINGS, **environment},
        stdin=subprocess.DEVNULL,
        text=True,
        pass_fds=program.inherited,
        start_new_session=True,
        preexec_fn=_in_child(os.getpid(), program.orphan_signal),  # noqa: PLW1509 - we have one thread
        **streams,
    )


def die_with_parent(number: signal.Signals) -> None:
    """Have the kernel send this process a signal when its parent ends."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(number))


def _in_child(parent: int, orphan_signal: signal.Signals) -> Callable[[], None]:
    def prepare() -> None:
        die_with_parent(orphan_signal)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def stop(processes: Sequence["subprocess.Popen[str]"]) -> None:
    """Terminate processes, and kill those that are left after a few seconds, with their children."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    deadline = time.monotonic() + _STOP_WITHIN_S
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Service:
    """A program that must run all the time."""

    def __init__(
        self,
        program: Program,
        *,
        environment: Mapping[str, str],
        logs: Path,
        max_log_bytes: int = MAX_LOG_BYTES,
    ) -> None:
        self.program = program
        self.log = logs / f"{program.name}.log"
        self.process: subprocess.Popen[str] | None = None
        self._environment = environment
        self._max_log_bytes = max_log_bytes
        self._started = 0.0
        self._start_again = 0.0
        self._delay = _FIRST_DELAY_S

    def start(self) -> None:
        with self.log.open("a") as log:
            self.process = spawn(self.program, self._environment, stdout=log, stderr=log)
        self._started = time.monotonic()

    def look_after(self) -> str | None:
        """Restart the program if it died, and return a sentence about that. Keep its log short."""
        rotate(self.log, max_bytes=self._max_log_bytes)
        now = time.monotonic()
        if self.process is None:
            if now >= self._start_again:
                self.start()
            return None
        status = self.process.poll()
        if status is None:
            return None
        # Its children must not outlive it, or two of them would do the same work.
        stop([self.process])
        self.process = None
        self._delay = _FIRST_DELAY_S if now - self._started > _SETTLED_AFTER_S else self._delay
        self._start_again = now + self._delay
        told = f"{self.program.name} ended with status {status} and is started again; see {self.log}"
        self._delay = min(self._delay * 2, MAX_DELAY_S)
        return told
