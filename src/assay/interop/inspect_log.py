"""Logs of Inspect: a JSON document, or the .eval archive of one JSON member a sample."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.datasets.inspect_file import input_columns, read_log, trace_items
from assay.datasets.json_document import dicts, mapping, wrong
from assay.interop.imported_run import metric_name
from assay.interop.imported_values import Imported, ImportedSample, SourceFigure, failed, key_of
from assay.interop.numbers import as_number, number_in
from assay.spec.task import Aggregator, ScoreAggregator
from assay.types import Outcome, Score, ScoreValue, content_text

FORMAT = "inspect"
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partly correct, incorrect, no answer: what Inspect counts them as."""
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_REDUCER = re.compile(r"mean|median|mode|max|(at_least|pass_at|pass_k)_(\d+)")
_FUNCTIONS = {"at_least": "at_least_k", "pass_at": "pass@k", "pass_k": "pass^k"}


def read_inspect(path: Path) -> Imported:
    """A log with its samples; a sample that ended in an error is a failure, whatever it was scored."""
    head, rows = read_log(path)
    spec = mapping(path, head.get("eval"), "the field eval")
    odd = next((row for row in rows if not isinstance(row.get("epoch") or 1, int) or (row.get("epoch") or 1) < 1), None)
    if odd is not None:
        raise wrong(path, f'the sample "{odd.get("id")}" has the epoch {odd["epoch"]!r}; expected 1, 2 and so on')
    scorers = dict.fromkeys(name for row in rows for name in row["scores"])
    fields = {name: _field(name, rows) for name in scorers}
    samples = [_sample(row, fields) for row in rows]
    trials = max((sample.trial for sample in samples), default=0) + 1
    results = head.get("results")
    entries = dicts(results.get("scores")) if isinstance(results, dict) else []
    reducers = list(dict.fromkeys(str(entry["reducer"]) for entry in entries if trials > 1 and entry.get("reducer")))
    rules = [_aggregator(field, reducer) for field in _numeric_fields(samples) for reducer in reducers]
    if reducers:
        samples = _with_reductions(
            samples, head.get("reductions"), fields, {name for name in fields if _is_coarse(name, rows)}
        )
    names = _numeric_fields(samples)
    figures = [figure for entry in entries for figure in _figures(entry, fields, names, trials)]
    status = str(head.get("status") or "started")
    notes = [] if status == "success" else [f"the log says {status}{_reason(head)}: it may lack samples"]
    return Imported(
        format=FORMAT,
        task=str(spec.get("task") or path.stem),
        model=None if spec.get("model") is None else str(spec["model"]),
        samples=samples,
        trials=trials,
        partial=status != "success",
        notes=tuple(notes),
        aggregators=tuple(rule for rule in rules if rule is not None),
        figures=tuple(figure for figure, _ in figures) if isinstance(results, dict) else None,
        deviations=frozenset(field for _, field in figures if field is not None),
    )


def _numeric_fields(samples: Iterable[ImportedSample]) -> list[str]:
    """Return the numeric fields of all scores."""
    scores = [score for sample in samples for score in sample.outcomes.values() if isinstance(score, Score)]
    return list(dict.fromkeys(n for score in scores for n, value in score.values.items() if not isinstance(value, str)))


def _with_reductions(
    samples: Sequence[ImportedSample], reductions: Any, fields: Mapping[str, str | None], coarse: set[str]
) -> list[ImportedSample]:
    """Add the log's own value of every reducer that cannot be reproduced from numbers, as one more field.

    Such are reducers without a counterpart here, and the mode of scorers whose numbers are `coarse`.
    """
    taken: dict[tuple[str, str], dict[str, float]] = {}
    for entry in dicts(reductions):
        scorer, reducer = str(entry.get("scorer")), str(entry.get("reducer"))
        field = fields.get(scorer)
        if field in ("is_correct", "value") and (
            (reducer == "mode" and scorer in coarse) or _aggregator("", reducer) is None
        ):
            for reduced in dicts(entry.get("samples")):
                number = _number(_value(reduced))
                if number is not None:
                    key = (str(reduced.get("sample_id")), key_of(scorer))
                    taken.setdefault(key, {})[_reduced(field, reducer)] = number
    return [
        replace(
            sample,
            outcomes={
                key: replace(score, values={**score.values, **taken.get((sample.sample_id, key), {})})
                if isinstance(score, Score)
                else score
                for key, score in sample.outcomes.items()
            },
        )
        for sample in samples
    ]


def _aggregator(field: str, reducer: str) -> ScoreAggregator | None:
    """Return an epoch reducer as an aggregator of trials; None if it has no counterpart."""
    named = _REDUCER.fullmatch(reducer)
    if named is None:
        return None
    counting, k = named.groups()
    function = reducer if counting is None else _FUNCTIONS[counting]
    # Inspect counts scores from 1 on as successes, whatever the scale
    counts = {} if k is None else {"k": int(k), "threshold": 1.0}
    settings = {"function": function, "score_name": _reduced(field, reducer), **counts}
    return ScoreAggregator(score_name=field, aggregator=Aggregator.model_validate(settings))


