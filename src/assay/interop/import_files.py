"""Detect which tool wrote a file, and read it."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from assay.datasets.json_document import as_json
from assay.errors import SpecError
from assay.interop.ai_go_log import read_ai_go
from assay.interop.archive import is_archive, restore_archive
from assay.interop.autorubric import read_autorubric
from assay.interop.deepeval import read_deepeval
from assay.interop.imported_run import found_again, keep
from assay.interop.imported_tables import read_answers, read_votes
from assay.interop.imported_values import Imported
from assay.interop.inspect_log import read_inspect
from assay.interop.lm_eval import read_lm_eval
from assay.interop.promptfoo import read_promptfoo
from assay.interop.source_figures import FigureCheck, check_figures
from assay.results.run import RunReport
from assay.store.run_spec import import_identity
from assay.store.runs import rename
from assay.store.store import Store
from assay.summary.finish import stored_report

Format = Literal[
    "archive", "inspect", "lm_eval", "autorubric", "promptfoo", "deepeval", "ai_go", "answers", "votes", "labels"
]
FORMATS: tuple[str, ...] = get_args(Format)
TOOLS = ("inspect", "lm_eval", "autorubric", "promptfoo", "deepeval", "ai_go")
"""The formats of tools that compute their own metrics."""
OF_LABELS = {"annotator", "inclusion_probability"}
"""Columns that only a table of human labels has."""
READER_VERSION = 2
"""Raised when a reader produces different scores for the same file, so that the file is imported again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The user's statements about a foreign file; the rest is detected."""

    format: Format | None = None
    task: str | None = None
    model: str | None = None
    dataset: Path | None = None
    output: str | None = None
    scores: tuple[str, ...] = ()
    column: int | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The run that a file became: its report, or its id alone where it had been imported before."""

    run: str
    format: str
    report: RunReport | None
    notes: tuple[str, ...] = ()
    figures: FigureCheck | None = None


def import_file(store: Store, path: Path, options: ImportOptions) -> ImportResult:
    """Make a foreign result a run; the same file again is the same run."""
    if not path.exists():
        raise SpecError(f'there is no "{path}"')
    form = options.format or format_of(path)
    if form == "archive":
        return _restore(store, path, options)
    if form == "labels":
        raise SpecError(f"{path} holds labels of a run's answers, which are no run of their own: use `assay import`")
    if options.column is not None and form != "promptfoo":
        raise SpecError(f"--column chooses a column of promptfoo results; {path} is read as {form}")
    imported = _read(path, form, options)
    if not imported.samples:
        raise SpecError(f"{path} holds no samples")
    digest = _digest(path, options, imported)
    before = found_again(store, import_identity(form, digest))
    if before is not None:
        rename(store, before, replace(before.spec, name=options.name, tags=options.tags))
        return _result(imported, stored_report(store, before), is_new=False)
    named = replace(imported, task=options.task or imported.task, model=options.model or imported.model)
    report = keep(named, store, path.resolve(), digest, name=options.name, tags=options.tags)
    return _result(imported, report, is_new=True)


def _result(imported: Imported, report: RunReport, *, is_new: bool) -> ImportResult:
    """Return the run, with notes on figures missing from the source's own summary."""
    notes, check = imported.notes, None
    if imported.figures is None:
        if imported.format in TOOLS:
            notes += ("the source has no summary of its own: the metrics cannot be checked against it",)
    else:
        check = check_figures(imported.figures, report)
        notes += tuple(check.notes())
    new_report = report if is_new else None
    return ImportResult(run=report.run, format=imported.format, report=new_report, notes=notes, figures=check)


