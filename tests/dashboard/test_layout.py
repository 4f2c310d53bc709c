"""Each page owns its parts."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = "benchdash.dashboard.pages."
# What puts the addresses of all pages together.
EXEMPT = {"benchdash/urls.py", "benchdash/dashboard/urls.py"}


def imported(module):
    """The names of the modules that a file imports; where it imports from one, also what."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def page_of(name):
    return name.removeprefix(PAGES).partition(".")[0] if name.startswith(PAGES) else ""


def test_no_module_of_a_page_is_imported_from_outside_it():
    found = []
    for package in ("benchdash", "ingest"):
        for module in sorted((ROOT / package).rglob("*.py")):
            path = module.relative_to(ROOT).as_posix()
            own = page_of(path.removesuffix(".py").replace("/", "."))
            pages = {page_of(name) for name in imported(module)} - {"", own}
            if pages and path not in EXEMPT:
                found.append((path, pages))
    assert not found
