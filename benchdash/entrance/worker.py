"""The worker class of gunicorn, by its documented hook: uvicorn's, with connections that have deadlines."""

from uvicorn_worker import UvicornWorker

from benchdash.entrance.connections import Connection


class Worker(UvicornWorker):  # type: ignore[misc] # it ships no types
    CONFIG_KWARGS = {
        "http": Connection,
        "loop": "asyncio",
        "interface": "asgi3",
        "lifespan": "off",
        "ws": "none",
        # Whether a proxy's word counts is decided in one place: BEHIND_PROXY in benchdash.settings.
        "proxy_headers": False,
        "server_header": False,
        "timeout_graceful_shutdown": 3,
    }
