"""Audit the judge of a classifier or scale: the task's own prompts, asked about modified answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, cast

from assay.builtin import registry
from assay.errors import SpecError
from assay.grading.audit import AuditOptions, audit_plan, no_effect, shortened
from assay.grading.config import JudgeSpec
from assay.grading.probes import NO_PLACES, injected, padded, score_change, verdict_noise
from assay.prepare.plan import Options, Plan, prepare_loaded
from assay.results.audit import AuditPlan, AuditResult, Probe, ProbeName
from assay.runner.estimate import estimate_run
from assay.runner.progress import Listener, silent
from assay.runner.session import run_task
from assay.scorers.common import STAGE
from assay.scorers.judge import JudgeScorerSpec
from assay.scorers.judge_classifier import JudgeClassifier
from assay.solvers.pass_through import PassThroughSolver
from assay.spec import LoadedDataset, LoadedScorer, LoadedSolver, LoadedTask
from assay.spec.fields import ColumnName, Located, SourceSpec
from assay.spec.nearest import listing, nearest
from assay.spec.task import Definition, Trials
from assay.store import runs
from assay.store.decoder import Sample, read_samples
from assay.store.store import default_location, open_for_planning, open_store
from assay.templates import columns_read, texts
from assay.types import Rows, Trace, content_text

_SOURCE = "inline_samples"
_ANSWER = "audited_answer"
"""The column of the audit's samples that holds the conversation with the answer."""
_CHANGES: Mapping[str, Callable[[str], str]] = {"plain": str, "verbosity": padded, "injection": injected}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTarget:
    """A scorer of a task that asks one judge, and the samples it is asked about.

    `columns` are those of a sample that hold the answer. `answers` are the conversations that end with it, None in a
    task without a solver.
    """

    name: str
    loaded: LoadedTask
    scorer: LoadedScorer
    samples: Sequence[Mapping[str, Any]]
    answers: Sequence[Trace] | None
    columns: Sequence[str]

    @classmethod
    def of(
        cls,
        name: str,
        loaded: LoadedTask,
        scorer: LoadedScorer,
        batches: Sequence[Rows],
        *,
        column: str | None,
        limit: int | None,
    ) -> JudgeTarget:
        """Return the samples of a task with their answers; raise a SpecError if the answer cannot be located."""
        samples = [sample for rows in batches for sample in rows.samples][:limit]
        ids = [sample_id for rows in batches for sample_id in rows.ids][:limit]
        # a run with trials has several answers to one sample: they are texts of their own here
        seen: dict[str, int] = {}
        for sample_id in ids:
            seen[sample_id] = seen.get(sample_id, 0) + 1
        unique = len(seen) == len(ids)
        named = [
            {**sample, "sample_id": sample_id if unique else f"{sample_id}#{number}"}
            for number, (sample_id, sample) in enumerate(zip(ids, samples, strict=True))
        ]
        answers = [trace for rows in batches for trace in _conversations(rows)][:limit]
        settings = None if loaded.solver is None else loaded.solver.settings
        columns = [str(settings.trace_column)] if isinstance(settings, PassThroughSolver) else []
        if column is not None:
            present = list(dict.fromkeys(key for sample in samples for key in sample))
            if column not in present:
                closest = nearest(column, present)
                hint = f'did you mean "{closest}"?' if closest else f"it has {listing(present)}"
                raise SpecError(f'--column: the dataset has no column "{column}"; {hint}')
            columns = [column]
        elif not answers and samples:
            settings_of = cast("JudgeScorerSpec", scorer.settings)
            prompt_columns = dict.fromkeys(use.name for use in columns_read(settings_of.user_prompt))
            raise SpecError(
                f'the task "{loaded.task.key}" has no solver, so nothing says which text is the answer: name its '
                f"column with --column (the prompt of {scorer.key} shows {listing(prompt_columns)})"
            )
        return cls(
            name=name, loaded=loaded, scorer=scorer, samples=named, answers=answers or None, columns=tuple(columns)
        )

    @property
    def settings(self) -> JudgeScorerSpec:
        """The settings of the scorer."""
        return cast("JudgeScorerSpec", self.scorer.settings)

    def changed(self, change: Callable[[str], str]) -> list[dict[str, Any]]:
        """Return the samples with every occurrence of the answer modified."""
        rows: list[dict[str, Any]] = []
        for place, sample in enumerate(self.samples):
            row = dict(sample)
            for column in self.columns:
                value = row.get(column)
                if isinstance(value, str | int | float):
                    row[column] = change(str(value))
            if self.answers is not None:
                row[_ANSWER] = _ending_with(self.answers[place], change)
            rows.append(row)
        return rows


