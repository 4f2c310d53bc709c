import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.configuration import Content, parse_settings, read_content, switches_of


def test_my_cnf_gives_the_settings_of_the_server():
    text = """
# comment
[client]
port = 3306
[mysqld]
skip-name-resolve
innodb_buffer_pool_size = 512M   # half
sql-mode="NO_ENGINE_SUBSTITUTION"
loose-performance-schema-instrument = '%=ON'
table_cache=2048
table_cache=4096
!includedir /etc/mysql/conf.d
[mariadb-10.6]
thread_handling=pool-of-threads
[rocksdb]
compression = lz4
"""
    assert parse_settings(text) == {
        "skip_name_resolve": "ON",
        "innodb_buffer_pool_size": "512M",
        "sql_mode": "NO_ENGINE_SUBSTITUTION",
        "performance_schema_instrument": "%=ON",
        "table_cache": "4096",
        "thread_handling": "pool-of-threads",
        "rocksdb.compression": "lz4",
    }


def test_postgresql_conf_is_read_with_and_without_equals_signs():
    text = (
        "shared_buffers = 128MB\t# min 128kB\nmax_connections 200\n"
        "log_line_prefix = '%m [%p] it''s # '\n#fsync = on\n"
    )
    assert parse_settings(text) == {
        "shared_buffers": "128MB",
        "max_connections": "200",
        "log_line_prefix": "%m [%p] it's # ",
    }


@pytest.mark.parametrize(
    "text",
    [
        "Variable_name\tValue\nmax_connections\t200\nsql_mode\t\n",
        "+----+---+\n| Variable_name | Value |\n+----+---+\n| max_connections | 200 |\n| sql_mode | |\n+--+",
        "*** 1. row ***\nVariable_name: max_connections\n  Value: 200\nVariable_name: sql_mode\n  Value: \n",
        " name | setting | about\n---+---+---\n max_connections | 200 | x\n sql_mode | | x\n(2 rows)\n",
    ],
)
def test_a_list_of_variables_is_read_like_a_file(text):
    assert parse_settings(text) == {"max_connections": "200", "sql_mode": ""}


def test_text_that_holds_no_settings_gives_none():
    assert parse_settings("This is not a configuration, but a sentence.\n\n== 12 ==\n") == {}


@given(st.text())
def test_any_text_is_read(text):
    assert all(isinstance(value, str) for value in parse_settings(text).values())


def test_secrets_are_masked_in_text_and_settings():
    content = read_content("[mysqld]\nport=3306\nreport-password = two words\n")
    assert content == Content(
        "[mysqld]\nport=3306\nreport-password = ***\n", {"port": "3306", "report_password": "***"}
    )


@pytest.mark.parametrize(
    ("state", "switches"),
    [
        ("base", {}),
        ("", {}),
        ("performance_schema=ON", {"performance_schema": "ON"}),
        ("slow_query_log=ON long_query_time=0", {"slow_query_log": "ON", "long_query_time": "0"}),
        ("pool-of-threads", None),
        ("base performance_schema=ON", None),
    ],
)
def test_a_state_names_the_settings_that_were_switched(state, switches):
    assert switches_of(state) == switches


def test_what_was_switched_stands_above_the_file():
    content = read_content("[mysqld]\nlong-query-time = 10\nport = 3306\n")
    switched = content.switched({"long_query_time": "0"})
    assert switched.settings == {"long_query_time": "0", "port": "3306"}
    assert switched.text == (
        "[mysqld]\nlong-query-time = 10\nport = 3306\n\n"
        "# switched while the server ran\nlong_query_time = 0\n"
    )
    assert content.switched({}) is content
