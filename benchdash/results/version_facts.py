"""What is known of a build beside its name: its commit, when that was made, and when it was released."""

from collections.abc import Mapping
from datetime import date, datetime

from django.db import IntegrityError, transaction
from django.db.models import Count

from benchdash.accounts.access import Viewer
from benchdash.accounts.services import audit
from benchdash.results.corrections import CorrectionError, Effect
from benchdash.results.models import Measurement, Run, ServerVersion
from benchdash.results.services import hold_results, touch
from benchdash.results.summaries import recounted


@transaction.atomic
def correct_version(
    version: ServerVersion, facts: Mapping[str, str | datetime | date | None], *, by: Viewer, reason: str = ""
) -> Effect:
    """Correct ``commit``, ``committed_at`` and ``released_on``, those of them that are given.

    Its series are looked at again: the order of commits may be another.

    Raises CorrectionError where another row is this build at this commit already.
    """
    hold_results(version.project, alone=True)
    said = {}
    for name, value in facts.items():
        said[name] = f"{getattr(version, name)} → {value}"
        setattr(version, name, value)
    try:
        with recounted(Run.objects.filter(version=version)), transaction.atomic():
            version.save(update_fields=list(facts))
    except IntegrityError:
        raise CorrectionError("this build is known at this commit already; merge the two") from None
    series = set(
        Measurement.objects.filter(run__version=version, series__is_derived=False)
        .values_list("series_id", flat=True)
        .distinct()
    )
    touch(series, quiet=True)
    audit(version.project, by, "version corrected", str(version), reason=reason, detail=said)
    counted = version.runs.aggregate(runs=Count("pk"), uploads=Count("upload_id", distinct=True))
    return Effect(runs=counted["runs"], uploads=counted["uploads"], series=len(series))
