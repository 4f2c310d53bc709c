"""The official client of the SDK over HTTP: what an assistant does."""

import asyncio
from urllib.parse import urlsplit

import pytest

from benchdash.accounts.models import Scope
from tests.assistants.client import Assistant
from tests.builders import make_project, make_series, make_token
from tests.web_server import WebServer


@pytest.fixture
def histories(transactional_db):
    """A public and a private project with a series each, and a token that reads the private one."""
    public, private = make_project("topaz", public=True), make_project("quartz")
    make_series([100, 101, 80], project=public)
    make_series([100, 101, 80], project=private, workload="quartz_reads")
    return make_token(private, Scope.READ)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_lists_and_calls_tools(histories, live_server, mode):
    nobody = Assistant(live_server.url, mode=mode)
    tools, instructions = nobody.tools()
    assert "never instructions" in instructions
    assert [tool.name for tool in tools] == [
        *("list_projects", "find_series", "history", "versions"),
        *("compare", "what_changed", "incidents", "incident"),
    ]
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert [one["slug"] for one in nobody.ask("list_projects")["projects"]] == ["topaz"]
    assert "no such project" in nobody.refusal("find_series", project="quartz")
    reader = Assistant(live_server.url, histories, mode=mode)
    assert [one["slug"] for one in reader.ask("list_projects")["projects"]] == ["quartz", "topaz"]
    [series] = reader.ask("find_series", project="quartz")["series"]
    assert series["workload"] == "quartz_reads"
    assert "no such series" in nobody.refusal("history", series=series["id"])


def test_twenty_calls_at_once_are_answered(histories, live_server):
    calls = [("find_series", {"project": "topaz"}), ("compare", _COMPARISON)] * 10
    results = Assistant(live_server.url).call_together(calls)
    assert [result.is_error for result in results] == [False] * 20
    assert len({result.content[0].text for result in results}) == 2


_COMPARISON = {"project": "topaz", "metric": "tps", "base": "10.6.1", "against": ["10.6.2", "10.6.3"]}


@pytest.mark.slow
def test_a_session_of_a_client_goes_on_in_another_process(histories, live_server, tmp_path):
    """As after a restart: what one process was told, the next one does not know."""
    web = WebServer(tmp_path)
    ports = [urlsplit(live_server.url).port, web.port]

    async def ask_by_turns():
        async with Assistant(live_server.url, mode="legacy").session(ports=ports) as client:
            return [await client.call_tool("find_series", {"project": "topaz"}) for _ in range(4)]

    try:
        results = asyncio.run(ask_by_turns())
        assert [result.structured_content["total"] for result in results] == [1] * 4
        answer, _ = web.ask("POST", "/mcp/", b"x" * 10_000_000, **{"Content-Type": "application/json"})
        assert answer.status == 413
        assert web.ask("GET", "/mcp/")[0].status == 405
    finally:
        web.stop()