def _conversations(rows: Rows) -> list[Trace]:
    if rows.answers is None:
        return []
    if rows.traces is not None:
        return list(rows.traces)
    return [Trace(({"type": "message", "role": "assistant", "content": answer},)) for answer in rows.answers]


def _ending_with(trace: Trace, change: Callable[[str], str]) -> list[dict[str, Any]]:
    """The conversation with its last reply changed; a conversation of calls alone gets a reply."""
    items = [dict(item) for item in trace.items]
    replies = [item for item in items if item.get("type", "message") == "message" and item.get("role") == "assistant"]
    if not replies:
        text = change("")
        return [*items, {"type": "message", "role": "assistant", "content": text}] if text else items
    text = content_text(replies[-1].get("content"))
    # an answer that is not changed keeps its form, so that replies of earlier runs serve
    if change(text) != text:
        replies[-1]["content"] = change(text)
    return items


class JudgeAudit:
    """Asks the judge of a classifier or a scale about answers as they are, again, padded, and with instructions."""

    def __init__(self, target: JudgeTarget, judges: Sequence[JudgeSpec], options: AuditOptions | None = None) -> None:
        if not target.samples:
            raise SpecError("there are no texts to audit judges with")
        self._target = target
        self._options = options or AuditOptions()
        model_key = str(target.settings.model_key)
        self._judges = {judge.judge_id: str(judge.llm_config.model) for judge in judges} or {model_key: model_key}
        probes = self._options.probes
        self._parts = [name for name in ("plain", "verbosity", "injection") if name == "plain" or name in probes]
        if not set(probes) - {"position"}:
            raise SpecError(
                f"nothing is left to ask: position does not apply to {target.scorer.kind.name} ({NO_PLACES})"
            )
        self._check_shown()

    def plan(self) -> AuditPlan:
        """Estimate the calls and cost of the audit without asking anyone."""
        location = self._location
        if not self._options.planned:
            # the audit writes there, so that an older store is migrated before it is read
            open_store(location).close()
        store = open_for_planning(location)
        try:
            plans = [
                estimate_run(self._prepared(model, part), store)
                for model in self._judges.values()
                for part in self._parts
            ]
        finally:
            store.close()
        return audit_plan(len(self._target.samples), plans)

    def run(self, plan: AuditPlan, listener: Listener = silent) -> AuditResult:
        """Make the probes; what was asked before is taken from the store."""
        left, spent, statuses = self._options.max_cost, [], []
        by_judge: dict[str, dict[ProbeName, Probe]] = {}
        run_ids: dict[str, str] = {}
        notes: list[str] = []
        store = open_store(self._location)
        try:
            for judge, model in self._judges.items():
                samples: dict[str, list[Sample]] = {}
                for part in self._parts:
                    report = run_task(self._prepared(model, part, max_cost=left), store, listener=listener)
                    samples[part] = list(read_samples(store, runs.find(store, report.run)))
                    run_ids[part if len(self._judges) == 1 else f"{judge}: {part}"] = report.run
                    notes += _lost(part, samples[part])
                    spent.append(report.cost_usd)
                    statuses.append(report.status)
                    if left is not None:
                        left = max(left - (report.cost_usd or Decimal(0)), Decimal(0))
                by_judge[judge] = self._probes(judge, samples)
        finally:
            store.close()
        partial = "partial" in statuses
        if partial:
            notes.append("the spending limit was reached: these are the texts asked so far")
        return AuditResult(
            target=self._target.name,
            n_items=len(self._target.samples),
            judges=by_judge,
            plan=plan,
            runs=run_ids,
            cost_usd=None if None in spent else sum((cost for cost in spent if cost is not None), Decimal(0)),
            status="partial" if partial else "failed" if notes and no_effect(by_judge) else "completed",
            notes=tuple(dict.fromkeys(notes)),
        )

    @property
    def _location(self) -> str:
        return self._options.store or default_location(self._target.loaded.document.root)

    def _check_shown(self) -> None:
        """Raise SpecError where the judge would see the same question whatever is done to the answer."""
        prompts = [
            prompt for prompt in (self._target.settings.system_prompt, self._target.settings.user_prompt) if prompt
        ]
        rendered = [
            [texts(prompt, self._rows(change), stage=STAGE).values for prompt in prompts] for change in (str, injected)
        ]
        if rendered[0] == rendered[1]:
            where = f" (columns: {listing(self._target.columns)})" if self._target.columns else ""
            raise SpecError(
                f"the prompts of {self._target.scorer.key} do not show the answer that the audit changes{where}: "
                "name the column that holds the text with --column"
            )

    def _rows(self, change: Callable[[str], str]) -> Rows:
        samples = self._target.changed(change)
        n = len(samples)
        rows = Rows(positions=range(n), ids=[str(sample["sample_id"]) for sample in samples], samples=samples)
        solver = self._solver
        return rows if solver is None else cast("Rows", solver.kind.solve(solver.settings, rows)[0])

    @property
    def _solver(self) -> LoadedSolver | None:
        """Return the solver that reads the answers of the audit's samples; None for a task without a solver."""
        if self._target.answers is None:
            return None
        settings = PassThroughSolver(type="pass_through_solver", trace_column=ColumnName(_ANSWER))
        return LoadedSolver(kind=registry().solvers["pass_through_solver"], settings=settings, place=None)

    def _prepared(self, model: str, part: str, *, max_cost: Decimal | None = None) -> Plan:
        """One run of the audit: the task's scorer alone, on recorded answers."""
        target, options = self._target, self._options
        twice = Trials(num_trials=2) if part == "plain" and "noise" in options.probes else None
        kinds = registry()
        source = kinds.sources[_SOURCE]
        dataset = LoadedDataset(
            key=target.loaded.task.key,
            kind=source,
            # samples that are built here need not be validated one by one
            settings=cast(
                "SourceSpec", source.settings.model_construct(type=_SOURCE, samples=target.changed(_CHANGES[part]))
            ),
            folder=target.loaded.document.root,
            place=None,
            written={"type": _SOURCE},
        )
        solver = self._solver
        definition: dict[str, Any] = {"dataset": dataset.written, "scorers": [self._node(model)]}
        if solver is not None:
            definition["solver"] = {"type": "pass_through_solver", "trace_column": _ANSWER}
        if twice is not None:
            definition["trials"] = {"num_trials": 2}
        settings = target.settings.model_copy(update={"model_key": Located(model)})
        loaded = replace(
            target.loaded,
            task=target.loaded.task.model_copy(
                update={"key": f"audit:{target.name}:{part}", "definition": Definition(trials=twice)}
            ),
            dataset=dataset,
            datasets=(),
            result_of=None,
            solver=solver,
            scorers=(replace(target.scorer, settings=settings, metrics=()),),
            resolved={**target.loaded.resolved, "definition": definition},
        )
        return prepare_loaded(
            loaded,
            kinds,
            Options(
                kind="audit",
                fresh=options.fresh,
                max_concurrency=options.max_concurrency,
                max_cost=max_cost,
                keyless=options.planned,
            ),
        )

    def _node(self, model: str) -> dict[str, Any]:
        """The settings of the scorer as they may be stored, with the judge that is asked."""
        loaded = self._target.loaded
        nodes = (loaded.resolved.get("definition") or {}).get("scorers") or []
        place = [scorer.key for scorer in loaded.scorers].index(self._target.scorer.key)
        node = nodes[place] if len(nodes) == len(loaded.scorers) else {}
        return {**node, "model_key": model, "metrics": []}

    def _probes(self, judge: str, samples: Mapping[str, Sequence[Sample]]) -> dict[ProbeName, Probe]:
        options = self._options
        numbers = {str(sample["sample_id"]): number for number, sample in enumerate(self._target.samples)}
        key = self._target.scorer.key
        value = "is_correct" if isinstance(self._target.settings, JudgeClassifier) else "score"
        verdict = "predicted_label" if value == "is_correct" else "score"
        scores: dict[str, dict[int, float | None]] = {}
        verdicts: dict[int, dict[int, tuple[object, float]]] = {number: {} for number in numbers.values()}
        for part, rows in samples.items():
            for sample in rows:
                score = sample.scores.get(key)
                number = numbers[sample.sample_id]
                if part == "plain" and score is not None:
                    verdicts[number][sample.trial] = (score.values[verdict], float(score.values[value]))
                if sample.trial == 0:
                    scores.setdefault(part, {})[number] = None if score is None else float(score.values[value])
        probes: dict[ProbeName, Probe] = {}
        for name in options.probes:
            if name == "position":
                probes[name] = Probe(finding=None, note=NO_PLACES)
            elif name == "noise":
                both = {number: twice for number, twice in verdicts.items() if len(twice) == 2}
                moved = [(number, twice[0][0] != twice[1][0]) for number, twice in both.items()]
                pairs = [[twice[0][1], twice[1][1]] for twice in both.values()]
                probe = verdict_noise(moved, pairs, judge, options.max_noise, level=options.level)
                probes[name] = replace(probe, left_out=len(verdicts) - len(both))
            else:
                before, after = scores.get("plain", {}), scores.get(name, {})
                probes[name] = score_change(before, after, options.threshold, level=options.level)
        return probes


def _lost(part: str, samples: Sequence[Sample]) -> list[str]:
    """A sentence about the questions that got no verdict, with the reason of the first."""
    reasons = [failure.detail for sample in samples for failure in sample.failures.values()]
    if not reasons:
        return []
    return [f"{part}: {len(reasons):,} of {len(samples):,} questions got no verdict: {shortened(reasons[0])}"]
