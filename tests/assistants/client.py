"""An assistant: the client of the SDK over HTTP."""

import asyncio
import itertools
from contextlib import asynccontextmanager

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client


class Assistant:
    """Asks a server at ``url``; with a token of its own, or as nobody."""

    def __init__(self, url, token="", *, mode="auto"):
        self.url, self.mode = f"{url}/mcp/", mode
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    @asynccontextmanager
    async def session(self, *, ports=()):
        """A session; its requests go to servers at these ports by turns, if any are given."""
        turns = itertools.cycle(ports)

        async def lead(request):
            if ports:
                request.url = request.url.copy_with(port=next(turns))

        hooks = {"request": [lead]}
        async with httpx2.AsyncClient(headers=self.headers, timeout=60, event_hooks=hooks) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=self.mode) as client:
                yield client

    def ask(self, name, **arguments):
        """The structured answer of a tool. Fails where it has none."""
        result = self.call(name, **arguments)
        assert not result.is_error, result.content[0].text
        return result.structured_content

    def refusal(self, name, **arguments):
        """The sentence by which a tool refuses."""
        result = self.call(name, **arguments)
        assert result.is_error, result.content[0].text
        return result.content[0].text

    def words(self, name, **arguments):
        result = self.call(name, **arguments)
        assert not result.is_error, result.content[0].text
        return result.content[0].text

    def call(self, name, **arguments):
        [result] = self.call_together([(name, arguments)])
        return result

    def call_together(self, calls):
        async def call_all():
            async with self.session() as client:
                return await asyncio.gather(*(client.call_tool(name, arguments) for name, arguments in calls))

        return asyncio.run(call_all())

    def tools(self):
        async def tools():
            async with self.session() as client:
                return (await client.list_tools()).tools, client.instructions

        return asyncio.run(tools())
