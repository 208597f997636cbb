"""The viewer's web server: which address is which page, in threads, so that one slow page holds up no other."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from aiohttp import web

from assay.api.stored import open_project_store, project_location, read_project_store
from assay.errors import AssayError
from assay.view import compare_pages, label_pages, pages, sample_pages
from assay.view.address import Asked
from assay.view.safety import HEADERS, Guard
from assay.view.site import Elsewhere, Missing, Page, Site, assets

THREADS = 6
LARGEST_FORM = 64_000
EVENT_S = 1.0
Answer = Page | Elsewhere
PageFunction = Callable[[Site, Asked], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """How the viewer is served."""

    store: str | None = None
    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    base_path: str = ""
    allowed_hosts: tuple[str, ...] = ()
    annotator: str | None = None
    secret: bytes | None = None


def application(options: ViewOptions) -> web.Application:
    """The web application over a store that exists; only with an annotator is it opened for writing."""
    if options.annotator is None:
        store = read_project_store(options.store)
    else:
        store = open_project_store(options.store, create=False)
    guard = Guard(
        host=options.host,
        token=options.token,
        allowed_hosts=options.allowed_hosts,
        secret=options.secret or secrets.token_bytes(32),
        base_path=options.base_path,
    )
    site = Site(
        store=store,
        reopen=project_location(options.store),
        guard=guard,
        base=options.base_path,
        annotator=options.annotator,
    )
    checks: list[Any] = [guard.middleware, _failures(site)]
    site.warm_up()
    app = web.Application(middlewares=checks, client_max_size=LARGEST_FORM)
    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="assay-view")
    add = partial(_add_page, app, site, pool)
    add("/", pages.runs_page)
    add("/runs/{run}", pages.run_page)
    add("/runs/{run}/panel", pages.panel_page)
    add("/runs/{run}/samples", sample_pages.samples_page)
    add("/runs/{run}/samples/{position}", sample_pages.sample_page)
    add("/runs/{run}/samples/{position}/sample.json", sample_pages.sample_download)
    add("/costs", pages.costs_page)
    add("/compare", compare_pages.compare_page)
    add("/grid", compare_pages.grid_page)
    add("/labels", label_pages.labels_page)
    add("/runs/{run}/label", label_pages.label_page)
    app.router.add_post(f"{site.base}/runs/{{run}}/label", _save_label(site, pool))
    app.router.add_get(f"{site.base}/runs/{{run}}/events", _events(site, pool))
    app.router.add_get(f"{site.base}/assets/{{name}}", _asset)

    async def close(_app: web.Application) -> None:
        pool.shutdown(wait=False, cancel_futures=True)
        site.close()

    app.on_cleanup.append(close)
    return app


def _add_page(app: web.Application, site: Site, pool: ThreadPoolExecutor, path: str, function: PageFunction) -> None:
    async def handle(request: web.Request) -> web.Response:
        asked = Asked(dict(request.match_info), tuple(request.query.items()))
        return _response(await asyncio.get_running_loop().run_in_executor(pool, function, site, asked))

    app.router.add_get(site.base + path, handle)


def _save_label(site: Site, pool: ThreadPoolExecutor) -> Any:
    """The only write: a label, from a form of ours, in a viewer that was started for it."""

    async def handle(request: web.Request) -> web.Response:
        if site.annotator is None:
            raise web.HTTPForbidden(text="this viewer was not started with --label")
        form = await request.post()
        pairs = tuple((name, value) for name, value in form.items() if isinstance(value, str))
        asked = Asked(dict(request.match_info), pairs)
        site.guard.check_write(request, site.annotator, asked.text("csrf"))
        loop = asyncio.get_running_loop()
        return _response(await loop.run_in_executor(pool, label_pages.save_label, site, asked))

    return handle


def _response(answer: Answer) -> web.Response:
    if isinstance(answer, Elsewhere):
        return web.Response(status=303, headers={"Location": answer.location})
    headers = {"Cache-Control": answer.cache}
    if answer.after_s is not None:
        headers["Refresh"] = str(answer.after_s)
    kind = "application/json" if answer.body.startswith("{") else "text/html"
    return web.Response(text=answer.body, status=answer.status, content_type=kind, headers=headers)


def _failures(site: Site) -> Any:
    """Turn what goes wrong into a page that says so."""

    @web.middleware
    async def explained(
        request: web.Request, handler: Callable[[web.Request], Coroutine[Any, Any, web.StreamResponse]]
    ) -> web.StreamResponse:
        try:
            return await handler(request)
        except Missing as missing:
            return _response(site.page("problem.html", status=404, title="Not found", problem=str(missing)))
        except web.HTTPNotFound:
            problem = "There is no page at this address."
            return _response(site.page("problem.html", status=404, title="Not found", problem=problem))
        except AssayError as error:
            return _response(site.page("problem.html", status=422, title="This cannot be shown", problem=str(error)))

    return explained


async def _asset(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if name not in assets():
        raise web.HTTPNotFound
    body, _, kind = assets()[name]
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)


def _events(site: Site, pool: ThreadPoolExecutor) -> Any:
    """Progress of a run, once a second, until it is finished."""

    async def handle(request: web.Request) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        run_id = request.match_info["run"]
        await loop.run_in_executor(pool, site.record, run_id)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        for name, value in HEADERS.items():
            response.headers[name] = value
        await response.prepare(request)
        before = None
        with contextlib.suppress(ConnectionResetError):
            while True:
                event = await loop.run_in_executor(pool, pages.progress_event, site, run_id)
                if event != before:
                    await response.write(b"data: " + orjson.dumps(event) + b"\n\n")
                    before = event
                if event["finished"]:
                    break
                await asyncio.sleep(EVENT_S)
        return response

    return handle


async def serve(options: ViewOptions, *, ready: Callable[[str], object]) -> None:
    """Serve until a signal or a cancellation stops it; `ready` hears the address."""
    runner = web.AppRunner(application(options), access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        server = web.TCPSite(runner, options.host, options.port)
        await server.start()
        host, port = runner.addresses[0][:2]
        shown = f"[{host}]" if ":" in host else host
        if options.host in ("localhost", "127.0.0.1"):
            shown = "localhost"
        token = f"?token={options.token}" if options.token else ""
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            # asked to stop twice, as a terminal and a supervisor do, it must not break off closing the store
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                asyncio.get_running_loop().add_signal_handler(number, stop.set)
        ready(f"http://{shown}:{port}{options.base_path}/{token}")
        await stop.wait()
    finally:
        await runner.cleanup()
