"""Words that no page of the dashboard says."""

import re

import pytest

from benchdash.accounts.models import Role
from benchdash.dashboard import urls
from benchdash.results.models import Run
from benchdash.results.wording import counted
from tests.builders import make_project, make_run, make_runs, make_token, make_user
from tests.builders import make_record as record
from tests.dashboard.page_text import text_of

# After "1" they are no plurals.
_UNITS = {"is", "was", "has", "ms", "ns", "us", "series", "less", "does", "unless"}
_ONE_OF_SEVERAL = re.compile(r"(?<![\w.,:/=−+-])1[ \xa0]((?:more )?[a-z]+s)\b")
_JARGON = re.compile(r"\bcounterparts?\b|\bthe most telling\b|\bLast \d+ groups\b", re.IGNORECASE)


@pytest.mark.django_db
def test_no_page_says_1_and_a_plural_or_speaks_jargon(client):
    project = make_project("one", public=True)
    client.force_login(make_user(member_of=project, role=Role.ADMIN, is_superuser=True))
    make_token(project)
    release = make_run(project=project, threads=1, version="10.6.1")
    make_runs([record(threads=1, branch="main", commit="a" * 40, version="unknown")], project=project)
    make_runs([record(threads=1, branch="pull/7", commit="b" * 40)], project=project)
    addresses = [f"/p/one/{one.pattern}" for one in urls._project_pages if not one.pattern.converters]
    addresses += [f"/p/one/runs/{release.pk}/", f"/p/one/uploads/{release.upload_id}/", "/"]
    addresses += ["/p/one/history/?branch=main", "/p/one/compare/matrix/?over=nights"]
    addresses += [
        f"/p/one/compare/pair/?{'&'.join(f'run={pk}' for pk in Run.objects.values_list('pk', flat=True))}"
    ]
    read = 0
    for address in addresses:
        answer = client.get(address)
        if answer.status_code != 200 or not answer["Content-Type"].startswith("text/html"):
            continue
        read += 1
        text = text_of(answer)
        wrong = [one for one in _ONE_OF_SEVERAL.findall(text) if one not in _UNITS]
        assert not wrong, f"{address} says 1 {wrong}"
        assert not _JARGON.search(text), f"{address} says {_JARGON.search(text)[0]}"
    assert read > 25


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (1, "run", "1 run"),
        (0, "run", "0 runs"),
        (1200, "thread count", "1,200 thread counts"),
        (2, "address", "2 addresses"),
        (3, "more product or branch", "3 more product or branches"),
        (2, "entry", "2 entries"),
        (2, "day", "2 days"),
        (2, "series", "2 series"),
    ],
)
def test_a_number_and_its_noun_agree(number, noun, words):
    assert counted(number, noun) == words
