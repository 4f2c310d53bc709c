"""Published results of nine MySQL builds, where they lie beside the checkout, and the tables made of them."""

import csv
import json
import re
from pathlib import Path

from django.core.management import call_command

from tests.builders import make_project

SMALL_DATUM = Path(__file__).parents[3] / "shared/data/third_party/small_datum/mysql_2025_11"
PATTERN = "x.{version}_{build}.{config}.pk1/sb.o.{workload}.range{range}.pk1.dop{threads}"


def import_small_datum(tmp_path, **fields):
    """A project with all of its runs; ``fields`` are those of make_project."""
    project = make_project(slug="small-datum", **fields)
    builds = sorted(folder.name for folder in SMALL_DATUM.glob("x.*"))
    names = [re.fullmatch(r"x\.(my(\d)(\d)(\d+)(v2)?)_.*", build) for build in builds]
    versions = {
        name[1]: {
            "product": "MySQL",
            "version": f"{name[2]}.{name[3]}.{int(name[4])}",
            # The same release built again is a build of its own and no repetition.
            "build": name[5] or "rel_o2nofp",
        }
        for name in names
    }
    mapping = tmp_path / "map.json"
    mapping.write_text(json.dumps({"version": versions, "fields": {"hardware": "c8r32"}}))
    call_command(
        "import_folder", "--project=small-datum", f"--pattern={PATTERN}", f"--map={mapping}", str(SMALL_DATUM)
    )
    return project


def published_versions():
    """The versions of the columns, from the block that names them."""
    text = (SMALL_DATUM / "qps.rel.all.tsv").read_text()
    return [
        f"{a}.{b}.{int(c)}" for a, b, c in re.findall(r"^col-\d+ : x\.my(\d)(\d)(\d+)_", text, re.MULTILINE)
    ]


def published_rows():
    for row in csv.reader((SMALL_DATUM / "qps.rel.all.tsv").open(), delimiter="\t"):
        if len(row) > 1 and row[0][0].isdigit():
            yield row[-1].replace("_range", " range"), [float(cell) for cell in row[:-1]]
