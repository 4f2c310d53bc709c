"""Ask axe-core what of a page people cannot see, reach or have read aloud."""

from functools import cache
from pathlib import Path

_SCRIPT = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
_RUN = """async () => (await axe.run({ resultTypes: ["violations"] })).violations
  .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`)"""


@cache
def _source() -> str:
    return _SCRIPT.read_text()


def findings(page):
    """Return what axe finds on a page that is shown, in the light theme and in the dark one."""
    page.evaluate(_source())
    found = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for finding in page.evaluate(_RUN):
            found.setdefault(finding, []).append(scheme)
    page.emulate_media(color_scheme="light")
    return found
