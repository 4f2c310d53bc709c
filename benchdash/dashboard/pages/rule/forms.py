"""The form of the rule."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings

from benchdash.regressions.detection.shifts import MIN_EFFECT
from benchdash.regressions.options import (
    DEFAULT_MEAN_MARGIN,
    DEFAULT_ROW_MARGIN,
    EQUIVALENCE_MARGIN,
    GATE_MEAN_MARGIN,
    GATE_ROW_MARGIN,
    MIN_CONFIDENCE,
    OF_RULE,
    SMALLEST_CHANGE,
)

_IN_PER_CENT = (SMALLEST_CHANGE, MIN_CONFIDENCE, EQUIVALENCE_MARGIN, GATE_ROW_MARGIN, GATE_MEAN_MARGIN)
_LEAST = MIN_EFFECT * 100


def _per_cent(label: str, help_text: str, *, least: float, most: float) -> forms.FloatField:
    return forms.FloatField(
        required=False,
        min_value=least,
        max_value=most,
        label=label,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )


class RuleForm(forms.Form):
    """Figures are in per cent; an empty one is the default. ``metrics`` are those to choose from."""

    smallest_change = _per_cent(
        "Smallest change, %",
        "An incident needs a series that became at least so much slower or faster. Nothing below"
        f" {_LEAST:g} % is looked for at all.",
        least=_LEAST,
        most=90,
    )
    min_confidence = _per_cent(
        "Confidence, %",
        "How sure that change must be. Unless said here, whatever is confirmed counts.",
        least=0,
        most=99.99,
    )
    equivalence_margin = _per_cent(
        "No difference within, %",
        "Versions that certainly differ by less are the same in comparisons and at the gate;"
        f" {settings.EQUIVALENCE_MARGIN * 100:g} unless said here. It has no part in incidents.",
        least=0,
        most=50,
    )

    gate_row_margin = _per_cent(
        "Gate: no row lost, %",
        f"A gate passes where such a loss is excluded of every row; {DEFAULT_ROW_MARGIN * 100:g} unless said"
        " here.",
        least=0.1,
        most=50,
    )
    gate_mean_margin = _per_cent(
        "Gate: the mean lost less than, %",
        f"The same of the mean of all rows; {DEFAULT_MEAN_MARGIN * 100:g} unless said here.",
        least=0.1,
        most=50,
    )

    def __init__(self, *args: Any, metrics: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if metrics:
            self.fields["silent_metrics"] = forms.MultipleChoiceField(
                required=False,
                choices=metrics,
                widget=forms.CheckboxSelectMultiple,
                label="Metrics that make no incident",
                help_text="Their changes stay on charts. Metrics that come in later make incidents.",
            )

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of the project that were said; what is at its default is left out."""
        said = {name: self.cleaned_data.get(name) for name in OF_RULE}
        return {
            name: round(value / 100, 8) if name in _IN_PER_CENT else sorted(value)
            for name, value in said.items()
            if value not in (None, [])
        }


def as_sent(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a project as the form's fields say them."""
    return {
        name: round(options[name] * 100, 6) if name in _IN_PER_CENT else options[name]
        for name in OF_RULE
        if name in options
    }
