"""What all pages share: the store, the work behind them, templates, and how an address is written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from threading import Lock
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader

from assay.api import viewing
from assay.api.viewing import RunRecord, SampleIndex, Store
from assay.report.html.environment import environment, stylesheet
from assay.view.address import path_of, query_string
from assay.view.background import Background, Pending
from assay.view.safety import Guard

IN_THREAD = 20_000
"""Samples up to which work is done in a thread of the server; more go to a process of their own."""
INDEXES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page to send; `after_s` makes the browser load it again, for what is not there yet."""

    body: str
    status: int = 200
    after_s: int | None = None
    cache: str = "no-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Another address, to which the browser is sent."""

    location: str


class Missing(Exception):
    """There is nothing at an address; the text says what is missing."""


@dataclass(kw_only=True)
class Site:
    """A store that is being viewed; `reopen` is where another process finds it, which may hold a password."""

    store: Store
    reopen: str
    guard: Guard
    base: str = ""
    annotator: str | None = None
    work: Background = field(default_factory=Background)
    _indexes: dict[str, SampleIndex] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def record(self, run_id: str) -> RunRecord:
        """The run of an address."""
        record = viewing.find_run(self.store, run_id)
        if record is None:
            raise Missing(f'There is no run "{run_id}" in this store.')
        return record

    def index(self, record: RunRecord, *, patience_s: float = 0.2) -> SampleIndex | None:
        """The index of a finished run; its build begins where there is none, and None says that it goes on."""
        if record.summary is None:
            return None
        with self._lock:
            if record.id in self._indexes and self._indexes[record.id].path.exists():
                return self._indexes[record.id]
        index = viewing.index_of(self.store, record)
        if index is None:
            large = viewing.size_of(record) > IN_THREAD
            key = ("index", record.id, record.finished_at)
            try:
                self.work.result(key, viewing.index_stored, self.reopen, record.id, apart=large, patience_s=patience_s)
            except Pending:
                return None
            index = viewing.index_of(self.store, record)
        if index is not None:
            with self._lock:
                self._indexes[record.id] = index
                while len(self._indexes) > INDEXES:
                    self._indexes.pop(next(iter(self._indexes)))
        return index

    def url(self, *parts: object, **parameters: object) -> str:
        """An address of a page; parameters that are empty are left out, of a list each value is one."""
        pairs: list[tuple[str, object]] = []
        for name, value in parameters.items():
            pairs += [(name, each) for each in value] if isinstance(value, list | tuple) else [(name, value)]
        return path_of(self.base, *parts) + query_string(pairs)

    def page(self, template: str, *, status: int = 200, cache: str = "no-store", **context: Any) -> Page:
        """A rendered page."""
        record = context.get("record")
        shared = {
            "url": self.url,
            "asset": self.asset,
            "location": self.store.location,
            "annotator": self.annotator,
            "has_panel": record is not None and viewing.has_panel(record.spec),
        }
        text = templates().get_template(template).render(shared | context)
        body = text.encode("utf-8", "replace").decode()
        return Page(body=body, status=status, after_s=context.get("after_s"), cache=cache)

    def asset(self, name: str) -> str:
        """The address of a static file; it changes with the file, so that a browser may keep it."""
        return self.url("assets", name, v=assets()[name][1])

    def warm_up(self) -> None:
        """Load what the first page would wait for."""
        for name in templates().list_templates(extensions=["html"]):
            templates().get_template(name)
        assets()
        viewing.run_cards(self.store, before=None, text="", limit=1)

    def close(self) -> None:
        """Stop the work and close the store."""
        self.work.close()
        self.store.close()


@lru_cache(maxsize=1)
def templates() -> Environment:
    """The environment of the report with the viewer's own templates."""
    shared = environment()
    assert shared.loader is not None
    return shared.overlay(loader=ChoiceLoader([PackageLoader("assay.view", "templates"), shared.loader]))


@lru_cache(maxsize=1)
def assets() -> Mapping[str, tuple[bytes, str, str]]:
    """The static files: content, a digest, and the type."""
    script = (files("assay.view") / "static" / "view.js").read_bytes()
    contents = {
        "style.css": (stylesheet().encode(), "text/css"),
        "view.js": (script, "text/javascript"),
    }
    return {name: (body, hashlib.sha256(body).hexdigest()[:12], kind) for name, (body, kind) in contents.items()}