def _reduced(field: str, reducer: str | None) -> str:
    """Return the name of a field after its epochs were combined."""
    return field if reducer in (None, "mean") else f"{field}_{key_of(str(reducer))}"


def _figures(
    entry: Mapping[str, Any], fields: Mapping[str, str | None], names: Sequence[str], trials: int
) -> Iterator[tuple[SourceFigure, tuple[str, str] | None]]:
    """The metrics of one entry of the log's summary; beside a standard deviation the scorer and field that it is of."""
    scorer, name, reducer = (entry.get(key) for key in ("scorer", "name", "reducer"))
    single_value = scorer in fields and name == scorer
    field = fields[str(scorer)] if single_value else key_of(str(name))
    reduced = _reduced(str(field), reducer if trials > 1 else None)
    carried = reduced in names or (field in names and _aggregator("", str(reducer)) is not None)
    metric_label = metric_name(reduced)
    metrics = entry.get("metrics")
    for key, metric in metrics.items() if isinstance(metrics, dict) else ():
        value = metric.get("value") if isinstance(metric, dict) else metric
        if not isinstance(value, bool | int | float):
            continue
        label = " ".join([str(name), str(key), *([f"({reducer})"] if reducer else [])])
        figure = SourceFigure(name=label, value=float(value), scorer=key_of(str(scorer)))
        if carried and key in ("accuracy", "mean"):
            yield replace(figure, metric=metric_label), None
        elif carried and key == "std":
            yield replace(figure, metric=f"{metric_label}_std"), (key_of(str(scorer)), str(field))
        else:
            yield figure, None


def _reason(head: Mapping[str, Any]) -> str:
    error = head.get("error")
    return f" ({error['message']})" if isinstance(error, dict) and error.get("message") else ""


def _field(name: str, rows: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the field of a scorer's single value: right or wrong, a number, or a label; None for several values."""
    values = [_value(row["scores"][name]) for row in rows if name in row["scores"]]
    present = [value for value in values if value is not None]
    if any(isinstance(value, dict | list) for value in present):
        return None
    if any(_number(value) is None for value in present):
        return "label"
    grades = all(
        (value.lower() in WORDS or value in GRADES) if isinstance(value, str) else value in (0, 1) for value in present
    )
    return "is_correct" if grades else "value"


def _is_coarse(name: str, rows: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a scorer's different values map to one number, as I and N do; their mode is then ambiguous."""
    values = [_value(row["scores"][name]) for row in rows if name in row["scores"]]
    plain = {value for value in values if isinstance(value, bool | int | float | str)}
    return len({_number(value) for value in plain}) < len(plain)


def _number(value: Any) -> float | None:
    """Return the number that Inspect's metrics use for a value; None for text without one."""
    if isinstance(value, bool | int | float):
        return as_number(float(value))
    if value in GRADES:
        return GRADES[value]
    return WORDS.get(value.lower(), number_in(value)) if isinstance(value, str) else None


def _value(score: Any) -> Any:
    return score.get("value") if isinstance(score, dict) else score


def _sample(row: Mapping[str, Any], fields: Mapping[str, str | None]) -> ImportedSample:
    error = row.get("error")
    failure = None
    if error:
        failure = failed(str(error.get("message") if isinstance(error, dict) else error))
    return ImportedSample(
        sample_id=str(row.get("id")),
        trial=int(row.get("epoch") or 1) - 1,
        sample=input_columns(row),
        output=_output(row),
        trace=tuple(trace_items(row.get("messages"))),
        failure=failure,
        outcomes={key_of(name): _outcome(key_of(name), score, fields[name]) for name, score in row["scores"].items()},
    )


def _output(row: Mapping[str, Any]) -> str | None:
    output = row.get("output")
    if not isinstance(output, dict):
        return None
    choices = dicts(output.get("choices"))
    message = choices[0].get("message") if choices else None
    if isinstance(message, dict):
        return content_text(message.get("content"))
    completion = output.get("completion")
    return completion if isinstance(completion, str) else None


def _outcome(key: str, score: Any, field: str | None) -> Outcome:
    value = _value(score)
    fields = score if isinstance(score, dict) else {}
    metadata = {name: fields[name] for name in ("answer", "explanation", "metadata") if fields.get(name)}
    values = _values(value, field)
    if not values:
        return failed(f"the score {value!r} is neither a number nor a text", "parse")
    return Score(scorer=key, values=values, metadata=metadata)


def _values(value: Any, field: str | None) -> dict[str, ScoreValue]:
    if isinstance(value, dict):
        return {key_of(name): plain_value for name, item in value.items() if (plain_value := _plain(item)) is not None}
    if field in ("is_correct", "value"):
        number = _number(value)
        return {} if number is None else {field: number}
    plain_value = _plain(value)
    return {} if plain_value is None else {"value" if not isinstance(plain_value, str) else "label": plain_value}


def _plain(value: Any) -> ScoreValue | None:
    if isinstance(value, bool | int | float):
        return float(value)
    return value if isinstance(value, str) else None