def _restore(store: Store, path: Path, options: ImportOptions) -> ImportResult:
    """Put the run of an archive into the store as it was."""
    if options.task or options.model or options.output or options.scores or options.dataset:
        raise SpecError(f"{path} is a run archive, which is restored as it is: give only --name and --tag")
    restored = restore_archive(store, path)
    record = rename(store, restored.record, replace(restored.record.spec, name=options.name, tags=options.tags))
    notes = []
    if record.id != restored.original:
        notes.append(
            f"run {restored.original} of the archive is run {record.id} here: the store has another run of that id"
        )
    report = None if restored.was_there else stored_report(store, record)
    return ImportResult(run=record.id, format="archive", report=report, notes=tuple(notes))


def _read(path: Path, form: str, options: ImportOptions) -> Imported:
    if form == "inspect":
        return read_inspect(path)
    if form == "lm_eval":
        return read_lm_eval(path)
    if form == "autorubric":
        return read_autorubric(path, options.dataset)
    if form == "promptfoo":
        return read_promptfoo(path, options.column)
    if form == "deepeval":
        return read_deepeval(path)
    if form == "ai_go":
        return read_ai_go(path)
    return read_votes(path) if form == "votes" else read_answers(path, output=options.output, scores=options.scores)


def format_of(path: Path) -> Format:
    """Detect the tool that wrote a file, by its name and content."""
    suffix = path.suffix.lower()
    if path.is_dir():
        if (path / "manifest.json").is_file():
            return "autorubric"
        raise SpecError(f"{path} is a folder without manifest.json: name the file to import")
    if is_archive(path):
        return "archive"
    if suffix == ".eval" or zipfile.is_zipfile(path):
        return "inspect"
    if suffix == ".json":
        return _of_document(path)
    if suffix in (".jsonl", ".ndjson", ".csv"):
        return _of_rows(path)
    raise _unknown(path)


def _of_document(path: Path) -> Format:
    """The tool that wrote a JSON document, by its fields."""
    head = as_json(path, path.read_bytes(), wanted="the JSON of Inspect, promptfoo or DeepEval")
    fields = set(head) if isinstance(head, dict) else set()
    if "eval" in fields:
        return "inspect"
    if {"format_version", "evidence", "specification"} <= fields:
        return "ai_go"
    if "testRunData" in fields or {"testCases", "metricsScores"} <= fields:
        return "deepeval"
    results = head["results"] if "results" in fields else None
    if isinstance(results, dict) and {"results", "stats"} & set(results):
        return "promptfoo"
    if "results" in fields and {"configs", "lm_eval_version"} & fields:
        raise SpecError(
            f"{path} is a summary of lm-evaluation-harness without samples: "
            "import the samples_*.jsonl beside it, which --log_samples writes"
        )
    if path.with_name("items.jsonl").is_file() and path.name in ("manifest.json", "metrics.json"):
        raise SpecError(f"{path} is a part of an AutoRubric experiment: import its folder, {path.parent}")
    raise _unknown(path)


def _unknown(path: Path) -> SpecError:
    return SpecError(f"cannot tell which tool wrote {path}: give --format, one of {', '.join(FORMATS)}")


def _of_rows(path: Path) -> Format:
    from assay.interop.table_file import read_table

    first = read_table(path, ())[:1]
    names = set(first[0]) if first else set()
    if {"doc_id", "resps"} <= names:
        return "lm_eval"
    if {"sample_id", "label"} <= names and names & OF_LABELS:
        return "labels"
    return "votes" if {"item", "judge", "label"} <= names else "answers"


def _digest(path: Path, options: ImportOptions, imported: Imported) -> str:
    """Return a digest of everything that determines the run: the files, and the options about them."""
    task, model = (
        None if option == default else option
        for option, default in ((options.task, imported.task), (options.model, imported.model))
    )
    total = hashlib.sha256(repr((READER_VERSION, task, model, *imported.chosen)).encode())
    for source in _files(path, options.dataset):
        with source.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _files(path: Path, dataset: Path | None) -> Iterator[Path]:
    yield from (p for p in sorted(path.glob("*.json*")) if p.is_file()) if path.is_dir() else iter([path])
    if dataset is not None and dataset.is_file():
        yield dataset
