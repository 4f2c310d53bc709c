from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.errors import FieldsError
from ingest.formats import FORMATS
from ingest.metadata.fields import FIELDS, Metadata
from ingest.metadata.upload_metadata import (
    metadata_digest,
    metadata_from_json,
    read_form,
    read_metadata,
)


def read(**values):
    return read_metadata(values)[0]


def errors_of(reader, values):
    with pytest.raises(FieldsError) as refusal:
        reader(values)
    return {error.field: error.message for error in refusal.value.errors}


def error_of(**values):
    ((field, message),) = errors_of(read_metadata, values).items()
    assert field == next(iter(values))
    return message


# --- values -------------------------------------------------------------------------------------------------


def test_a_form_is_read_field_by_field():
    metadata, warnings = read_form(
        {
            "product": ["MariaDB "],
            "version": ["10.11.19"],
            "hardware": ["big  box"],
            "threads": ["16"],
            "commit": ["ABCDEF0"],
            "committed_at": ["2026-11-20T15:00:00+02:00"],
            "tags": ["b", "a", "", "b"],
            "notes": ["two\r\nlines"],
            "options": ['{"tables": 4}'],
            "map": ['{"A-*": {"product": "A", "version": 16}}'],
            "branch": [""],
            "repetition": ["0"],
        }
    )
    assert warnings == []
    assert metadata == Metadata(
        product="MariaDB",
        version="10.11.19",
        hardware="big box",
        threads=16,
        commit="abcdef0",
        committed_at=datetime(2026, 11, 20, 13, tzinfo=UTC),
        tags=("a", "b"),
        notes="two\nlines",
        options={"tables": 4},
        map={"A-*": {"product": "A", "version": "16"}},
        repetition=0,
    )


@pytest.mark.parametrize(
    "metric", ["tps", "p95", "latency_p95 (us)", " rss_mb [MB, lower] ", "queries per second"]
)
def test_the_metric_of_a_table_is_kept_as_it_was_sent(metric):
    assert read_metadata({"metric": metric})[0].metric == metric.strip()


@pytest.mark.parametrize(
    ("field", "values", "message"),
    [
        (
            "threads",
            [0, -1, "0", "x", "1.5", 1_000_001, True, "１６", "1e3", [4], {}, 1.5],
            "must be a whole number between 1 and 1 000 000",
        ),
        ("commit", ["abc", "xyz1234", "a" * 41, 1234567, "abcdef0 1"], "must be 7 to 40 hex digits"),
        (
            "started_at",
            ["yesterday", "20.11.2026", "1763650588", 5, "0001-01-01T00:00:00+05:00", "9999-12-31"],
            "must be a time such as 2026-11-20T15:56:28Z",
        ),
        ("format", ["excel", 5], f"must be one of {', '.join(FORMATS)}"),
        ("metric", ["[]"], "'[]' is no name of a metric, such as tps"),
        ("metric", ["x" * 151], "has 151 characters, more than 150"),
        ("product", ["x" * 101], "has 101 characters, more than 100"),
        ("workload", ["x" * 301], "has 301 characters, more than 300"),
        ("tags", [["x" * 101]], "has 101 characters, more than 100"),
        ("notes", ["x" * 20_001], "has 20001 characters, more than 20000"),
        ("version", [10.1], "must be a text in quotes: as a number, 10.1 may have lost digits"),
        ("map", [{"A": "MariaDB"}], "must give a JSON object for 'A'"),
        (
            "map",
            [{"A": {"threads": 4}}],
            "'A' gives 'threads'; a column can be given product, version, build, hardware, configuration",
        ),
        ("map", [{"A": {"version": 1.5}}], "'A': version must be a text in quotes"),
        ("metrics", [{"rss": {"direction": "up"}}], "'rss': direction 'up' is none of"),
    ],
)
def test_a_value_that_a_field_cannot_hold_is_told_with_a_sentence(field, values, message):
    for value in values:
        assert error_of(**{field: value}).startswith(message), value


def test_names_that_are_numbers_and_as_long_as_they_may_be_are_taken():
    assert read(product="x" * 100, version=16) == Metadata(product="x" * 100, version="16")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-20T15:56:28Z", datetime(2026, 11, 20, 15, 56, 28, tzinfo=UTC)),
        ("2026-11-20T15:56:28.054+02:00", datetime(2026, 11, 20, 13, 56, 28, 54000, tzinfo=UTC)),
        ("2026-11-20 15:56:28+00:00", datetime(2026, 11, 20, 15, 56, 28, tzinfo=UTC)),
    ],
)
def test_a_time_with_an_offset_is_kept_in_utc_without_a_warning(text, time):
    metadata, warnings = read_metadata({"started_at": text})
    assert metadata.started_at == time
    assert metadata.started_at.tzinfo == UTC
    assert warnings == []


@pytest.mark.parametrize("name", ["started_at", "committed_at"])
def test_a_time_to_come_is_refused_but_for_what_clocks_differ_by(name):
    now = timezone.now()
    later = now + timedelta(minutes=11)
    assert " is in the future: it is " in error_of(**{name: later.isoformat()})
    with pytest.raises(FieldsError, match=f"meta.{name}: .* is in the future"):
        read_metadata({"meta": {name: later.isoformat()}})
    assert read_metadata({name: (now + timedelta(minutes=9)).isoformat()})


