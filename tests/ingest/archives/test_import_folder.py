"""Folders of result files, imported by what their names say."""

import gzip
import json
import shlex
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchdash.regressions.comparison.columns import Selector
from benchdash.regressions.comparison.version_table import compare
from benchdash.results.models import Run
from ingest.models import Copy, Upload
from tests.ingest.formats.real_files import SHARED
from tests.ingest.packing import tar_of, zip_of
from tests.ingest.sending import NIGHTS
from tests.ingest.small_datum import SMALL_DATUM, import_small_datum, published_rows, published_versions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("project")]

CONTROL = SHARED.parent / "control"
SAMPLES = Path(__file__).parents[3] / "ingest/samples"
REPORT = (NIGHTS / "000/oltp_read_only.txt").read_bytes()


def test_one_bad_file_does_not_stop_the_rest_and_a_dry_run_stores_nothing(tmp_path, capsys):
    (tmp_path / "10.6.1").mkdir()
    (tmp_path / "10.6.1/reads.txt").write_bytes(REPORT)
    (tmp_path / "10.6.1/reads.meta.json").write_text(json.dumps({"product": "MariaDB", "threads": 4}))
    (tmp_path / "10.6.1/cut.txt").write_bytes(REPORT[:700])
    arguments = ["import_folder", "--project=mine", "--pattern={version}/{workload}.txt", "--set=hardware=m1"]

    call_command(*arguments, "--dry-run", str(tmp_path))
    assert not Upload.objects.exists()
    assert "10.6.1/reads.txt: sysbench, MariaDB 10.6.1, reads, 4 threads on m1" in capsys.readouterr().out

    call_command(*arguments, "--set=product=MariaDB", str(tmp_path))
    captured = capsys.readouterr()
    assert "1 imported" in captured.out
    assert "1 refused" in captured.out
    assert "10.6.1/cut.txt" in captured.err
    assert [(run.version.version, run.workload.name) for run in Run.objects.all()] == [("10.6.1", "reads")]

    call_command(*arguments, "--set=product=MariaDB", str(tmp_path))
    assert "1 known already" in capsys.readouterr().out


def test_a_dry_run_names_what_lies_beside_and_what_is_left_alone(tmp_path, capsys):
    (tmp_path / "sb.o.reads.dop4").write_bytes(REPORT)
    (tmp_path / "sb.vm.reads.dop4").write_text("no vmstat\n")
    (tmp_path / "README.md").write_text("how it was measured\n")
    arguments = ["import_folder", "--project=mine", "--pattern=sb.o.{workload}.dop{threads}"]
    arguments += ["--companion=sb.vm.{workload}.dop{threads}", "--set=hardware=m1", "--set=product=MariaDB"]
    call_command(*arguments, "--set=version=10.6.1", "--dry-run", str(tmp_path))
    told = capsys.readouterr().out
    assert "sb.o.reads.dop4: sysbench, MariaDB 10.6.1, reads, 4 threads on m1" in told
    assert "  with sb.vm.reads.dop4" in told
    assert "README.md: ignored, it does not fit the pattern" in told
    assert told.endswith("1 would be imported, 1 ignored\n")


def thread_counts_of_two_versions(folder):
    """Reports whose names say product, version, workload and threads, beside samples and a description."""
    measured = SAMPLES / "releases/sysbench"
    for version in ("10.11.5", "10.11.19"):
        for threads in (4, 8, 16):
            data = (measured / f"mariadb-{version}/oltp_read_only/rep1/t{threads:02}.txt").read_bytes()
            (folder / f"ma_{version}_RO_{threads}th.sysbench.txt").write_bytes(data)
    (folder / "ma_10.11.5_RO_4th.vmstat.txt").write_bytes(
        (measured / "mariadb-10.11.19/oltp_read_only/rep1/t08.vmstat.txt").read_bytes()
    )
    (folder / "README.md").write_text("how it was measured\n")


