"""Baselines in the API: set, moved and ended, each with a reason."""

import pytest

from benchdash.accounts.models import AuditEntry
from tests.builders import make_series

pytestmark = pytest.mark.django_db


def test_a_baseline_is_moved_and_ended_and_the_former_ones_stay(make_world):
    world = make_world(public=True)
    bob, address = world.clients["bob"], "/api/v1/baselines/"
    make_series([100], project=world.project, workload="quartz_writes")
    sent = {"project": "quartz", "branch": "quartz-branch", "commit": f"{2:040x}", "reason": "a new start"}
    made = bob.post(address, sent).json()
    assert (made["commit"], made["version"], made["in_force"], made["by"]) == (f"{2:040x}", None, True, "Bob")
    same = bob.post(address, sent)
    assert (same.status_code, same.json()["detail"]) == (400, "this is the baseline already")
    former = bob.patch(f"{address}{world.baseline.pk}/", {"commit": f"{1:040x}", "reason": "back"})
    assert former.status_code == 400
    moved = bob.patch(f"{address}{made['id']}/", {"commit": f"{1:040x}", "reason": "back"}).json()
    assert moved["commit"] == f"{1:040x}"
    both = bob.post(address, {**sent, "version": "10.6.23"})
    assert both.status_code == 400
    asked = f"{address}?project=quartz&branch=quartz-branch"
    assert [row["id"] for row in bob.get(f"{asked}&in_force=true").json()["results"]] == [moved["id"]]
    assert len(bob.get(asked).json()["results"]) == 3
    assert bob.delete(f"{address}{moved['id']}/").status_code == 400
    assert bob.delete(f"{address}{moved['id']}/?reason=no+longer").status_code == 204
    assert bob.get(asked).json()["results"][0]["name"] == "none"
    assert AuditEntry.objects.filter(action="baseline moved").count() == 4
