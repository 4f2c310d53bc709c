"""How often somebody without a token or a session may ask."""

from rest_framework.request import Request

from ingest.throttling import MinuteThrottle


class AnonymousThrottle(MinuteThrottle):
    """Requests from one place."""

    scope = "anonymous"

    def asker(self, request: Request) -> str | None:
        is_known = request.auth or (request.user and request.user.is_authenticated)
        return None if is_known else self.get_ident(request)