def test_the_proposed_command_imports_what_was_shown(tmp_path, capsys):
    folder = tmp_path / "of two versions"
    folder.mkdir()
    thread_counts_of_two_versions(folder)
    call_command("import_folder", "--project=mine", "--propose", str(folder))
    assert not Upload.objects.exists()
    *told, command = capsys.readouterr().out.splitlines()
    assert told[0] == "file\tproduct\tversion\thardware\tworkload\tthreads"
    assert told[1] == "ma_10.11.19_RO_16th.sysbench.txt\tMariaDB\t10.11.19\t?\toltp_read_only\t16"
    assert "0 of 6 files are complete" in told
    assert "hardware is missing in all 6 files" in told
    assert any(line.startswith("README.md: not a result") for line in told)

    program, *arguments = shlex.split(command)
    assert program == "manage.py"
    with pytest.raises(CommandError, match="every file was refused"):
        call_command(*arguments)
    assert "hardware is missing in all 6 files" in capsys.readouterr().err
    call_command(*[one + "m1" if one == "hardware=" else one for one in arguments])
    assert "6 imported" in capsys.readouterr().out
    runs = Run.objects.order_by("version__sort_key", "threads")
    assert {(one.version.product.name, one.workload.name) for one in runs} == {("MariaDB", "oltp_read_only")}
    assert list(runs.values_list("version__version", "threads")) == [
        (version, threads) for version in ("10.11.5", "10.11.19") for threads in (4, 8, 16)
    ]


def test_without_a_pattern_what_is_missing_is_told_once_and_a_command_proposed(tmp_path, capsys):
    thread_counts_of_two_versions(tmp_path)
    with pytest.raises(CommandError, match="every file was refused"):
        call_command("import_folder", "--project=mine", str(tmp_path))
    captured = capsys.readouterr()
    assert captured.err.count("product, version, hardware and workload are required") == 6
    assert "version is missing in 6 of 7 files" in captured.err
    assert "--pattern 'ma_{version}_RO_{threads}th.sysbench.txt'" in captured.out


def test_an_archive_is_imported_like_a_folder_and_its_bad_files_are_listed_at_the_end(tmp_path, capsys):
    files = {"10.6.1/reads.txt": REPORT, "10.6.1/cut.txt": REPORT[:700], "../10.6.1/x.txt": b""}
    (tmp_path / "results").write_bytes(gzip.compress(tar_of(files)))
    arguments = ["import_folder", "--project=mine", "--pattern={version}/{workload}.txt"]
    arguments += ["--set=hardware=m1", "--set=product=MariaDB", str(tmp_path / "results")]
    call_command(*arguments)
    told = capsys.readouterr()
    assert "2 of 2 files, 100 %" in told.out
    assert told.out.endswith("2 refused, 1 imported\n")
    assert "../10.6.1/x.txt: its name leads out of the archive" in told.err
    assert "10.6.1/cut.txt: " in told.err
    assert [upload.came_alone for upload in Upload.objects.all()] == [True, True]


def test_only_where_every_file_was_refused_the_command_fails(tmp_path):
    (tmp_path / "cut.txt").write_bytes(REPORT[:700])
    (tmp_path / "results.zip").write_bytes(zip_of({"reads.txt": REPORT}))
    with pytest.raises(CommandError, match="every file was refused"):
        call_command("import_folder", "--project=mine", str(tmp_path))
    (tmp_path / "results.zip").write_bytes(zip_of({"reads.txt": REPORT})[:-20])
    with pytest.raises(CommandError, match="is cut or damaged"):
        call_command("import_folder", "--project=mine", str(tmp_path / "results.zip"))
    with pytest.raises(CommandError, match="is no archive"):
        call_command("import_folder", "--project=mine", str(tmp_path / "cut.txt"))


def test_a_pattern_that_fits_nothing_is_said_in_a_sentence(tmp_path):
    with pytest.raises(CommandError, match=r"no file of .* fits the pattern"):
        call_command("import_folder", "--project=mine", "--pattern={version}.txt", str(tmp_path))


