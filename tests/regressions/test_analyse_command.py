import pytest
from django.core.management import CommandError, call_command

from benchdash.regressions.models import Incident
from benchdash.results.models import TouchedSeries
from tests.builders import make_project
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db

A_FIFTH_SLOWER = [1.0] * 20 + [0.8] * 6


def analyse(capsys, *arguments):
    call_command("analyse", *arguments)
    return capsys.readouterr().out.splitlines()


def test_without_more_it_looks_at_what_is_due(capsys):
    record_nights(make_project(), A_FIFTH_SLOWER)
    assert analyse(capsys) == ["3 touched series were looked at"]
    assert not Incident.objects.get().quiet


def test_everything_is_looked_at_with_progress_in_places_and_per_cent(capsys):
    for hardware in ("bench-01", "bench-02"):
        record_nights(make_project(), A_FIFTH_SLOWER, hardware=hardware)
    TouchedSeries.objects.all().delete()
    assert analyse(capsys, "--all") == ["1 of 2 places, 50 %", "2 of 2 places, 100 %"]
    assert set(Incident.objects.values_list("quiet", flat=True)) == {True}


@pytest.mark.parametrize("also", [[], ["--all"]])
def test_one_project_alone_can_be_looked_at(capsys, also):
    record_nights(make_project("mine"), A_FIFTH_SLOWER)
    record_nights(make_project("other"), A_FIFTH_SLOWER)
    assert analyse(capsys, "--project=mine", *also) == ["1 of 1 places, 100 %"]
    assert Incident.objects.get().project.slug == "mine"


def test_a_project_without_results_has_nothing_to_look_at(capsys):
    make_project("empty")
    assert analyse(capsys, "--project=empty") == ["there is nothing to look at"]


def test_an_unknown_project_is_refused():
    with pytest.raises(CommandError, match="no project is called 'nothing'"):
        call_command("analyse", "--project=nothing")
