"""The iterations of one run."""

from itertools import groupby

from benchdash.dashboard.charts import common
from benchdash.dashboard.charts.common import Figure, token
from benchdash.dashboard.shell import numbers
from benchdash.results.models import IntervalSamples


def iterations(samples: IntervalSamples, *, unit: str, direction: str, score: float) -> Figure:
    """The score of every iteration, fork by fork, beside the score of the run."""
    at = {name: samples.columns.index(name) for name in ("fork", "iteration", "score")}
    rows = [row for row in samples.rows if row[at["score"]] is not None]
    data = []
    for number, (fork, found) in enumerate(groupby(rows, key=lambda row: row[at["fork"]])):
        own = list(found)
        colour = common.unordered_colour(number)
        data.append(
            common.line(
                f"fork {fork:g}",
                [f"{fork:g}.{row[at['iteration']]:g}" for row in own],
                [row[at["score"]] for row in own],
                colour=colour,
                hover=[f"{numbers.number(row[at['score']])} {common.plain(unit)}" for row in own],
            )
        )
    labels = [label for trace in data for label in trace["x"]]
    layout = common.base_layout(
        xaxis={
            **common.versions_axis(labels),
            "nticks": 12,
            "title": common.axis("fork.iteration")["title"],
        },
        yaxis=common.metric_axis("score", unit, direction),
        shapes=[
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": score,
                "y1": score,
                "line": {"color": token("ink"), "width": 1, "dash": "dash"},
            }
        ],
    )
    return common.figure(data, layout)
