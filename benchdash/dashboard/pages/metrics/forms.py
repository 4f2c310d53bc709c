"""The form of one metric: what it is, whether it is watched, and which change of it matters."""

from typing import Any, Final

from django import forms
from django.http import QueryDict

from benchdash.regressions.detection.shifts import MIN_EFFECT
from benchdash.regressions.project_metrics import ListedMetric
from benchdash.results.metric_corrections import MAX_RELATIVE_CHANGE, OF_OWN_METRICS, WISHES
from benchdash.results.models import ProjectMetric

_LEAST: Final = MIN_EFFECT * 100
_DIRECTIONS: Final = (
    ("higher", "Higher is better"),
    ("lower", "Lower is better"),
    ("unknown", "Not known: drawn and compared, never judged"),
)
_WATCHED: Final = (("", "As by default"), ("yes", "Yes"), ("no", "No: drawn and compared only"))


class MetricForm(forms.Form):
    """Its figures are in per cent and in the unit of the metric; an empty one is the default."""

    unit = forms.CharField(
        required=False,
        max_length=ProjectMetric._meta.get_field("unit").max_length,
        help_text="MB, %, pages. It says what the stored figures are; they stay as they are.",
    )
    direction = forms.ChoiceField(label="Which is better", choices=_DIRECTIONS, widget=forms.RadioSelect)
    watched = forms.ChoiceField(
        label="Look for changes",
        choices=_WATCHED,
        required=False,
        help_text="A change that is confirmed makes an incident, which is listed and mailed.",
    )
    smallest_change = forms.FloatField(
        label="Smallest change that matters, %",
        required=False,
        min_value=_LEAST,
        max_value=MAX_RELATIVE_CHANGE * 100,
        help_text=f"At least {_LEAST:g} %, below which nothing is looked for.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    smallest_change_absolute = forms.FloatField(
        label="Smallest difference that matters, in its unit",
        required=False,
        help_text="Such as 0.01 of a recall. Where both are said, a change must reach both.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    aggregation = forms.ChoiceField(
        label="Of several values of one run",
        choices=[(name, f"Take {words}") for name, words in ProjectMetric.Aggregation.choices],
    )
    kind = forms.ChoiceField(
        label="A figure is",
        choices=[(name, words.capitalize()) for name, words in ProjectMetric.Kind.choices],
        help_text="Of a rate or a total there is also a figure per operation, where the throughput is known.",
    )
    reason = forms.CharField(required=False, max_length=1000, help_text="It is kept in the audit log.")

    def __init__(self, data: QueryDict | None, *, metric: ListedMetric) -> None:
        super().__init__(data, initial=_said(metric))
        if not metric.is_own:
            for name in OF_OWN_METRICS:
                del self.fields[name]
        self.fields["unit" if metric.is_own else "watched"].widget.attrs["autofocus"] = True

    @property
    def wishes(self) -> dict[str, Any]:
        """Return what was said by the names of WISHES."""
        said = {name: value for name, value in self.cleaned_data.items() if name in WISHES}
        watched, share = said["watched"], said["smallest_change"]
        return {
            **said,
            "watched": watched == "yes" if watched else None,
            "smallest_change": None if share is None else round(share / 100, 8),
        }


def _said(metric: ListedMetric) -> dict[str, Any]:
    share = metric.smallest_change
    return {
        "unit": metric.unit,
        "direction": metric.direction,
        "watched": "" if metric.said_watched is None else "yes" if metric.said_watched else "no",
        "smallest_change": None if share is None else round(share * 100, 6),
        "smallest_change_absolute": metric.smallest_change_absolute,
        "aggregation": metric.aggregation,
        "kind": metric.kind,
    }
