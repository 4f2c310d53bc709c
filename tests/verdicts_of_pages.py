"""The verdicts that pages and answers give of the newest of two releases, each read as people see it."""

import json
import re
from html import unescape

from tests.dashboard.page_text import without_charts

# By the words for a difference, without the notes that follow them.
WORDS = {
    "slower": "worse",
    "faster": "better",
    "likely slower": "likely_worse",
    "likely faster": "likely_better",
    "in both directions": "mixed",
    "no difference": "same",
    "not enough to tell": "unknown",
}


class Places:
    """Reads the verdicts of ``metric`` at each place, in a project with two releases."""

    def __init__(self, client, assistant, project, *, base, other, metric="tps"):
        self.client, self.assistant, self.project = client, assistant, project
        self.base, self.other, self.metric = base, other, metric

    def cells(self):
        """By place: {(workload, threads): verdict} of what both releases have."""
        sides = {"base": json.dumps({"version": self.base}), "against": json.dumps({"version": self.other})}
        gate = self._answer("gate", version=self.other, base=self.base)
        difference = self._answer("difference", **sides)
        cells = _cells(self._answer("compare", metric=self.metric, **sides)["rows"])
        [_, matrix, _], [_, pair] = self._matrix(), self._glance()
        return {
            "API": cells,
            "API of the matrix": _cells(self._answer("matrix", metric=self.metric)["rows"]),
            "API of the pair": _cells(
                row for one in difference["metrics"] if one["metric"] == self.metric for row in one["rows"]
            ),
            "gate": _cells(row for row in gate["rows"] if row["metric"] == self.metric),
            "assistant": _cells(
                {**row, "cells": list(row["cells"].values())} for row in self._told()["rows"]
            ),
            "matrix": {key: verdict for key, verdict in matrix.items() if key in cells},
            "pair": {key: verdict for key, verdict in pair.items() if key in cells},
        }

    def rows(self):
        """By place: {workload: verdict} over thread counts."""
        workloads = {one.name: one.pk for one in self.project.workloads.all()}
        return {
            "matrix": self._matrix()[0],
            "pair": {name: self._glance(workload=pk)[0] for name, pk in workloads.items()},
            "matrix of it alone": {
                name: self._matrix(workload=pk)[0][name] for name, pk in workloads.items()
            },
        }

    def means(self):
        """By place: the verdict of the mean of all rows, empty where the place shows none."""
        badge = self.client.get(f"/p/{self.project.slug}/badge.svg?kind=geomean&metric={self.metric}")
        words = re.search('aria-label="([^"]*)"', badge.content.decode())[1]
        return {
            "matrix": self._matrix()[2],
            "pair": self._glance()[0],
            "assistant": self._told()["columns"][0]["verdict"],
            "badge": _verdict(re.split("[,:] ", words)[-1]),
        }

    def headlines(self):
        """By place: the sentence about all."""
        sides = {"base": json.dumps({"version": self.base}), "against": json.dumps({"version": self.other})}
        told = self.assistant.ask("what_changed", project=self.project.slug, version=self.other)
        page = self._page("compare/pair")
        return {
            "pair": _in_one_line(unescape(re.search('class="headline">([^<]*)<', page)[1])),
            "API": _in_one_line(self._answer("difference", **sides)["summary"]),
            "assistant": _in_one_line(told["places"][0]["summary"]),
        }

    def gate(self):
        """The gate's verdict, and those of all its rows."""
        gate = self._answer("gate", version=self.other, base=self.base)
        return gate["verdict"], {
            (row["metric"], *key): verdict for row in gate["rows"] for key, verdict in _cells([row]).items()
        }

    def _told(self):
        asked = {"project": self.project.slug, "metric": self.metric, "base": self.base}
        return self.assistant.ask("compare", **asked, against=[self.other])

    def _answer(self, name, **query):
        answer = self.client.get(f"/api/v1/{name}/", {"project": self.project.slug, **query})
        assert answer.status_code == 200, answer.content
        return answer.json()

    def _page(self, page, **query):
        answer = self.client.get(f"/p/{self.project.slug}/{page}/", query)
        assert answer.status_code == 200
        return " ".join(answer.content.decode().split())

    def _matrix(self, **query):
        """The verdicts by workload, by workload and thread count, and of the mean."""
        opened = [one.pk for one in self.project.workloads.all()]
        rows, cells, mean, workload = {}, {}, "", ""
        page = self._page("compare/matrix", metric=self.metric, rows="flat", open=opened, **query)
        page = without_charts(page)
        # Where all rows have the same thread count it stands above them.
        shared = re.search("; ([0-9]+) threads?</span>", page)
        for head, row in _rows(_table(page, "matrix")):
            verdict = look_of(row)
            if "matrix-total" in row:
                mean = verdict
                continue
            name, threads = _row_name(head)
            if "matrix-part" in row:
                cells[workload, threads] = verdict
                continue
            workload = name
            rows[workload] = verdict
            if "thread counts" not in row:
                cells[workload, int(shared[1]) if shared else threads] = verdict
        return rows, cells, mean

    def _glance(self, **query):
        """The verdict of the mean, or else of the only row, and those by workload and thread count."""
        page = self._page("compare/pair", rows="all", **query)
        mean, cells = "", {}
        for name in ("glance", "glance-same"):
            if f'id="{name}"' not in page:
                continue
            heads = re.findall("<th.*?</th>", re.search("<thead>(.*?)</thead>", _table(page, name))[1])
            [at] = [at for at, one in enumerate(heads) if "transactions per second" in one]
            for head, row in _rows(_table(page, name)):
                shown = re.findall("<td.*?</td>", row)[at - 1]
                if "glance-total" in row:
                    mean = look_of(shown)
                else:
                    cells[_row_name(head)] = look_of(shown)
        return mean or "".join(cells.values()), cells


def _cells(rows):
    return {
        (row["workload"], row["threads"]): cell["verdict"]
        for row in rows
        for cell in row["cells"]
        if cell and row["base"]
    }


def _table(page, name):
    return re.search(rf'<table[^>]*id="{name}".*?</table>', page)[0]


def _rows(table):
    """The head and the whole of each row of the body, as they are written."""
    body = table.partition("</thead>")[2]
    return [(re.search("<th.*?</th>", row)[0], row) for row in re.findall("<tr.*?</tr>", body)]


def _row_name(head):
    """Workload and thread count, None where no single one is said."""
    words = " ".join(unescape(re.sub("<[^>]+>", " ", head)).split())
    name, threads = re.fullmatch(r"(.*?)(?:\b(\d+) threads?)?", words).groups()
    return name.strip(), threads and int(threads)


def look_of(html):
    """The verdict that the last cell shows by its look."""
    looks = re.findall(r"level-([a-z-]+)", html)
    return re.sub("-$", "", looks[-1]).replace("-", "_") if looks else ""


def _in_one_line(words):
    return " ".join(words.split())


def _verdict(words):
    return WORDS[words.strip()]
