"""The texts to audit judges with: submissions for a rubric, or answers that a task's scorer has judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from assay.builtin import registry
from assay.datasets.open import open_dataset
from assay.errors import SpecError
from assay.grading.dataset import RubricDataset
from assay.grading.items import DataItem
from assay.grading.judge_audit import JudgeTarget
from assay.grading.submissions import read_submissions
from assay.judging.rubric import Rubric
from assay.prepare.plan import Options, inspect_task
from assay.runner.all_samples import answered_samples, in_pages, stored_rows
from assay.scorers.common import STAGE, looked_at
from assay.scorers.judge_classifier import JudgeClassifier
from assay.scorers.judge_scorer import JudgeScale
from assay.scorers.rubric import JudgeSettings, RubricScorer
from assay.spec import LoadedDataset, LoadedScorer, LoadedTask
from assay.spec.load import read_document
from assay.spec.nearest import listing, nearest
from assay.store import runs
from assay.store.store import default_location, open_for_planning, open_store
from assay.templates import texts
from assay.types import Failure, Rows

AUDITED = (RubricScorer, JudgeClassifier, JudgeScale)
"""The settings of the scorers whose judges can be audited."""
_TYPES = "rubric, model_as_a_judge_classifier or model_as_a_judge_scorer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Texts with their rubric, and the scorer that grades them where the file is a task."""

    name: str
    dataset: RubricDataset
    scorer: RubricScorer | None = None

    @property
    def judges(self) -> list[JudgeSettings]:
        """The judges that the file itself names."""
        return [] if self.scorer is None else self.scorer.judges


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The user's choices beside the file: where the texts are, and how many to use."""

    submissions: Path | None = None
    column: str | None = None
    prompt: str | None = None
    scorer: str | None = None
    run: str | None = None
    limit: int | None = None
    store: str | None = None
    planned: bool = False


def find_target(path: Path, selection: Wanted) -> Target | JudgeTarget:
    """Return the texts for a rubric file, which needs submissions, or for a task file whose scorer asks judges."""
    data = read_document(path, strict=False).data
    if isinstance(data, Mapping) and "definition" in data:
        if selection.submissions is not None:
            raise SpecError(f"{path} is a task, which has texts of its own: --submissions goes with a rubric")
        return _of_task(path, selection)
    if selection.submissions is None:
        raise SpecError(
            f"{path} is a rubric: give the texts to judge by it with --submissions (a folder, CSV, JSONL or dataset)"
        )
    dataset = read_submissions(selection.submissions, Rubric.from_file(path), column=selection.column)
    dataset.items = dataset.items[: selection.limit]
    dataset.prompt = selection.prompt if selection.prompt is not None else dataset.prompt
    return Target(name=path.name, dataset=dataset)


def _of_task(path: Path, selection: Wanted) -> Target | JudgeTarget:
    loaded, dataset, problems = inspect_task(path, registry(), Options(limit=selection.limit), strict=True)
    if problems:
        raise SpecError(problems)
    scorer = _scorer(loaded, selection.scorer)
    settings = scorer.settings
    if not isinstance(settings, RubricScorer):
        batches = list(_rows(loaded, dataset, selection))
        return JudgeTarget.of(path.name, loaded, scorer, batches, column=selection.column, limit=selection.limit)
    graded = RubricDataset(rubric=settings.rubric, name=loaded.task.key)
    for rows in _rows(loaded, dataset, selection):
        graded.items += _items(settings, rows)
    graded.items = graded.items[: selection.limit]
    return Target(name=path.name, dataset=graded, scorer=settings)


def _scorer(loaded: LoadedTask, key: str | None) -> LoadedScorer:
    """The scorer whose judges are audited: the one that is named, or the only one that has judges."""
    audited = {scorer.key: scorer for scorer in loaded.scorers if isinstance(scorer.settings, AUDITED)}
    others = {scorer.key: scorer.kind.name for scorer in loaded.scorers if scorer.key not in audited}
    if key in others:
        message = f'audit takes scorers of type {_TYPES}; "{key}" is {others[key]}'
        raise SpecError(message + (f" (choose {listing(audited)})" if audited else ""))
    if not audited:
        types = f": it has {listing(dict.fromkeys(others.values()))}" if others else ""
        raise SpecError(
            f'the task "{loaded.task.key}" has no scorer whose judges could be audited{types}; audit takes {_TYPES}'
        )
    if key is not None and key not in audited:
        closest = nearest(key, audited)
        hint = f'; did you mean "{closest}"?' if closest else f"; audit can take {listing(audited)}"
        raise SpecError(f'the task has no scorer "{key}"{hint}')
    if key is None and len(audited) > 1:
        raise SpecError(f"the task has several scorers with judges: choose one with --scorer ({listing(audited)})")
    return audited[key] if key is not None else next(iter(audited.values()))


def _rows(loaded: LoadedTask, dataset: LoadedDataset | None, selection: Wanted) -> Iterator[Rows]:
    """The answers: recorded ones from the dataset, those of a model from a run in the store."""
    solver = loaded.solver
    if selection.run is not None or (solver is not None and solver.kind.asks_model):
        yield from _stored(loaded, selection)
        return
    if dataset is None:
        raise SpecError(f'the task "{loaded.task.key}" names no dataset')
    root = loaded.document.root
    position = 0
    for batch in open_dataset(dataset.kind, dataset.settings, dataset.folder, root=root, limit=selection.limit):
        positions = range(position, position + len(batch.ids))
        position = positions.stop
        rows = Rows(positions=positions, ids=batch.ids, samples=batch.samples)
        yield rows if solver is None else _answered(*solver.kind.solve(solver.settings, rows))


def _answered(rows: Rows, failures: Mapping[int, Failure]) -> Rows:
    """The rows whose recorded answer can be read: the others have nothing to judge."""
    if not failures:
        return rows
    places = [place for place in range(len(rows)) if place not in failures]
    return replace(
        rows,
        positions=[rows.positions[place] for place in places],
        ids=[rows.ids[place] for place in places],
        samples=[rows.samples[place] for place in places],
        answers=None if rows.answers is None else [rows.answers[place] for place in places],
        traces=None if rows.traces is None else [rows.traces[place] for place in places],
    )


def _stored(loaded: LoadedTask, selection: Wanted) -> Iterator[Rows]:
    opening = open_for_planning if selection.planned else open_store
    store = opening(selection.store or default_location(loaded.document.root))
    try:
        if selection.run is not None:
            record = runs.find(store, selection.run)
        else:
            latest = runs.latest_named(store, loaded.task.key)
            if latest is None:
                raise SpecError(
                    f'a model answers the task "{loaded.task.key}", and no run of it is in the store: run it first, '
                    "or name a run with --run"
                )
            record = latest
        for group in in_pages(answered_samples(store, record.rows_of, record.spec.scorer_keys)):
            yield stored_rows(group)
    finally:
        store.close()


def _items(settings: RubricScorer, rows: Rows) -> Iterator[DataItem]:
    """The texts of a batch as the scorer looks at them; rows that it could not look at are left out."""
    columns = {"text": looked_at(settings, rows)}
    for name in ("prompt", "reference"):
        template = getattr(settings, name)
        if template is not None:
            columns[name] = texts(template, rows, stage=STAGE)
    for place, sample_id in enumerate(rows.ids):
        if any(place in column.failures for column in columns.values()):
            continue
        item_texts = {name: str(column.values[place]) for name, column in columns.items()}
        yield DataItem(
            item_texts["text"],
            sample_id,
            prompt=item_texts.get("prompt"),
            reference_submission=item_texts.get("reference"),
        )
