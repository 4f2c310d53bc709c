"""What becomes of the files of a folder, told by their paths."""

import pytest

from ingest.archives.plan import is_configuration, may_be_companions, plan
from ingest.metadata.path_patterns import PathRules, PatternError


def planned(paths, pattern=None, companions=()):
    """The metas and companions of each result, and why other files are left alone."""
    made = plan(paths, PathRules.parse(pattern, companions=companions))
    return {one.path: (one.metas, one.companions) for one in made.files}, dict(made.ignored)


def test_a_meta_goes_with_one_file_or_with_a_folder_and_the_nearest_comes_last():
    found, ignored = planned(
        ["meta.json", "a/meta.json", "a/t04.meta.json", "a/t04.txt", "a/t08.txt", "b/t04.txt"]
    )
    assert found == {
        "a/t04.txt": (("meta.json", "a/meta.json", "a/t04.meta.json"), ()),
        "a/t08.txt": (("meta.json", "a/meta.json"), ()),
        "b/t04.txt": (("meta.json",), ()),
    }
    assert ignored == {}


def test_what_lies_beside_a_result_goes_with_it_by_its_name():
    found, ignored = planned(["t04.txt", "t04.vmstat.txt", "t04.cnf", "t08.txt", "t16.vmstat.txt"])
    assert found == {"t04.txt": ((), ("t04.cnf", "t04.vmstat.txt")), "t08.txt": ((), ())}
    assert ignored == {"t16.vmstat.txt": "it lies beside a result that is not here"}


def test_a_companion_pairs_by_stem_with_a_result_that_carries_the_name_of_its_tool():
    names = ("sysbench", "vmstat", "iostat", "dstat")
    paths = [f"mysql/8.0.45/Tier12G_RW_{n}th.{name}.txt" for n in (16, 64) for name in names]
    found, ignored = planned(paths)
    assert found == {
        f"mysql/8.0.45/Tier12G_RW_{n}th.sysbench.txt": (
            (),
            tuple(f"mysql/8.0.45/Tier12G_RW_{n}th.{name}.txt" for name in ("dstat", "iostat", "vmstat")),
        )
        for n in (16, 64)
    }
    assert ignored == {}


def test_a_companion_known_by_its_content_pairs_by_stem_unless_several_results_have_it():
    paths = ["a/t04.log", "a/t04.cpu", "b/t04.mysql.txt", "b/t04.mariadb.txt", "b/t04.cpu", "c/t08.cpu"]
    rules = PathRules.parse()
    assert may_be_companions(paths, rules) == [*paths[1::-1], paths[4], paths[3], paths[2]]
    made = plan(paths, rules, {"a/t04.cpu", "b/t04.cpu"})
    assert {one.path: one.companions for one in made.files} == {
        "a/t04.log": ("a/t04.cpu",),
        "b/t04.mysql.txt": (),
        "b/t04.mariadb.txt": (),
        "c/t08.cpu": (),
    }
    assert made.ignored["b/t04.cpu"].startswith("several results have its name")


def test_names_of_tools_tell_no_files_apart_and_a_folder_of_one_result_owns_what_is_called_like_a_tool():
    paths = [
        "16/oltp.log",
        "16/vmstat.log",
        "32/sysbench.log",
        "32/iostat.out",
        "sysbench_8.log",
        "8-vmstat.log",
    ]
    many = ["many/a.log", "many/b.log", "many/vmstat.log"]
    beside = {"16/vmstat.log", "32/iostat.out", "8-vmstat.log", "many/vmstat.log"}
    rules = PathRules.parse()
    assert beside <= {*may_be_companions([*paths, *many], rules)}
    made = plan([*paths, *many], rules, beside)
    assert {one.path: one.companions for one in made.files} == {
        "16/oltp.log": ("16/vmstat.log",),
        "32/sysbench.log": ("32/iostat.out",),
        "sysbench_8.log": ("8-vmstat.log",),
        "many/a.log": (),
        "many/b.log": (),
    }
    assert made.ignored["many/vmstat.log"].startswith("several results have its name")


