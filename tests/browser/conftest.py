"""A real browser in front of a real viewer: Debian's Chromium, driven by playwright, over projects made here."""

from __future__ import annotations

import asyncio
import random
import shutil
import threading
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def pytest_collection_modifyitems(items):
    """Browser tests belong to `make test-all`, and say in one line what they lack."""
    for item in items:
        if Path(__file__).parent in Path(item.fspath).parents:
            item.add_marker(pytest.mark.deep)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="no browser: apt-get install chromium"))


@pytest.fixture(scope="module")
def browser():
    # not for the whole session: playwright keeps an event loop running in this thread, in which other tests cannot
    # start one of their own
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, headless=True)
        yield chromium
        chromium.close()


class Watched:
    """A page that remembers what it should not do: complain, ask for other hosts, open dialogs."""

    def __init__(self, page, base):
        self.page = page
        self.base = base
        self.trouble = []
        page.on("console", lambda message: self.trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def _dialog(self, dialog):
        self.trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request):
        if not request.url.startswith((self.base, "data:")):
            self.trouble.append(f"request: {request.url}")

    def open(self, path):
        from playwright.sync_api import Error

        try:
            self.page.goto(self.base + path)
        except Error as error:
            # a page that waits for a result was loading itself again
            if "ERR_ABORTED" not in str(error):
                raise
            self.page.goto(self.base + path)
        return self.page

    def wide(self):
        """Elements that stick out of the page at the right."""
        return self.page.evaluate(
            """() => {
                const width = document.documentElement.clientWidth;
                if (document.documentElement.scrollWidth > width) return ["the page itself"];
                // what scrolls inside a region of its own does not stick out
                return [...document.querySelectorAll("main *, header *")].filter(e =>
                    !e.closest(".scroll, .sr, figure, dialog") && e.getBoundingClientRect().right > width + 1
                ).map(e => e.tagName + "." + e.className).slice(0, 5);
            }"""
        )


@pytest.fixture
def open_page(browser):
    """Open pages, each in a fresh profile."""
    contexts = []

    def make(base, **settings):
        context = browser.new_context(viewport={"width": settings.pop("width", 1280), "height": 900}, **settings)
        # two cores that run all other tests too need their time
        context.set_default_timeout(90_000)
        contexts.append(context)
        return Watched(context.new_page(), base)

    yield make
    for context in contexts:
        context.close()


class Served:
    """A viewer that runs in a thread of its own."""

    def __init__(self, store, **options):
        from aiohttp import web

        from assay.view.server import ViewOptions, application

        self._loop = asyncio.new_event_loop()
        ready = threading.Event()

        async def start():
            app = application(ViewOptions(store=str(store), **options))
            self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
            await self._runner.setup()
            site = web.TCPSite(self._runner, "127.0.0.1", 0)
            await site.start()
            self.base = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
            ready.set()

        def run():
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(start())
            self._loop.run_forever()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        assert ready.wait(30)

    def stop(self):
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    """Serve the store of a project; all viewers share one folder for their indexes."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    viewers = []

    def start(project, **options):
        viewers.append(Served(project.folder / ".assay" / "assay.db", **options))
        return viewers[-1]

    yield start
    for viewer in viewers:
        viewer.stop()
    patch.undo()


TOPICS = {
    "billing": [
        ("Why was I charged twice for one order?", "no", "one of the two is a reservation that your bank releases"),
        ("May I pay by invoice as a private customer?", "yes", "up to 200 euros, within 14 days"),
        ("Can I change the card of a running subscription?", "yes", "in your account, under payments"),
    ],
    "shipping": [
        ("Do you deliver to Norway?", "yes", "it takes five to seven working days"),
        ("Can I change the address after I have ordered?", "no", "the parcel is packed within the hour"),
        ("Do you ship on Saturdays?", "no", "parcels leave from Monday to Friday"),
    ],
    "returns": [
        (
            "May I return an opened headset after 20 days?",
            "no",
            "opened headsets are returned only when they are faulty",
        ),
        ("Do you pay the postage for a faulty item?", "yes", "the label is in your parcel"),
        ("Is a refund to a gift card possible?", "yes", "choose it when you register the return"),
    ],
}
TASK = """
key: support
display_name: Support bot
definition:
  dataset: {source: {type: local, file_path: NAME.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: contains
      substring: "{{ sample.truth }},"
      case_sensitive: false
      metrics: [{type: mean, field: is_correct, name: Accuracy, group_by: "{{ sample.topic }}"}]
"""


def support_rows(name, shares, n=360):
    """Answers of a support bot to questions of three topics; `shares` of them are right."""
    chance, rows = random.Random(name), []
    for i in range(n):
        topic = list(TOPICS)[i % 3]
        question, truth, reason = TOPICS[topic][i // 3 % 3]
        is_right = chance.random() < shares[topic]
        said = truth if is_right else {"yes": "no", "no": "yes"}[truth]
        reason = reason if is_right else "that is what our terms say"
        rows.append(
            {
                "sample_id": f"T-{1000 + i}",
                "topic": topic,
                "question": f"{question} (ticket {1000 + i})",
                "truth": truth,
                "output": f"{said.title()}, {reason}.",
            }
        )
    return rows


@pytest.fixture(scope="module")
def showcase(new_project):
    """A project with two versions of a support bot and a panel of three judges."""
    project = new_project()
    assert project.assay("init", ".", "--starter", "rubric").code == 0
    assert project.assay("run", "task.yaml", "--name", "tone", "--tag", "nightly").code == 0
    for name, shares in (
        ("v1", {"billing": 0.8, "shipping": 0.7, "returns": 0.6}),
        ("v2", {"billing": 0.9, "shipping": 0.85, "returns": 0.7}),
    ):
        project.write(f"{name}.jsonl", support_rows(name, shares))
        project.write(f"{name}.yaml", TASK.replace("NAME", name))
        outcome = project.assay("run", f"{name}.yaml", "--name", name)
        assert outcome.code == 0, outcome.err
    return project


@pytest.fixture(scope="module")
def viewer(serve, showcase):
    """The viewer over the project with the support bot, for one annotator."""
    return serve(showcase, annotator="maria")
