"""Who may talk to the viewer, and what a browser may do with its pages."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
COOKIE = "assay_token"
COOKIE_S = 30 * 86_400
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def host_name(host: str) -> str:
    """The name in a Host header, without the port.

    >>> host_name("localhost:8000"), host_name("[::1]:80"), host_name("Example.org")
    ('localhost', '::1', 'example.org')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reachable from this machine only."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """The checks that every request passes."""

    def __init__(
        self, *, host: str, token: str | None, allowed_hosts: tuple[str, ...], secret: bytes, base_path: str
    ) -> None:
        self._allowed = {*LOOPBACK, host.casefold(), *(name.casefold() for name in allowed_hosts)}
        # a wildcard has many addresses; a name that somebody points at us is none of them
        self._any_address = host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
        self._token = token
        self._secret = secret
        self._base = base_path

    def csrf_token(self, annotator: str) -> str:
        """What a form of ours carries and a foreign page cannot know."""
        return hmac.new(self._secret, f"csrf {annotator}".encode(), hashlib.sha256).hexdigest()[:32]

    def accepts_host(self, host: str) -> bool:
        """Whether a request is meant for us: a page that lets its own name point here (DNS rebinding) is refused."""
        name = host_name(host)
        if name in self._allowed:
            return True
        try:
            return self._any_address and bool(ipaddress.ip_address(name))
        except ValueError:
            return False

    def check_write(self, request: web.Request, annotator: str, csrf: str) -> None:
        """Refuse a write that no form of ours sent."""
        own = f"{request.scheme}://{request.host}"
        origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
        # under our no-referrer policy a browser sends the origin of a form as "null": then it says where it came from
        trusted = origin == own or (origin in (None, "null") and site == "same-origin")
        if not trusted or (site is not None and site != "same-origin"):
            raise web.HTTPForbidden(text="this request comes from another site")
        if not hmac.compare_digest(csrf.encode(), self.csrf_token(annotator).encode()):
            raise web.HTTPForbidden(text="this form is out of date: go back, reload the page and send it again")

    def check_token(self, request: web.Request) -> web.Response | None:
        """Let in who has the token: by its cookie, or once by `?token=`, which sets the cookie."""
        if self._token is None:
            return None
        given = request.query.get("token")
        if given is not None and hmac.compare_digest(given.encode(), self._token.encode()):
            rest = request.rel_url.without_query_params("token")
            # a path that begins with two slashes would name another host
            response = web.Response(status=303, headers={"Location": "/" + str(rest).lstrip("/")})
            response.set_cookie(
                COOKIE, self._cookie(), max_age=COOKIE_S, httponly=True, samesite="Strict", path=self._base or "/"
            )
            return response
        if hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), self._cookie().encode()):
            return None
        raise web.HTTPUnauthorized(text="this viewer needs a token: open the address that `assay view` printed")

    def _cookie(self) -> str:
        return hmac.new((self._token or "").encode(), b"assay view", hashlib.sha256).hexdigest()

    @property
    def middleware(self) -> Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]:
        """The checks before a page, and the headers behind it."""

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            if not self.accepts_host(request.host):
                return web.Response(status=421, text="this server does not answer for that name", headers=HEADERS)
            try:
                response = self.check_token(request) or await handler(request)
            except web.HTTPException as error:
                error.headers.update(HEADERS)
                raise
            if not response.prepared:
                response.headers.update(HEADERS)
            return response

        return guarded
