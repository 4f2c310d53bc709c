"""The page about one setting."""

import json
import re
from datetime import timedelta
from io import StringIO
from pathlib import Path

import plotly.graph_objects as go
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import START, make_project, make_record, make_runs
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

POOLS = ("8M", "64M", "1G")


@pytest.fixture
def project():
    return make_project("bench", public=True)


def measure(project, *, setting="pool", values=POOLS, workloads=("ro",), threads=(1, 16), runs=1, **fields):
    """Runs whose tps fall by a tenth with each value."""
    records = [
        make_record(
            **{
                "readings": {"tps": 1234.0 * (count or 1) * (1 - 0.1 * number) + repetition},
                "settings": {setting: value, "log": "x"},
                "workload": workload,
                "threads": count,
                "repetition": repetition,
                # Each repetition is a session of its own.
                "started_at": START + timedelta(days=20 * number + repetition),
                **fields,
            }
        )
        for number, value in enumerate(values)
        for workload in workloads
        for count in threads
        for repetition in range(runs)
    ]
    return make_runs(records, project=project)


def get(client, query=""):
    return client.get(f"/p/bench/compare/settings/?{query}")


def figures(answer):
    found = re.findall(
        r'<script id="figure-[^"]+" type="application/json">(.*?)</script>', answer.content.decode()
    )
    return [json.loads(text) for text in found]


def titles(answer):
    return re.findall(r'<span class="chart-title">([^<]+)</span>', answer.content.decode())


# --- what is shown ----------------------------------------------------------------------------------------


def test_sizes_are_an_axis_with_a_line_for_each_thread_count(client, project):
    measure(project)
    answer = get(client)
    assert titles(answer) == ["ro, transactions per second against pool, MariaDB 10.6.23, box"]
    [figure] = figures(answer)
    assert [trace["name"] for trace in figure["data"]] == ["1 thread", "16 threads"]
    assert figure["data"][0]["x"] == [8 * 2**20, 64 * 2**20, 2**30]
    assert figure["layout"]["xaxis"]["type"] == "log"
    assert figure["layout"]["xaxis"]["ticktext"] == ["8M", "64M", "1G"]
    assert "pool 1 thread 16 threads mean 8M 1,234 100 % 19,744 100 % 64M 1,111" in text_of(answer)


def test_texts_are_lines_over_the_thread_counts(client, project):
    measure(project, setting="flush", values=("fsync", "O_DIRECT"))
    answer = get(client)
    assert titles(answer) == ["ro, transactions per second against threads by flush, MariaDB 10.6.23, box"]
    [figure] = figures(answer)
    assert [trace["name"] for trace in figure["data"]] == ["fsync", "O_DIRECT"]
    assert figure["data"][0]["x"] == [1, 16]
    assert "threads fsync O_DIRECT 1 1,234 100 % 1,111 −10.0 % not enough to tell" in text_of(answer)


def test_the_axis_is_one_click(client, project):
    measure(project)
    assert [trace["name"] for trace in figures(get(client, "x=threads"))[0]["data"]] == ["8M", "64M", "1G"]


def test_texts_stand_side_by_side_on_an_axis(client, project):
    measure(project, setting="flush", values=("fsync", "O_DIRECT"))
    [figure] = figures(get(client, "x=value"))
    assert figure["data"][0]["x"] == [0, 1]
    assert figure["layout"]["xaxis"]["ticktext"] == ["fsync", "O_DIRECT"]
    assert {trace["mode"] for trace in figure["data"]} == {"markers"}


def test_one_thread_count_of_texts_makes_bars(client, project):
    measure(project, setting="flush", values=("fsync", "O_DIRECT"), threads=[None])
    [figure] = figures(get(client))
    assert figure["data"][0]["type"] == "bar"


@pytest.mark.parametrize("query", ["", "x=threads", "values=relative&axis=log", "values=hidden", "x=value"])
def test_every_figure_is_one_that_plotly_knows(client, project, query):
    measure(project, runs=2)
    measure(project, threads=[None], workloads=["alone"])
    for figure in figures(get(client, query)):
        go.Figure(figure)


def test_workloads_are_small_multiples_and_can_be_chosen(client, project):
    measure(project, workloads=("ro", "rw"))
    assert len(titles(get(client))) == 2
    [title] = titles(get(client, "workload=rw"))
    assert title.startswith("rw, ")


def test_any_value_can_be_the_reference(client, project):
    measure(project, threads=[1])
    answer = get(client, "base=1G&values=relative")
    [figure] = figures(answer)
    assert [round(value, 1) for value in figure["data"][0]["y"]] == [125.0, 112.5, 100.0]
    assert figure["layout"]["yaxis"]["title"]["text"] == "% of 1G, higher is better"
    assert "Make 8M the reference" in answer.content.decode()


