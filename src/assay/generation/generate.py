"""Generate the rows of a dataset: committed as they are paid for, put in place as a whole."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from assay.errors import Interrupted, RunError, SpecError
from assay.models import logs
from assay.models.client import CallError
from assay.models.event_loop import run_to_end
from assay.prepare.describe import stored_models
from assay.prepare.permission import permit_models, sandbox_for
from assay.prepare.recipes import SEPARATOR, Recipe, Row, source_rows
from assay.results.document import summary_document
from assay.results.run import RunReport
from assay.runner.budget import BudgetReached, SpendingLimit
from assay.runner.cell import Cell, CellAsk, Occurrences, Work
from assay.runner.models import Models
from assay.runner.online import defaults_of
from assay.runner.progress import Listener, Progress, silent
from assay.runner.reply_cache import ReplyCache
from assay.runner.writer import GroupCommit, RunWriter
from assay.spec.code import codes_in
from assay.spec.generator import DatasetSampleCombinations, LoadedSynthesizer
from assay.spec.placeholder import PLACEHOLDER
from assay.store import runs
from assay.store.calls import spending
from assay.store.run_spec import RunSpec, provenance
from assay.store.runs import NewRun, RunRecord, Status
from assay.store.store import Store, default_location, open_store
from assay.types import Failure, Spending

if TYPE_CHECKING:
    from assay.prepare.plan import Options
    from assay.sandbox.pool import Sandbox

AT_ONCE = 100
"""Source rows that are worked on at the same time."""
MOST_FAILED = 0.05
"""The share of failed rows above which a dataset is not put in place."""


@dataclass(slots=True)
class Generated:
    """The outcome of generating a dataset."""

    rows: list[Row] = field(default_factory=list)
    failed: list[tuple[str, Failure]] = field(default_factory=list)
    n_sources: int = 0
    run: str | None = None
    debug: list[dict[str, Any]] = field(default_factory=list)
    spending: tuple[Spending, ...] = ()


def generate(recipe: Recipe, options: Options, *, listener: Listener = silent) -> Generated:
    """Generate the rows of a recipe and put them in place; raise a SpecError or RunError if there are none."""
    codes = [code for synthesizer in recipe.dataset.generator.synthesizers for code in codes_in(synthesizer.settings)]
    permit_models(codes, recipe.connections.values(), options.code)
    store = open_store(options.store or default_location(recipe.dataset.root)) if recipe.connections else None
    try:
        with sandbox_for(codes, options.code) as sandbox:
            generated = _Generation(recipe, options, store, sandbox, listener).run()
    finally:
        if store is not None:
            store.close()
    _put_in_place(recipe, generated)
    return generated


def _put_in_place(recipe: Recipe, generated: Generated) -> None:
    """Write the rows as a whole: a reader sees all of them or none."""
    if not generated.rows:
        reason = f": {generated.failed[0][1].detail}" if generated.failed else ""
        raise RunError(f'the generator "{recipe.dataset.generator.key}" produced no rows{reason}')
    if len(generated.failed) > MOST_FAILED * generated.n_sources:
        row, failure = generated.failed[0]
        raise RunError(
            f"{len(generated.failed):,} of {generated.n_sources:,} rows failed, so the dataset is not put in place; "
            f"the first, {row}: {failure.detail}"
        )
    # .assay, which will hold the store too, is for the user alone
    recipe.file.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    recipe.file.parent.mkdir(exist_ok=True)
    text = b"".join(orjson.dumps(row) + b"\n" for row in generated.rows)
    about = {
        "dataset": recipe.dataset.key,
        "generator": recipe.dataset.generator.key,
        "n_rows": len(generated.rows),
        "n_sources": generated.n_sources,
        "digest": recipe.digest,
        "failed": [{"source": row, **asdict(failure)} for row, failure in generated.failed],
        "run": generated.run,
        **({"debug": generated.debug} if recipe.dataset.debug is not None else {}),
    }
    for path, content in ((recipe.file, text), (recipe.about, orjson.dumps(about, option=orjson.OPT_INDENT_2))):
        part = path.with_name(f"{path.name}.part")
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


class _Generation:
    """One generation: source rows pass through the synthesizers, a hundred at a time, until there are enough rows."""

    def __init__(
        self, recipe: Recipe, options: Options, store: Store | None, sandbox: Sandbox | None, listener: Listener
    ) -> None:
        self._recipe = recipe
        self._options = options
        self._store = store
        self._sandbox = sandbox
        self._listener = listener
        self._synthesizers = _with_secrets(recipe)
        self._generated = Generated()
        self._work: Work | None = None
        self._occurrences = Occurrences()
        self._asked = 0

    def run(self) -> Generated:
        """Generate the rows; everything paid for is kept, whatever happens."""
        if self._store is None:
            run_to_end(self._all())
            return self._generated
        record = runs.start(self._store, self._new_run())
        self._generated.run = record.id
        with logs.within(run=record.id):
            logs.event(logs.INFO, "run started", task=record.task)
            self._run_paid(self._store, record)
        return self._generated

    def _run_paid(self, store: Store, record: RunRecord) -> None:
        """Generate the rows and record how that ended."""
        try:
            run_to_end(self._paid(store, record))
        except KeyboardInterrupt as stop:
            self._finish(record, "interrupted")
            raise Interrupted("stopped: everything paid for is kept; run the same command to resume") from stop
        except BudgetReached:
            self._finish(record, "partial")
            raise RunError(
                "the spending limit was reached before all rows were generated; paid replies are kept"
            ) from None
        except (RunError, SpecError):
            self._finish(record, "failed")
            raise
        self._generated.spending = tuple(spending(store, record.no))
        self._finish(record, "completed")

    async def _paid(self, store: Store, record: RunRecord) -> None:
        """Generate the rows with the help of models; replies are committed as they come."""
        options = self._options
        memory = ReplyCache(store, record.no, "update" if options.fresh else options.cache_policy)
        purse = None if options.max_cost is None else SpendingLimit(options.max_cost)
        models = Models(self._recipe.connections, memory, purse=purse, max_concurrency=options.max_concurrency)
        self._work = Work(
            solver=None,
            scorers=(),
            clients={key: policies.client for key, policies in models.by_key.items()},
            sampling={key: defaults_of(policies.connection.sampling) for key, policies in models.by_key.items()},
            width=max(1, models.width),
            reads_sample=frozenset(key for key, policies in models.by_key.items() if policies.connection.reads_sample),
        )
        writer = RunWriter(store, record.no)

        async def commit() -> None:
            paid = memory.hand_over()
            if paid:
                await asyncio.to_thread(writer.write_replies, paid)
            memory.committed()

        groups = GroupCommit(commit)
        committing = asyncio.create_task(groups.run())
        try:
            await self._all()
        finally:
            groups.close()
            # what was paid for is committed, whatever stops the work
            await committing
            await models.close()
            memory.close()

    async def _all(self) -> None:
        target = self._recipe.dataset.num_samples
        sources = source_rows(self._recipe)
        while len(self._generated.rows) < target:
            chunk = list(islice(sources, min(AT_ONCE, target - len(self._generated.rows))))
            if not chunk:
                return
            combined = isinstance(self._recipe.dataset.generator.source, DatasetSampleCombinations)
            for (source_id, _), rows in zip(chunk, await self._through(chunk), strict=True):
                # a source row may give many rows: sources that are not needed any more do not count
                if len(self._generated.rows) >= target:
                    break
                self._generated.n_sources += 1
                if isinstance(rows, Failure):
                    self._generated.failed.append((source_id, rows))
                else:
                    # combinations with the same row of the first dataset are one family
                    family = source_id.split(SEPARATOR)[0] if combined else source_id
                    self._generated.rows += _named(source_id, family, rows)
            del self._generated.rows[target:]
            self._listener(Progress(done=len(self._generated.rows), failed=len(self._generated.failed), total=target))

    async def _through(self, chunk: Sequence[tuple[str, Row]]) -> list[list[Row] | Failure]:
        """Return the rows that all synthesizers produce from some source rows."""
        state: list[list[Row] | Failure] = [[row] for _, row in chunk]
        for synthesizer in self._synthesizers:
            flat = [(place, row) for place, rows in enumerate(state) if isinstance(rows, list) for row in rows]
            outputs = await self._synthesized(synthesizer, [row for _, row in flat])
            self._note(synthesizer, flat, outputs)
            after: list[list[Row] | Failure] = [[] if isinstance(rows, list) else rows for rows in state]
            for (place, _), rows in zip(flat, outputs, strict=True):
                so_far = after[place]
                if isinstance(rows, Failure):
                    after[place] = rows
                elif isinstance(so_far, list):
                    so_far += rows
            state = after
        return state

    def _note(
        self, synthesizer: LoadedSynthesizer, taken: Sequence[tuple[int, Row]], outputs: Sequence[list[Row] | Failure]
    ) -> None:
        """Keep what a synthesizer took and gave, where the dataset asks for it."""
        debug = self._recipe.dataset.debug
        if debug is None:
            return
        rows = [row for output in outputs if isinstance(output, list) for row in output]
        entry: dict[str, Any] = {
            "synthesizer": synthesizer.kind.name,
            "n_in": len(taken),
            "n_out": len(rows),
            "n_failed": sum(isinstance(output, Failure) for output in outputs),
        }
        if debug.include_io:
            entry |= {"input": [row for _, row in taken], "output": rows}
        self._generated.debug.append(entry)

    async def _synthesized(self, synthesizer: LoadedSynthesizer, rows: list[Row]) -> Sequence[list[Row] | Failure]:
        kind, settings = synthesizer.kind, synthesizer.settings
        outputs: Sequence[list[Row] | Failure]
        if kind.asks_model:
            outputs = await asyncio.gather(*(self._rows_from_model(synthesizer, row) for row in rows))
        elif kind.runs_code:
            # code may take its time: the loop goes on with what others ask for
            bound = kind.with_sandbox(self._sandbox)
            outputs = await asyncio.to_thread(bound.synthesize, settings, rows)
        else:
            outputs = kind.synthesize(settings, rows)
        return outputs

    async def _rows_from_model(self, synthesizer: LoadedSynthesizer, row: Row) -> list[Row] | Failure:
        assert self._work is not None
        cell = Cell(position=self._asked, trial=0, sample_id=str(self._asked), sample=row, text="")
        self._asked += 1
        try:
            rows: list[Row] | Failure = await synthesizer.kind.synthesize(
                synthesizer.settings, row, CellAsk(self._work, self._occurrences, cell)
            )
        except CallError as error:
            return replace(error.failure, stage="generate")
        return rows

    def _new_run(self) -> NewRun:
        dataset = self._recipe.dataset
        spec = RunSpec(
            kind="generate",
            task=dataset.key,
            seed=self._options.seed,
            models=stored_models(self._recipe.connections),
            extra={
                "generator": dataset.generator.written,
                "num_samples": dataset.num_samples,
                "digest": self._recipe.digest,
            },
            provenance=provenance(),
        )
        names = [connection.name for connection in self._recipe.connections.values()]
        return NewRun(
            task=f"{dataset.key} (generated)",
            file=str(dataset.generator.document.path),
            model=names[0] if names else None,
            spec=spec,
        )

    def _finish(self, record: RunRecord, status: Status) -> None:
        assert self._store is not None
        report = RunReport(
            run=record.id,
            status=status,
            task=record.task,
            model=record.model,
            n_samples=len(self._generated.rows),
            n_failed=len(self._generated.failed),
            n_cached=0,
            scorers=(),
            failures={},
            spending=self._generated.spending,
        )
        summary = orjson.dumps(summary_document(report)).decode()
        runs.finish(self._store, record.no, status=status, summary=summary, documents=[])


def _named(source_id: str, family: str, rows: Sequence[Row]) -> Iterator[Row]:
    """Assign ids to the rows, those of the source row, numbered if it has several, and the id of their family."""
    for n, row in enumerate(rows):
        derived_id = source_id if len(rows) == 1 else f"{source_id}/{n}"
        sample_id = row.get("sample_id")
        is_its_own = sample_id is not None and str(sample_id) != source_id
        yield {**row, "sample_id": sample_id if is_its_own else derived_id, "source_id": family}


def _with_secrets(recipe: Recipe) -> tuple[LoadedSynthesizer, ...]:
    """The synthesizers with `<< secrets.x >>` in their code filled in, in memory only."""
    generator = recipe.dataset.generator
    secrets = generator.document.data.get("secrets") or {}
    environment = generator.document.environment

    def value(match: Any) -> str:
        # a secret that no block has is the environment variable of that name
        text = (
            str(secrets.get(match[2], environment.get(match[2], match[0]))) if match[1] == "secrets" else str(match[0])
        )
        return environment.get(text.removeprefix("$"), text) if text.startswith("$") else text

    filled = []
    for synthesizer in generator.synthesizers:
        code = getattr(synthesizer.settings, "synthesize_snippet", None)
        if code is not None and PLACEHOLDER.search(code):
            changed = type(code)(PLACEHOLDER.sub(value, code), code.place, literal=code.literal)
            settings = synthesizer.settings.model_copy(update={"synthesize_snippet": changed})
            synthesizer = replace(synthesizer, settings=settings)
        filled.append(synthesizer)
    return tuple(filled)
