"""Task result logs of AI GO!: the JSON that it exports for one task of an evaluation run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.datasets.json_document import as_json, dicts, mapping, wrong
from assay.interop.imported_values import Imported, ImportedSample, SourceFigure, failed, key_of
from assay.interop.numbers import as_number
from assay.solvers.conversation import UnreadableError, as_trace
from assay.types import Failure, Item, Outcome, Score, Trace, content_text

FORMAT = "ai_go"
VERSION = "v1"
WANTED = "a task result log of AI GO!"


def read_ai_go(path: Path) -> Imported:
    """The samples with their conversations, scores and errors; an error is a failure, never a score."""
    log = mapping(path, as_json(path, path.read_bytes(), wanted=WANTED), WANTED)
    if log.get("format_version") != VERSION:
        raise wrong(path, f"expected {WANTED} with format_version {VERSION}, got {log.get('format_version')!r}")
    evidence = mapping(path, log.get("evidence") or {}, "the evidence")
    specification = mapping(path, log.get("specification") or {}, "the specification")
    task, entity = specification.get("task"), specification.get("evaluated_entity")
    entries = dicts(evidence.get("samples"))
    samples = [sample for place, entry in enumerate(entries) for sample in _samples(entry, str(place))]
    return Imported(
        format=FORMAT,
        task=str((task.get("key") if isinstance(task, dict) else None) or path.stem),
        model=str(entity["key"]) if isinstance(entity, dict) and entity.get("key") else None,
        samples=samples,
        trials=max((sample.trial + 1 for sample in samples), default=1),
        partial=log.get("status") != "success",
        notes=tuple(_notes(entries)),
        figures=tuple(_figures(evidence)),
    )


def _samples(entry: Mapping[str, Any], place: str) -> Iterator[ImportedSample]:
    """The trials of a sample, or the sample itself where it has none."""
    declared_id = entry.get("sample_id")
    sample_id = place if declared_id is None else str(declared_id)
    data = _data(entry)
    trials = dicts(entry.get("trials"))
    for trial, part in enumerate(trials) if trials else [(0, entry)]:
        trace, output = _answer(part.get("solver"))
        yield ImportedSample(
            sample_id=sample_id,
            sample=_data(part) or data,
            output=output,
            trace=trace,
            trial=trial,
            outcomes=dict(_outcomes(part)),
            failure=_failure(part) if output is None and not part.get("scores") else None,
        )


def _data(entry: Mapping[str, Any]) -> dict[str, Any]:
    sample = entry.get("sample")
    data = sample.get("data") if isinstance(sample, dict) else None
    return dict(data) if isinstance(data, dict) else {}


def _answer(solver: Any) -> tuple[tuple[Item, ...], str | None]:
    """Return the conversation of a sample and the text of its last reply, if there are any."""
    answer = solver.get("output") if isinstance(solver, dict) else None
    if not isinstance(answer, dict):
        return (), None
    recorded = answer.get("trace") if "trace" in answer else answer.get("messages")
    try:
        trace = as_trace(recorded) if recorded else Trace(())
    except UnreadableError:
        trace = Trace(())
    output = answer.get("output")
    for choice in dicts(output.get("choices")) if isinstance(output, dict) else ():
        message = choice.get("message")
        if isinstance(message, dict) and message.get("content") is not None:
            return trace.items, content_text(message["content"])
    return trace.items, trace.get_last_assistant_text()


def _outcomes(entry: Mapping[str, Any]) -> Iterator[tuple[str, Outcome]]:
    for scores in dicts(entry.get("scores")):
        key = key_of(str(scores.get("scorer_key")))
        score_values = scores.get("values")
        values = {
            name: float(value) if isinstance(value, bool) else value
            for name, value in (score_values.items() if isinstance(score_values, dict) else ())
            if isinstance(value, bool | int | float | str)
        }
        metadata = scores.get("metadata")
        yield (
            key,
            Score(scorer=key, values=values, metadata=metadata if isinstance(metadata, dict) else {})
            if values
            else failed("the log holds no value of this score", "missing_field"),
        )


def _failure(entry: Mapping[str, Any]) -> Failure | None:
    for error in dicts(entry.get("errors")):
        return failed(f"{error.get('error_type', 'error')}: {error.get('message', '')}")
    return None


def _notes(entries: list[dict[str, Any]]) -> Iterator[str]:
    """Note samples that the source excluded from its metrics but the imported run includes."""
    rules = Counter(
        str(record.get("rule_key"))
        for entry in entries
        for record in dicts(entry.get("action_records"))
        if record.get("action") == "exclude_from_metrics"
    )
    for rule, n in rules.items():
        yield f'the source excluded {n:,} samples from its metrics by the rule "{rule}"; here they count'


def _figures(evidence: Mapping[str, Any]) -> Iterator[SourceFigure]:
    for metric in dicts(evidence.get("metrics")):
        values = metric.get("values")
        for name, figure in values.items() if isinstance(values, dict) else ():
            value = as_number(figure)
            if value is not None:
                yield SourceFigure(name=f"{metric.get('scorer_key')}/{metric.get('metric_key')}/{name}", value=value)