def test_repeats_have_error_bars_and_verdicts(client, project):
    measure(project, runs=4)
    answer = get(client)
    assert all(figures(answer)[0]["data"][0]["error_y"]["array"])
    assert re.search(r"988\.7 ± [\d.]+ ▼ −20\.0 % slower", text_of(answer))
    assert "Medians of 4 runs; ± is the 95 % interval of the level." in text_of(answer)


def test_one_run_each_is_no_test(client, project):
    measure(project)
    text = text_of(get(client))
    assert "One session each: what the machine did that hour cannot be told from what the setting" in text
    assert "One run each: no error is known." in text


# --- nothing absolute -------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", ["value", "threads"])
@pytest.mark.parametrize("runs", [1, 3])
def test_absolute_figures_can_be_left_out_everywhere(client, project, x, runs):
    measure(project, runs=runs)
    shown = get(client, f"x={x}").content.decode()
    hidden = get(client, f"x={x}&values=hidden").content.decode()
    measured = ("1,234", "1234", "1,111", "1110.", "19,744", "19744", "1,235", "17,770")
    assert any(number in shown for number in measured)
    assert not any(number in hidden for number in measured)
    assert "/history/?series=" in shown
    assert "/history/?series=" not in hidden
    assert "% of 8M, higher is better" in hidden
    assert "values=hidden" in re.search(r'href="([^"]*/api/v1/sweep/[^"]*)"', hidden)[1]


# --- what else differs ------------------------------------------------------------------------------------


def test_what_differs_beside_the_setting_is_named_with_its_values(client, project):
    measure(project, values=("8M", "64M"))
    measure(project, values=("1G",), environment={"kernel": "6.1"}, settings={"pool": "1G", "log": "y"})
    text = text_of(get(client))
    assert "More than pool differs from 8M: log" in text
    assert "1G: log: x → y" in text
    assert "1G *" in text


def test_runs_under_other_conditions_are_left_out_and_said(client, project):
    measure(project, threads=[1])
    measure(project, values=("64M",), threads=[1], settings={"pool": "64M", "log": "y"})
    text = text_of(get(client, "setting=pool"))
    assert "Left out: 1 more run with pool 64M, because of what else differs there: log." in text
    assert "Left out" not in text_of(get(client, "setting=pool&with=log%3Dx"))


def test_other_durations_are_told(client, project):
    measure(project, values=("8M",), duration_s=60.0)
    measure(project, values=("1G",), duration_s=10.0)
    assert "Different durations: duration: 60 s → 10 s." in text_of(get(client))


def test_sizes_of_tables_are_told_that_stand_in_the_command_alone(client, project):
    measure(project, values=("8M",), facts={"command": "sysbench oltp --table-size=50 run"})
    measure(project, values=("1G",), facts={"command": "sysbench oltp --table-size=99 run"})
    text = text_of(get(client))
    assert "Different sizes of tables: table_size: 50 → 99." in text
    assert "table_size: 50 → 99 (1G)" in text


# --- nothing to show --------------------------------------------------------------------------------------


def test_an_empty_project_says_what_will_be_here(client, project):
    assert "Charts appear here with the first results" in text_of(get(client))


def test_where_nothing_varies_the_page_says_how_to_vary_something(client, project):
    measure(project, values=("8M",))
    assert "Nothing varies yet" in text_of(get(client))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("setting=nothing", "nothing does not vary here"),
        ("threads=99", "Nothing was measured so"),
        ("workload=nothing", "Nothing was measured so"),
        ("with=nothing%3D1", "Nothing varies yet"),
    ],
)
def test_a_choice_of_nothing_leads_back(client, project, query, said):
    measure(project)
    assert said in text_of(get(client, query))


@pytest.mark.parametrize(
    "name", ["v", "setting", "base", "metric", "hardware", "with", "x", "values", "axis"]
)
def test_nonsense_in_the_address_is_survived(client, project, name):
    measure(project)
    for value in ("", "%00", "9" * 40, "%3Cscript%3E", "a:b=c", "%F0%9F%90%98"):
        answer = get(client, f"{name}={value}")
        assert answer.status_code == 200
        assert "<script>" not in answer.content.decode().split("<main")[1].split("chart-plot")[0]


def test_a_private_project_is_not_there(client):
    make_project("bench")
    assert get(client).status_code == 404


def test_the_number_of_statements_does_not_grow(client, project):
    measure(project, values=("8M", "64M"))
    get(client)

    def statements():
        with CaptureQueriesContext(connection) as found:
            assert get(client).status_code == 200
        return len(found)

    few = statements()
    measure(project, workloads=("ro", "rw", "x n=1", "x n=2"), threads=(1, 2, 4), runs=3)
    assert statements() == few


