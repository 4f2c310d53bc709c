"""Rules of the whole code that no linter knows."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SQL = re.compile(r"\b(SELECT\b[\s\S]+\bFROM|INSERT INTO|UPDATE \w+[\s\S]+\bSET|DELETE FROM|COPY \w+)\b")
MAX_FILES_WITH_SQL = 15
# Django wants these names.
SAME_NAME = {"Command", "Migration"}
# Still to be told apart by better names.
# fmt: off
AMBIGUOUS = {
    "Columns", "Entry", "Output", "Report", "Totals",
}
# fmt: on


@cache
def modules():
    """The syntax trees of all modules outside tests, by their paths."""
    files = [file for package in ("benchdash", "ingest") for file in (ROOT / package).rglob("*.py")]
    return {str(file.relative_to(ROOT)): ast.parse(file.read_text()) for file in sorted(files)}


def texts(tree):
    """The texts in the code of a module, without docstrings; of a template text the constant parts."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_no_module_reaches_into_the_query_compiler():
    assert [path for path in modules() if "get_compiler" in (ROOT / path).read_text()] == []


def test_sql_is_written_in_few_places():
    found = [
        path
        for path, tree in modules().items()
        if "/migrations/" not in path and any(SQL.search(text) for text in texts(tree))
    ]
    assert len(found) < MAX_FILES_WITH_SQL, found


def test_no_two_public_classes_share_a_name():
    homes = defaultdict(list)
    for path, tree in modules().items():
        if path.startswith("benchdash/client/"):  # a program of its own
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path)
    shared = {name: paths for name, paths in homes.items() if len(paths) > 1 and name not in SAME_NAME}
    assert {name: paths for name, paths in shared.items() if name not in AMBIGUOUS} == {}


BEGINNING = re.compile(r'^\s*(?:"""|#)\s*(?:What|Of|Those|That|So|As|Where|Whether)\b', re.MULTILINE)


def test_no_docstring_or_comment_begins_with_a_pronoun():
    found = [
        f"{path}: {sentence.strip()}"
        for path in modules()
        if "/migrations/" not in path
        for sentence in BEGINNING.findall((ROOT / path).read_text())
    ]
    assert found == []
