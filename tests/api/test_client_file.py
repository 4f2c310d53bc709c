"""The client, as one downloads it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.django_db


def test_anybody_downloads_the_client_and_checks_it_with_sha256sum(client, tmp_path):
    script, checksum = client.get("/client/benchdash.py"), client.get("/client/benchdash.py.sha256")
    assert script["Content-Type"] == "text/x-python; charset=utf-8"
    assert script["Cache-Control"] == "public, no-cache"
    (tmp_path / "benchdash.py").write_bytes(script.content)
    (tmp_path / "benchdash.py.sha256").write_bytes(checksum.content)
    checked = subprocess.run(
        ["sha256sum", "--check", "benchdash.py.sha256"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout) == (0, b"benchdash.py: OK\n")
    about = subprocess.run(
        [sys.executable, tmp_path / "benchdash.py", "about"], capture_output=True, text=True, check=True
    )
    assert checksum.content.decode().split()[0] in about.stdout


def test_who_has_the_client_already_is_sent_nothing(client):
    tag = client.get("/client/benchdash.py")["ETag"]
    again = client.get("/client/benchdash.py", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