def test_a_version_that_is_not_among_the_offered_ones_can_be_asked_for(client, project, monkeypatch):
    monkeypatch.setattr("benchdash.dashboard.pages.sweep.views._MAX_VERSIONS", 1)
    measure(project)
    [run] = make_runs([make_record(version="10.6.99")], project=project)
    assert "10.6.99" not in text_of(get(client))
    assert "Version MariaDB 10.6.99" in text_of(get(client, f"v={run.version_id}"))


# --- real sweeps ------------------------------------------------------------------------------------------

SWEEPS = Path(__file__).parents[5] / "shared/data/settings-sweep"
JMH = Path(__file__).parents[5] / "shared/data/jmh"
measured_here = pytest.mark.skipif(not SWEEPS.is_dir(), reason="the measured sweeps are not here")


def import_folder(project, folder, pattern):
    call_command(
        "import_folder",
        folder,
        project=project.slug,
        pattern=pattern,
        set=["hardware=box"],
        stdout=StringIO(),
    )


def shares(answer):
    """The percentages of a chart over the values, by the name of the line."""
    [figure] = figures(answer)
    labels = figure["layout"]["xaxis"]["ticktext"]
    return {
        trace["name"]: dict(zip(labels, [round(value) for value in trace["y"]], strict=True))
        for trace in figure["data"]
    }


@measured_here
def test_a_buffer_pool_that_holds_the_tables_is_twice_as_fast_with_one_client(client, project):
    import_folder(project, SWEEPS, "{product}-{version}/innodb_buffer_pool_size/*/t{threads}.txt")
    answer = get(client, "values=hidden")
    sizes = ["8M", "16M", "32M", "64M", "128M", "256M", "512M"]
    one, *_, many = shares(answer).values()
    assert list(one) == sizes
    assert (one["8M"], one["512M"]) == (100, 199)
    assert (many["8M"], many["512M"]) == (100, 113)
    assert "One session each: what the machine did that hour" in text_of(answer)


def column_of(version, runs):
    """The column of a version as the pages of several versions name it."""
    run = next(run for run in runs if run.version.version == version)
    return f"{run.version_id}.{run.hardware_id}.{run.configuration_id}"


def test_from_versions_of_another_page_that_is_shown_in_which_most_varies(client, project):
    runs = [
        *measure(project, version="10.6.1"),
        *measure(project, version="10.6.2", values=["8M", "64M"]),
        *measure(project, version="10.6.3", values=["8M"]),
    ]
    newest, older = column_of("10.6.3", runs), column_of("10.6.2", runs)
    assert "10.6.2" in titles(get(client, f"v={older}&v={newest}&base={newest}"))[0]
    # Nothing varies in the only one that comes along.
    assert "10.6.1" in titles(get(client, f"v={newest}&base={newest}"))[0]


def test_workloads_and_threads_of_another_page_count_only_where_the_sweep_has_them(client, project):
    runs = measure(project)
    measure(project, workloads=["rw"], threads=[2], values=["8M"], version="10.6.9")
    column = column_of(runs[0].version.version, runs)
    everything = titles(get(client))
    other = runs[0].workload_id + 1
    assert titles(get(client, f"v={column}&workload={other}&threads=2")) == everything


@measured_here
def test_what_was_switched_while_the_server_ran_is_found(client, project):
    import_folder(project, SWEEPS, "mariadb-{version}/innodb_*/**/t{threads}.txt")
    # The version that has the setting is shown without being asked for.
    answer = get(client, "setting=innodb_thread_concurrency&x=value&values=relative")
    [one, *_] = shares(answer).values()
    assert one == {"0": 100, "1": 86, "2": 100, "4": 113, "8": 92, "16": 94}
    assert "not enough to tell" in text_of(answer)


@measured_here
def test_values_of_two_sweeps_are_not_mixed(client, project):
    import_folder(project, SWEEPS, "mariadb-{version}/innodb_*/**/t{threads}.txt")
    text = text_of(get(client, "setting=innodb_buffer_pool_size"))
    assert "Left out: 8 more runs with innodb_buffer_pool_size 32M" in text
    assert "because of what else differs there: innodb_flush_method." in text
    assert len(titles(get(client, "setting=innodb_flush_method"))) == 2
    text = text_of(get(client, "setting=innodb_flush_method&base=O_DIRECT&workload=oltp_read_write"))
    assert re.search(r"1 – 807\.9 \+103\.2 % not enough to tell(, \d+ more)? 397\.6 100 %", text)


@measured_here
def test_a_parameter_of_jmh_is_swept(client, project):
    import_folder(project, JMH / "mariadb-java-client-2.7.9", "avgt-t1.json")
    answer = get(client, "setting=protocol&base=text&values=relative")
    [figure] = figures(answer)
    [title] = titles(answer)
    assert title.startswith("bench.PreparedQueries.selectParam avgt, 1 thread, score against protocol")
    names = figure["layout"]["yaxis"]["ticktext"]
    assert dict(zip(names, map(round, figure["data"][0]["x"]), strict=True)) == {"binary": 171, "text": 100}