def test_configurations_and_facts_of_the_machine_go_with_all_below_and_the_nearest_counts():
    paths = ["my.cnf", "lscpu.txt", "a/my.cnf", "a/b/t04.txt", "c/t04.txt", "d/conf.diff"]
    found, ignored = planned(paths)
    assert found == {
        "a/b/t04.txt": ((), ("lscpu.txt", "a/my.cnf")),
        "c/t04.txt": ((), ("lscpu.txt", "my.cnf")),
    }
    assert ignored == {"d/conf.diff": "it lies beside a result that is not here"}


def test_companions_by_pattern_go_with_the_results_of_the_same_names():
    found, ignored = planned(
        [
            "x.my80_rel/sb.o.reads.dop1",
            "x.my80_rel/sb.o.reads.dop4",
            "x.my80_rel/sb.vm.reads.dop4",
            "x.my80_rel/conf.txt",
            "x.my80_rel/sb.met.reads.dop4",
            "x.my57_rel/sb.o.reads.dop4",
            "x.my56_rel/sb.vm.reads.dop4",
        ],
        "x.{version}_{build}/sb.o.{workload}.dop{threads}",
        ["x.{version}_{build}/sb.vm.{workload}.dop{threads}", "x.{version}_{build}/conf.txt"],
    )
    assert {path: companions for path, (_, companions) in found.items()} == {
        "x.my57_rel/sb.o.reads.dop4": (),
        "x.my80_rel/sb.o.reads.dop1": ("x.my80_rel/conf.txt",),
        "x.my80_rel/sb.o.reads.dop4": ("x.my80_rel/conf.txt", "x.my80_rel/sb.vm.reads.dop4"),
    }
    assert ignored == {
        "x.my56_rel/sb.vm.reads.dop4": "it lies beside a result that is not here",
        "x.my80_rel/sb.met.reads.dop4": "it does not fit the pattern",
    }


def test_a_companion_in_the_same_folder_is_nearer_than_one_of_the_same_name_elsewhere():
    found, _ = planned(
        ["a/sb.o.reads", "a/sb.vm.reads", "b/sb.o.reads", "out/w.txt", "vm/w.txt"],
        "**/sb.o.{workload}",
        ["**/sb.vm.{workload}"],
    )
    assert found == {"a/sb.o.reads": ((), ("a/sb.vm.reads",)), "b/sb.o.reads": ((), ())}
    found, _ = planned(["out/w.txt", "vm/w.txt"], "out/{workload}.txt", ["vm/{workload}.txt"])
    assert found == {"out/w.txt": ((), ("vm/w.txt",))}


def test_a_companion_pattern_without_names_is_for_its_folder_and_below():
    found, ignored = planned(
        ["a/notes.log", "a/r1/t.txt", "b/t.txt", "c/notes.log"], "**/*.txt", ["**/notes.log"]
    )
    assert found == {"a/r1/t.txt": ((), ("a/notes.log",)), "b/t.txt": ((), ())}
    assert ignored == {"c/notes.log": "it lies beside a result that is not here"}


def test_what_file_managers_leave_behind_is_no_result():
    found, ignored = planned(["t.txt", "__MACOSX/._t.txt", ".DS_Store", "a/.git/config"])
    assert list(found) == ["t.txt"]
    assert set(ignored.values()) == {"it is hidden"}
    assert len(ignored) == 3


def test_too_many_companions_are_refused_before_they_are_many_more():
    paths = [f"{number}.log" for number in range(5000)] + [f"{number}.txt" for number in range(5000)]
    with pytest.raises(PatternError, match="more than 50 files lie beside"):
        planned(paths, "*.txt", ["*.log"])


def test_configuration_files_are_known_by_their_names():
    names = ("a/my.cnf", "postgresql.conf", "conf.diff", "MY.INI", "t04.txt", "lscpu.txt")
    assert [is_configuration(name) for name in names] == [True, True, True, True, False, False]