@pytest.mark.skipif(not SMALL_DATUM.is_dir(), reason="the published results of small_datum are not here")
def test_published_relative_throughput_of_nine_builds_comes_out_of_their_files(tmp_path, capsys):
    """All 231 cells of qps.rel.all.tsv within 0.0101; its author divides rounded figures and cuts."""
    project = import_small_datum(tmp_path)
    assert "refused" not in capsys.readouterr().out

    ratios = {}
    table = compare(
        project,
        metric="qps",
        base=Selector(product="MySQL", version="5.6.51"),
        against=[Selector(version=version) for version in published_versions()],
        filters={"product": "MySQL", "build": "rel_o2nofp"},
    )
    for row in table.rows:
        ratios[row.workload] = [one.ratio for one in row.comparisons]
    published = list(published_rows())
    assert sum(len(cells) for _, cells in published) == 231
    for workload, cells in published:
        assert ratios[workload] == pytest.approx(cells, abs=0.0101), workload


def test_files_that_fit_the_pattern_of_the_control_are_runs_of_the_control(tmp_path, capsys):
    (tmp_path / "000").mkdir()
    for role in ("control", "test"):
        (tmp_path / f"000/reads.{role}.1.txt").write_bytes(REPORT)
        meta = {"product": "PostgreSQL", "version": "16.14", "threads": 4, "role": role}
        (tmp_path / f"000/reads.{role}.1.meta.json").write_text(json.dumps(meta))
    arguments = ["--pattern=*/{workload}.*.{repetition}.txt", "--control=**/*.control.*", "--set=hardware=m1"]
    call_command("import_folder", "--project=mine", *arguments, str(tmp_path))
    assert "2 imported" in capsys.readouterr().out
    builds = Run.objects.values_list("version__version", "version__build", "workload__name")
    assert sorted(builds) == [("16.14", "", "reads"), ("16.14", "control", "reads")]
    assert not any("role" in warning for run in Run.objects.all() for warning in run.warnings)


def test_forms_of_one_run_in_a_folder_are_counted_as_copies(tmp_path, capsys):
    table = "query\tMariaDB-JDBC-1.1.7\nDO 1\t12026\nSELECT 1\t12774\nSELECT 2\t30804\n"
    (tmp_path / "table.txt").write_text(table)
    (tmp_path / "table.csv").write_text(table.replace("\t", ","))
    arguments = ["import_folder", "--project=mine", "--set=hardware=m1", str(tmp_path)]
    call_command(*arguments)
    assert "2 imported, 1 of them copies" in capsys.readouterr().out
    assert Run.objects.count() == 3
    (tmp_path / "again.csv").write_text(table.replace("\t", ";"))
    call_command(*arguments, "--dry-run")
    assert "another form of upload" in capsys.readouterr().out


def test_a_mapping_says_which_part_of_a_path_means_the_control(tmp_path):
    for role in ("control", "test"):
        (tmp_path / f"reads.{role}.txt").write_bytes(REPORT)
    (tmp_path / "map.json").write_text(json.dumps({"role": {"control": {"control": True}, "test": {}}}))
    arguments = ["--pattern={workload}.{role}.txt", f"--map={tmp_path / 'map.json'}", "--set=hardware=m1"]
    said = ["--set=product=PostgreSQL", "--set=version=16.14"]
    call_command("import_folder", "--project=mine", *arguments, *said, str(tmp_path))
    assert sorted(Run.objects.values_list("version__build", "workload__name")) == [
        ("", "reads"),
        ("control", "reads"),
    ]


@pytest.mark.skipif(not CONTROL.is_dir(), reason="the measured nights are not here")
def test_measured_nights_with_a_control_are_imported_by_a_switch():
    arguments = ["--pattern=00*/{workload}.*.{repetition}.txt", "--control=**/*.control.*"]
    call_command("import_folder", "--project=mine", *arguments, "--set=hardware=m1", str(CONTROL))
    runs = Run.objects.values_list("version__build", flat=True)
    assert (runs.filter(version__build="control").count(), runs.filter(version__build="").count()) == (60, 60)
    assert not Copy.objects.exists()
