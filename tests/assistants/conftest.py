"""Fixtures of the tests of assistants."""

import json
from dataclasses import dataclass

import pytest
from django.test import Client

HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@dataclass(frozen=True)
class Door:
    """Sends messages to the door within this process, as nobody or with a token."""

    token: str = ""

    def post(self, body, **headers):
        """The answer to a body, given as bytes or as a message."""
        if not isinstance(body, bytes):
            body = json.dumps({"jsonrpc": "2.0", "id": 1, **body}).encode()
        own = {"authorization": f"Bearer {self.token}"} if self.token else {}
        said = {name: value for name, value in {**HEADERS, **own, **headers}.items() if value is not None}
        client = Client(headers=said)
        return client.generic("POST", "/mcp/", body, content_type=said.get("content-type", ""))

    def call(self, name, **arguments):
        answer = self.post({"method": "tools/call", "params": {"name": name, "arguments": arguments}})
        assert answer.status_code == 200, answer.content
        return answer.json()["result"]

    def ask(self, name, **arguments):
        """The structured answer of a tool."""
        result = self.call(name, **arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["structuredContent"]

    def words(self, name, **arguments):
        """What a tool says to who reads no structure."""
        result = self.call(name, **arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["content"][0]["text"]

    def refusal(self, name, **arguments):
        """The sentence by which a tool refuses."""
        result = self.call(name, **arguments)
        assert result["isError"], result["content"][0]["text"]
        return result["content"][0]["text"]


@pytest.fixture(scope="module", autouse=True)
def _no_loop_of_the_browser(no_loop_of_the_browser):
    """The SDK runs a loop of its own for each message."""


@pytest.fixture
def nobody():
    return Door()
