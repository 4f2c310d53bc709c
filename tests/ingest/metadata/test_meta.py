import json
from pathlib import Path

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import FieldsError
from ingest.metadata.fields import FIELDS
from ingest.metadata.meta import read_meta

SAMPLES = Path(settings.BASE_DIR) / "ingest" / "samples"


def sample(path):
    return read_meta(json.loads((SAMPLES / path).read_text()))


def test_a_meta_of_a_server_run_is_understood():
    meta = sample("watch/nightly/mariadb-10.11.19/055/oltp_read_only.meta.json")
    assert meta.fields["product"] == "MariaDB"
    assert meta.fields["version"] == "10.11.19"
    assert meta.fields["workload"] == "oltp_read_only"
    assert meta.fields["threads"] == 4
    assert meta.fields["repetition"] == 1
    assert meta.fields["started_at"].isoformat() == "2026-11-20T16:01:17.728000+00:00"
    assert "hardware" not in meta.fields
    assert meta.hardware_name == "AMD EPYC, 2 cores, 24 GiB"
    assert meta.hardware_facts["os"] == "Debian GNU/Linux 12 (bookworm)"
    assert meta.environment["kernel"] == "6.18.44-fc-v595"
    assert meta.environment["pinning"].startswith("server and sysbench both on CPU 1")
    assert meta.content.settings["innodb_buffer_pool_size"] == "512M"
    assert meta.switches == {"tmp_memory_table_size": "0"}
    assert meta.facts["night"] == 55
    assert meta.facts["contention.loadavg1"] == 6.55
    assert meta.options == {}
    assert meta.warnings == []


def test_the_server_of_a_connector_is_its_counterpart():
    meta = sample("releases/jmh/mariadb-java-client-1.5.3/thrpt-t4.meta.json")
    assert (meta.fields["product"], meta.fields["version"]) == ("mariadb-java-client", "1.5.3")
    assert meta.fields["counterpart"] == "MariaDB 10.11.19"
    assert meta.environment["jdk"] == "OpenJDK 17.0.15+6 (Debian)"
    assert meta.facts["driver_class"] == "org.mariadb.jdbc.Driver"
    assert meta.options == {}
    assert meta.fields["notes"].startswith("bench.Main runs the JMH Runner once")


def test_where_client_programs_are_named_product_and_version_are_their_server():
    meta = sample("releases/qps/python-clients-mariadb-10.2.11-rep1.meta.json")
    assert meta.fields.keys().isdisjoint({"product", "version", "workload"})
    assert meta.fields["counterpart"] == "MariaDB 10.2.11"
    assert meta.facts["described_as"] == "single connection, DO 1 and SELECT 1 in a loop"


def test_every_meta_of_the_samples_is_understood():
    paths = sorted(SAMPLES.rglob("*.meta.json"))
    assert len(paths) > 500
    for path in paths:
        meta = read_meta(json.loads(path.read_text()))
        assert meta.warnings == [], path


@pytest.mark.parametrize(
    ("meta", "field", "message"),
    [
        ({"threads": "many"}, "meta.threads", "must be a whole number between 1 and 1 000 000"),
        (
            {"version": 10.10},
            "meta.version",
            "must be a text in quotes: as a number, 10.1 may have lost digits",
        ),
        ({"started_at": "today"}, "meta.started_at", None),
        (
            {"server_config": 3},
            "meta.server_config",
            "must be the text of a configuration file, or a JSON object",
        ),
        ({"hardware": ["box"]}, "meta.hardware", "must be a text"),
        ({"hardware": {"name": 1.5}}, "meta.hardware", None),
        ({"options": "fast"}, "meta.options", "must be a JSON object"),
        ({"format": "excel"}, "meta.format", None),
        ({"server": {"product": "x" * 300}}, "meta.server", None),
        ({"clients": {}}, None, None),
    ],
)
def test_a_malformed_key_is_named_with_its_path(meta, field, message):
    if field is None:
        assert read_meta(meta).warnings == []
        return
    with pytest.raises(FieldsError) as refusal:
        read_meta(meta)
    (error,) = refusal.value.errors
    assert error.field == field
    assert message is None or error.message == message


def test_an_unknown_key_is_an_option_of_the_workload():
    meta = read_meta({"tables": 4, "scale": {"factor": 10}, "skip": [1, "a"], "nothing": None})
    assert meta.options == {"tables": 4, "scale.factor": 10, "skip": "1, a"}


def test_null_says_nothing():
    assert read_meta({"product": None, "threads": None, "server_config": None, "version": ""}).fields == {}


def test_a_failed_tool_and_a_key_of_the_request_are_warned_of():
    assert read_meta({"exit_code": 1, "project": "x"}).warnings == [
        "the tool ended with exit code 1",
        "'project' in meta means nothing there and was ignored",
    ]
    assert read_meta({"exit_code": 0}).warnings == []


def test_the_full_version_serves_where_there_is_no_other():
    assert read_meta({"version_full": "10.6.23-MariaDB-1"}).fields["version"] == "10.6.23-MariaDB-1"
    assert read_meta({"version_full": "10.6.23-MariaDB-1", "version": "10.6"}).fields["version"] == "10.6"


def test_settings_may_come_as_an_object():
    meta = read_meta({"server_config": {"innodb-flush-method": "fsync", "password": "sb"}})
    assert meta.content.settings == {"innodb_flush_method": "fsync", "password": "***"}


def test_a_state_that_is_a_mere_name_is_a_fact():
    meta = read_meta({"state": "pool-of-threads"})
    assert meta.switches == {}
    assert meta.facts == {"state": "pool-of-threads"}


def test_a_number_of_clients_is_a_thread_count():
    assert read_meta({"clients": 16}).fields == {"threads": 16}
    assert read_meta({"clients": 16, "threads": 4}).fields == {"threads": 4}


KEYS = ["version_full", "server_config", "server", "hardware", "exit_code", "state", "note", "clients"]
KEYS += ["configuration", "environment", "contention", "outputs", "project", "unheard_of", *FIELDS]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "product", "cpu_model", "cores", "ram_kib"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4))
def test_any_meta_is_understood_or_refused(values):
    try:
        switches, errors = read_meta(values).switches, ()
    except FieldsError as refusal:
        switches, errors = {}, refusal.errors
    assert all(error.field.startswith("meta.") for error in errors)
    assert all(isinstance(value, str) for value in switches.values())
