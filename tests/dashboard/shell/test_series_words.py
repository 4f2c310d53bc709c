"""What series share and what tells them apart, in words."""

from benchdash.dashboard.shell.series_words import names, panel_names, threads_words, title
from benchdash.results.models import Configuration, Hardware, Product, Series, Workload


def make_series(**fields):
    named = {
        "product": Product(name=fields.pop("product", "MariaDB")),
        "hardware": Hardware(name=fields.pop("hardware", "box")),
        "configuration": Configuration(name=fields.pop("configuration", "default")),
        "workload": Workload(name=fields.pop("workload", "oltp_read_only")),
    }
    return Series(**named, **{"metric": "tps", "threads": 4, **fields})


def test_a_title_says_what_all_share_and_leaves_out_what_is_usual():
    assert title([make_series()]) == "oltp_read_only, 4 threads, transactions per second, MariaDB, box"
    lines = [make_series(line="10.6"), make_series(line="10.11")]
    assert title(lines) == "oltp_read_only, 4 threads, transactions per second, MariaDB, box"
    assert title([make_series(branch="main", build="debug", configuration="tuned", counterpart="C 3.4")]) == (
        "oltp_read_only, 4 threads, transactions per second, MariaDB main debug, box, tuned, with C 3.4"
    )


def test_names_say_what_differs():
    assert names([make_series(line="10.6"), make_series(line="10.11")]) == ["10.6", "10.11"]
    assert names([make_series(), make_series(workload="rw", threads=8)]) == [
        "oltp_read_only, 4 threads",
        "rw, 8 threads",
    ]
    assert names([make_series(), make_series(configuration="tuned")]) == ["default", "tuned"]
    assert names([make_series(line="10.6"), make_series(branch="main")]) == ["10.6", "main"]


def test_a_series_alone_is_called_by_its_server():
    assert names([make_series(line="10.6", build="debug")]) == ["MariaDB 10.6 debug"]


def test_panels_are_told_apart_without_their_release_lines():
    panels = [[make_series(line="10.6"), make_series(line="11.4")], [make_series(line="11.4", threads=8)]]
    assert panel_names(panels) == ["4 threads", "8 threads"]


def test_threads_are_counted():
    assert [threads_words(count) for count in (1, 2, 1024, None)] == [
        "1 thread",
        "2 threads",
        "1,024 threads",
        "threads not said",
    ]
