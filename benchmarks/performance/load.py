"""Asking: one request after the other, and several at a time; what each took, and what it weighed."""

import gzip
import http.client
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchmarks.performance.counting import ASKED_BY, TOLD_BY
from benchmarks.performance.loaded import Loaded
from benchmarks.performance.requests import Kind
from benchmarks.performance.stack import Stack

_CLIENTS = 4


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds, sorted, and what a request cost on the average: CPU ms by process, bytes, statements.

    ``packed`` are the bytes that went over the wire to who accepts gzip.
    """

    latencies: Sequence[float]
    cpu_ms: Mapping[str, float]
    bytes: int
    packed: int
    statements: int

    @property
    def cpu(self) -> float:
        """Of everything that worked for the answer, the workers left out."""
        return sum(ms for name, ms in self.cpu_ms.items() if name != "workers")

    def percentile(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


class Client:
    """One connection that is kept."""

    def __init__(self, stack: Stack, loaded: Loaded, seed: int) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(stack.url).netloc, timeout=120)
        self._loaded = loaded
        self._rng = random.Random(seed)  # noqa: S311 - nothing is secret

    def ask(self, kind: Kind, **headers: str) -> tuple[float, http.client.HTTPResponse, bytes]:
        """Milliseconds, the answer and its body. Raises RuntimeError for an answer that is no success."""
        address = kind.address(self._loaded, self._rng)
        body, content_type = kind.body(self._loaded, self._rng) if kind.body else (None, "")
        headers = {**headers, **self._identity(kind)}
        if content_type:
            headers["Content-Type"] = content_type
        start = time.perf_counter()
        self._connection.request("POST" if body else "GET", address, body=body, headers=headers)
        answer = self._connection.getresponse()
        content = answer.read()
        elapsed = 1000 * (time.perf_counter() - start)
        if answer.status >= 300:
            raise RuntimeError(f"{answer.status} for {address}: {content[:500]!r}")
        return elapsed, answer, content

    def _identity(self, kind: Kind) -> dict[str, str]:
        if kind.is_bare:
            return {}
        if kind.is_page:
            return {"Cookie": f"sessionid={self._loaded.session}"}
        return {"Authorization": f"Bearer {self._loaded.token}"}


def measure(stack: Stack, loaded: Loaded, kind: Kind, *, requests: int, seed: int) -> Measured:
    """One request after the other."""
    client = Client(stack, loaded, seed)
    _, answer, _ = client.ask(kind, **{ASKED_BY: "1"})
    statements = int(answer.headers[TOLD_BY])
    before = stack.cpu_ms()
    latencies = sorted(client.ask(kind)[0] for _ in range(requests))
    after = stack.cpu_ms()
    _, answer, packed = client.ask(kind, **{"Accept-Encoding": "gzip"})
    is_packed = answer.headers.get("Content-Encoding") == "gzip"
    return Measured(
        latencies=latencies,
        cpu_ms={name: (after[name] - before[name]) / requests for name in after},
        bytes=len(gzip.decompress(packed)) if is_packed else len(packed),
        packed=len(packed),
        statements=statements,
    )


def rate(stack: Stack, loaded: Loaded, kind: Kind, *, seconds: float, seed: int) -> float:
    """Requests per second of several clients at once."""

    def ask_until(deadline: float, number: int) -> int:
        client, done = Client(stack, loaded, seed + number), 0
        while time.perf_counter() < deadline:
            client.ask(kind)
            done += 1
        return done

    start = time.perf_counter()
    with ThreadPoolExecutor(_CLIENTS) as pool:
        done = sum(pool.map(lambda number: ask_until(start + seconds, number), range(_CLIENTS)))
    return done / (time.perf_counter() - start)


def warm_up(stack: Stack, loaded: Loaded, kind: Kind, *, requests: int, seed: int) -> None:
    """So many requests, of several clients at once: they reach every process of the server."""

    def ask(number: int) -> None:
        client = Client(stack, loaded, seed + number)
        for _ in range(requests // _CLIENTS):
            client.ask(kind)

    with ThreadPoolExecutor(_CLIENTS) as pool:
        list(pool.map(ask, range(_CLIENTS)))