def test_a_time_to_come_that_was_stored_before_it_was_refused_is_still_read():
    later = timezone.now() + timedelta(days=1)
    assert metadata_from_json({"started_at": later.isoformat()}).started_at == later


def test_a_time_without_an_offset_is_utc_and_a_warning_says_so():
    metadata, warnings = read_metadata({"started_at": "2026-11-20T15:56:28"})
    assert metadata.started_at == datetime(2026, 11, 20, 15, 56, 28, tzinfo=UTC)
    assert warnings == ["'started_at' has no offset and is taken as UTC"]


@pytest.mark.parametrize(
    "field", ["product", "version", "hardware", "workload", "build", "branch", "counterpart"]
)
@pytest.mark.parametrize("text", ["a\0b", "a\x1bb", "\ud800", "gnp.\u202e.txt", "caf\ufffd"])
def test_a_name_holds_text_alone(field, text):
    assert error_of(**{field: text}) == "holds a character that is no text"


@pytest.mark.parametrize("field", ["options", "map", "meta"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{",
            "is not valid JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
        ("[1]", "must be a JSON object"),
        ('"x"', "must be a JSON object"),
        ('{"a": NaN}', "holds NaN, which is no number"),
        ('{"a": 1e999}', "holds a number that is too large"),
        ('{"a": "\\u0000"}', "holds a character that is no text"),
        ('{"\\ud800": 1}', "holds a character that is no text"),
        ('{"a": ' * 2000 + "1" + "}" * 2000, None),
        ("[" * 100_000, "is nested too deeply"),
        ('{"a": {"b": [' + "1," * 5000 + "1]}}", "has 5001 entries, more than 2000"),
    ],
)
def test_json_that_cannot_be_kept_is_refused(field, text, message):
    found = errors_of(read_form, {field: [text]})
    assert found.keys() == {field}
    assert message is None or found[field] == message


def test_all_errors_are_told_at_once():
    found = errors_of(read_form, {"threads": ["x"], "commit": ["y"], "options": ["{"], "product": ["a", "b"]})
    assert found.keys() == {"threads", "commit", "options", "product"}
    assert found["product"] == "is given more than once, and differently"


def test_an_unknown_field_is_ignored_with_a_warning():
    metadata, warnings = read_metadata({"verison": "10.6", "colour": "red"})
    assert metadata == Metadata()
    assert warnings == [
        "the field 'verison' is not known and was ignored; did you mean 'version'?",
        "the field 'colour' is not known and was ignored",
    ]


def test_many_unknown_fields_give_few_warnings():
    _, warnings = read_metadata({f"x{n}": "1" for n in range(5000)})
    assert len(warnings) == 11
    assert warnings[-1] == "4990 more unknown fields were ignored"


@given(
    st.dictionaries(
        st.sampled_from(FIELDS),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        ),
        max_size=5,
    )
)
@example(values={"options": {"": [[], ""]}})
def test_any_values_are_read_or_refused_and_what_is_read_can_be_stored(values):
    try:
        metadata, _ = read_metadata(values)
    except FieldsError:
        return
    stored = metadata.as_json()
    assert metadata_from_json(stored).as_json() == stored


# --- one canonical form -------------------------------------------------------------------------------------


def test_the_same_said_in_other_words_has_the_same_digest():
    one, _ = read_form(
        {"version": [" 10.6 "], "tags": ["b", "a"], "started_at": ["2026-11-20T15:00:00Z"], "branch": [""]}
    )
    other, _ = read_metadata(
        {"started_at": "2026-11-20T17:00:00+02:00", "tags": ["a", "b", "a"], "version": "10.6"}
    )
    assert metadata_digest(one) == metadata_digest(other)


def test_what_differs_has_another_digest():
    digests = {
        metadata_digest(read(version="10.6")),
        metadata_digest(read(version="10.6", threads=1)),
        metadata_digest(read(meta={"version": "10.6"})),
        metadata_digest(read(version="10.6"), [("companion", "a")]),
        metadata_digest(read(version="10.6"), [("configuration", "a")]),
        metadata_digest(read(version="10.6"), [("companion", "b")]),
    }
    assert len(digests) == 6


def test_the_order_of_companions_means_nothing():
    companions = [("companion", "b"), ("companion", "a")]
    assert metadata_digest(Metadata(), companions) == metadata_digest(Metadata(), companions[::-1])


def test_secrets_are_masked_as_soon_as_they_are_read():
    metadata = read(
        product="x mysql://root:sb@box/t?password=sb",
        notes="PGPASSWORD=sb pgbench",
        tags=["token=sb"],
        options={"mysql-password": "sb"},
        map={"a*": {"build": "mysql://root:sb@box"}},
        meta={"command": "sysbench --mysql-password=sb run", "server": {"password": "sb"}},
    )
    assert "sb" not in str(metadata.as_json()).replace("sysbench", "").replace("pgbench", "")
