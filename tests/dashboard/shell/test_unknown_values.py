"""What an address asks for and nothing here has."""

import pytest
from django.http import QueryDict

from benchdash.dashboard.shell.filters import (
    one_of,
    some_of,
    some_of_names,
    unknown_of_chips,
    unknown_value,
    unseen,
)
from tests.builders import make_project, make_run
from tests.dashboard.page_text import text_of


def test_what_is_unknown_is_said_with_what_there_is_and_what_is_shown():
    assert unknown_value("metric", "zzz", ["tps", "qps"], shown="tps") == (
        "There is no metric “zzz” here; there are tps, qps. Shown: tps."
    )
    assert unknown_value("series", "abc") == "There is no series “abc” here."
    assert unknown_value("threads", "x", ["4"]) == "There is no thread count “x” here; there is 4."


def test_of_many_things_only_the_first_are_named_and_no_value_is_written_at_length():
    said = unknown_value("workload", "z" * 5000, [f"w{number}" for number in range(20)])
    assert said.endswith("w6, w7 and 12 more.")
    assert len(said) < 300


def test_each_value_that_is_no_choice_of_its_chip_is_said_once():
    chips = [
        some_of_names("state", "State", ["new", "fixed"], []),
        some_of("workload", "Workloads", [("17", "ro")], ["17"]),
        one_of("show", "Columns", [("8", "last 8")], "8", empty=""),
        unseen("axis", ["log"], shown="auto"),
    ]
    query = QueryDict("state=new&state=foo&state=foo&workload=99&show=&axis=log&other=1")
    assert list(unknown_of_chips(query, chips)) == [
        "There is no state “foo” here; there are new, fixed. Shown: all.",
        "There is no workload “99” here; there is ro. Shown: ro.",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("?metric=zzz", "There is no metric “zzz” here; there are tps, latency_avg. Shown: transactions per"),
        ("?hardware=moon", "There is no hardware “moon” here; there is box. Shown: all."),
        ("compare/matrix/?threads=x", "There is no thread count “x” here; there is 4. Shown: all."),
        ("compare/matrix/?axis=cubic", "There is no axis “cubic” here; there are linear, log. Shown: auto."),
        ("compare/matrix/?product=Oracle", "There is no product “Oracle” here; there is MariaDB."),
        ("compare/matrix/?v=99.1.1", "Nothing here is called 99.1.1 , as the address says"),
        ("compare/matrix/?metric=zzz", "There is no metric “zzz” here; there are tps, latency_avg."),
        ("compare/matrix/?sort=q", "There is no order “q” here; there are name, last, worst. Shown: name."),
        ("compare/matrix/?hardware=moon", "There is no hardware “moon” here; there is box."),
        ("compare/pair/?workload=nope", "There is no workload “nope” here; there is oltp_read_only."),
        ("history/?series=abc", "There is no series “abc” here."),
        ("history/?metric=zzz", "There is no metric “zzz” here; there are tps, latency_avg."),
        ("history/?workload=nope", "There is no workload “nope” here; there is oltp_read_only."),
        ("incidents/?state=foo", "There is no state “foo” here; there are new, acknowledged,"),
        ("incidents/?kind=foo", "There is no kind “foo” here; there are regression, improvement,"),
        ("runs/?version=9", "There is no version “9” here; there are 10.6.2, 10.6.1."),
        ("uploads/?state=foo", "There is no state “foo” here; there are queued,"),
        ("workloads/?page=1", ""),
    ],
)
def test_every_page_says_what_of_its_address_is_unknown(client, address, said):
    project = make_project("bench", public=True)
    for version in ("10.6.1", "10.6.2"):
        make_run(project=project, version=version, readings={"tps": 100.0, "latency_avg": 1.0})
    answer = client.get(f"/p/bench/{address}")
    assert answer.status_code == 200
    assert said in text_of(answer)
    assert ("There is no" in text_of(answer)) is said.startswith("There is no")


@pytest.mark.django_db
def test_what_a_workload_is_called_and_its_id_are_both_known(client):
    run = make_run(project=make_project("bench", public=True))
    for text in (run.workload.name, run.workload_id):
        assert "There is no" not in text_of(client.get(f"/p/bench/compare/matrix/?workload={text}"))
