"""PostgreSQL 18 from a wheel, in ``var/postgresql``, reached through a Unix socket only."""

import os
import shlex
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from benchdash.embedded import ServerError, roles, socket_folder
from benchdash.embedded.server_user import as_server_user, binaries, give_to_server_user

# The server works in its data folder and finds it by this name: the folders above it, such as /root, may be
# closed to the server's user.
_HERE = "/proc/self/cwd"
# Exit status of pg_isready where nobody answers.
_NO_RESPONSE = 2
_SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "128MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "512MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
}


@dataclass(frozen=True)
class Postgresql:
    """The server of one ``var/``. ``settings`` are added to those for a small machine."""

    var: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return "PostgreSQL"

    @property
    def data(self) -> Path:
        return self.var / "postgresql"

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    def is_running(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(str(socket_folder(self.var) / ".s.PGSQL.5432")) == 0

    def answers(self) -> bool:
        """Return whether it answers at all, even that it takes no connections yet."""
        finished = subprocess.run(  # noqa: S603 - our own program
            [binaries() / "pg_isready", f"--host={socket_folder(self.var)}", "--port=5432", "--timeout=2"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return finished.returncode != _NO_RESPONSE

    def start(self) -> None:
        """Start the server. Raises ServerError with PostgreSQL's own reason."""
        if not (self.data / "PG_VERSION").exists():
            self._create()
        self._forget_dead_server()
        roles.write_access_rules(self.data)
        settings = {**_SETTINGS, **self.settings, "unix_socket_directories": self._socket_folder_from_data()}
        options = shlex.join(["-p", "5432", *(f"--{name}={value}" for name, value in settings.items())])
        log = f"{_HERE}/{self.log.name}"
        self._run("pg_ctl", "start", "-w", "-t", "60", "-D", _HERE, "-l", log, "-o", options)
        try:
            roles.make_database(socket_folder(self.var))
        except psycopg.Error as error:
            raise ServerError(f"PostgreSQL: the database could not be prepared: {error}") from error

    def stop(self) -> None:
        try:
            self._run("pg_ctl", "stop", "-w", "-t", "6", "-m", "fast", "-D", _HERE)
        except ServerError:
            if self.is_running():
                self._run("pg_ctl", "stop", "-w", "-t", "2", "-m", "immediate", "-D", _HERE)

    def _create(self) -> None:
        """Make a cluster, under its final name only when it is complete."""
        draft = self.data.with_name("postgresql.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        give_to_server_user(draft)
        self._run(
            "initdb",
            *("-U", roles.ADMINISTRATOR, "--auth=peer", "--encoding=UTF8", "--no-instructions"),
            # Texts sort by code point, whatever locales the machine has.
            *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            *(["--no-sync"] if self.settings.get("fsync") == "off" else []),
            *("-D", _HERE),
            folder=draft,
        )
        draft.rename(self.data)

    def _socket_folder_from_data(self) -> str:
        folder = socket_folder(self.var)
        return os.path.relpath(folder, self.data) if folder.is_relative_to(self.var) else str(folder)

    def _forget_dead_server(self) -> None:
        """Remove a stale pid file: after a hard stop another program may have the number that it names."""
        pid_file = self.data / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().split("\n", 1)[0])
            program = Path(f"/proc/{pid}/comm").read_text().strip()
        except (OSError, ValueError):
            return
        if program != "postgres":
            pid_file.unlink()

    def _run(self, program: str, *arguments: str, folder: Path | None = None) -> None:
        finished = subprocess.run(  # noqa: S603 - our own programs
            [*as_server_user(), str(binaries() / program), *arguments],
            cwd=folder or self.data,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,  # Ctrl-C is for us, who then stop the server in order
        )
        if finished.returncode:
            raise ServerError(f"PostgreSQL: {program} failed: {self._reason(finished)}")

    def _reason(self, finished: "subprocess.CompletedProcess[str]") -> str:
        lines = finished.stderr.strip().splitlines()
        if self.log.exists():
            log = self.log.read_text(errors="replace").splitlines()
            lines += [line for line in log[-20:] if "FATAL" in line or "PANIC" in line][-1:]
        return lines[-1] if lines else f"exit status {finished.returncode}"
