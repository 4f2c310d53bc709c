from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from benchdash.alerts.models import Subscription
from tests.builders import make_project, make_run

pytestmark = pytest.mark.django_db


def run(*arguments):
    out, err = StringIO(), StringIO()
    call_command("subscribe", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def project():
    return make_project("nightly")


def test_an_address_is_subscribed_once(project):
    assert run("--project", "nightly", "alice@example.org") == ("subscribed\n", "")
    assert run("--project", "nightly", "alice@example.org") == ("was subscribed already\n", "")
    subscription = Subscription.objects.get()
    assert (subscription.project, subscription.address) == (project, "alice@example.org")


def test_filters_are_found_by_name(project):
    make_run(project=project, product="MariaDB", hardware="bench-03")
    run(
        "--project",
        "nightly",
        "--product",
        "MariaDB",
        "--branch",
        "main",
        "--hardware",
        "bench-03",
        "a@b.org",
    )
    subscription = Subscription.objects.get()
    assert (subscription.product.name, subscription.branch, subscription.hardware.name) == (
        "MariaDB",
        "main",
        "bench-03",
    )


def test_options_say_what_is_told_and_when(project):
    run(
        *("--project", "nightly", "--kind", "regression", "--kind", "silence", "--rhythm", "weekly"),
        *("--weekday", "4", "--hour", "7", "--time-zone", "Europe/Berlin", "--all-quiet"),
        *("--workload-group", "writes", "--metric", "tps", "--smallest-change", "0.05", "a@b.org"),
    )
    subscription = Subscription.objects.get()
    assert subscription.kinds == ["regression", "silence"]
    assert subscription.rhythm_in_words == "on Fridays at 07:00 (Europe/Berlin), also when all is quiet"
    assert (subscription.workload_group, subscription.metric, subscription.smallest_change) == (
        *("writes", "tps", 0.05),
    )


def test_one_may_subscribe_to_what_has_no_results_yet(project):
    out, err = run("--project", "nightly", "--product", "MariaDB", "alice@example.org")
    assert out == "subscribed\n"
    assert "nightly has no results of 'MariaDB' yet" in err
    make_run(project=project, product="MariaDB")
    assert Subscription.objects.get().product.versions.count() == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--project", "missing", "alice@example.org"], "no project is called 'missing'"),
        (["--project", "nightly", "alice"], "Enter a valid email address"),
        (["--project", "nightly", "--hour", "24", "alice@example.org"], "an hour is 0 to 23"),
        (["--project", "nightly", "--time-zone", "Berlin", "a@b.org"], "no time zone is called 'Berlin'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(project, arguments, sentence):
    with pytest.raises(CommandError, match=sentence):
        run(*arguments)
    assert not Subscription.objects.exists()
