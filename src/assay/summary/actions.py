"""Actions: samples whose scores match a rule stay in the evidence and leave the metrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.datasets.filters import Filter
from assay.errors import Problem, SpecError
from assay.spec import LoadedTask
from assay.spec.document import Document, Steps
from assay.spec.locate import Checker
from assay.spec.messages import described
from assay.spec.nearest import listing, nearest
from assay.spec.task import Action
from assay.store.decoder import Sample, decoded
from assay.store.store import Store
from assay.templates import TemplateFailure, check_syntax, render_value
from assay.templates.variables import SampleRow
from assay.types import OTHER_NAMES

Row = Mapping[str, Any]
Matches = Callable[[Row], bool]
_STEP = r"""(?:\.(?P<{0}>[^\s.\[\]'"{{}}]+)|\[\s*(?:'(?P<{0}_q>[^']+)'|"(?P<{0}_d>[^"]+)")\s*\])"""
_SCORE = re.compile(r"scores\s*" + _STEP.format("scorer") + _STEP.format("field"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """The rows that leave the metrics, and how many samples each rule took out."""

    positions: frozenset[int] = frozenset()
    by_rule: Mapping[str, int] = field(default_factory=dict)


def action_problems(loaded: LoadedTask) -> Iterator[Problem]:
    """Return all problems in a task's actions: their filters, and the scores that these read."""
    fields = {
        scorer.key: None if scorer.kind.values is None else (*scorer.kind.values, *scorer.kind.metadata)
        for scorer in loaded.scorers
    }
    checker = Checker(loaded.document)
    scores = _Scores(fields, {scorer.key: scorer.kind.name for scorer in loaded.scorers}, checked=not loaded.problems)
    for i, action in enumerate(loaded.task.definition.actions):
        _matcher(action, ("definition", "actions", i, "filter"), scores, checker)
    yield from checker.problems


def excluded(actions: Sequence[Action], keys: Sequence[str], store: Store, rows_of: int) -> Exclusion:
    """Return the samples that a run's actions exclude from the metrics; `keys` are its scorer keys in order."""
    if not actions:
        return Exclusion()
    positions: set[int] = set()
    samples: dict[str, set[str]] = {action.key: set() for action in actions}
    for sample in marked(decoded(store, rows_of, keys), actions, keys):
        for key in sample.excluded_by:
            positions.add(sample.position)
            samples[key].add(sample.sample_id)
    return Exclusion(positions=frozenset(positions), by_rule={key: len(ids) for key, ids in samples.items()})


def marked(samples: Iterable[Sample], actions: Sequence[Action], keys: Sequence[str]) -> Iterator[Sample]:
    """The samples with the keys of the actions that take them out of the metrics; `keys` are those of the scorers."""
    if not actions:
        yield from samples
        return
    checker = Checker(Document(path=Path(), root=Path(), data={}, positions={}, sources={}))
    # which fields the scorers have was checked before the run
    scores = _Scores(dict.fromkeys(keys), {}, checked=True)
    rules = {action.key: _matcher(action, (), scores, checker) for action in actions}
    if checker.problems:
        raise SpecError(checker.problems)
    for sample in samples:
        row = _row(sample)
        by = tuple(key for key, matches in rules.items() if matches is not None and matches(row))
        yield replace(sample, excluded_by=by) if by else sample


@dataclass(frozen=True, slots=True)
class _Scores:
    """The scores that a filter may read: fields by scorer (None when unknown), and what the scorers are called.

    Before all scorers of a file are right (`checked`), one that is missing may be one that is wrong.
    """

    fields: Mapping[str, tuple[str, ...] | None]
    names: Mapping[str, str]
    checked: bool


def _row(sample: Sample) -> Row:
    """Build a filter's view of a sample: its scores by scorer and field, values before metadata."""
    scores = {}
    for key, score in sample.scores.items():
        fields = {**score.metadata, **score.values}
        others = {other: fields[ours] for other, ours in OTHER_NAMES.items() if ours in fields}
        scores[key] = {**others, **fields}
    return {"sample": SampleRow(sample.sample, sample.sample_id), "scores": scores}


def _matcher(action: Action, steps: Steps, scores: _Scores, checker: Checker) -> Matches | None:
    """The condition of an action; None and its problems noted when it is wrong."""
    node = action.filter
    if isinstance(node, str):
        return _template(node, steps, checker)
    entries = node if isinstance(node, list) else [node]
    rules = [
        _rule(entry, (*steps, i) if isinstance(node, list) else steps, scores, checker)
        for i, entry in enumerate(entries)
    ]
    valid_rules = [rule for rule in rules if rule is not None]
    if len(valid_rules) < len(rules) or not valid_rules:
        return None
    return lambda row: all(rule(row) for rule in valid_rules)


def _template(condition: str, steps: Steps, checker: Checker) -> Matches | None:
    """A condition in words of Jinja, with or without its braces."""
    text = condition if "{{" in condition else f"{{{{ {condition} }}}}"
    wrong = check_syntax(text)
    if wrong is not None:
        checker.report(f"filter: {wrong}", steps)
        return None

    def matches(row: Row) -> bool:
        try:
            value = render_value(text, row)
        except TemplateFailure as error:
            if error.missing:
                return False
            raise
        if not isinstance(value, bool):
            raise SpecError(checker.document.problem(f"the filter gives {described(value)}, not true or false", steps))
        return value

    return matches


def _rule(node: Any, steps: Steps, scores: _Scores, checker: Checker) -> Matches | None:
    if not isinstance(node, dict):
        checker.report(f"expected a filter, such as {{op, expression, value}}, got {described(node)}", steps)
        return None
    expression = node.get("expression")
    read = _score_read(expression) if isinstance(expression, str) else None
    if read is not None:
        read = (read[0], _our_name(*read, scores))
        node = {**node, "expression": "field"}
    rule = checker.validated(Filter, node, steps, "the filter")
    if rule is None:
        return None
    if read is None:
        # every score that a longer expression names must be there as well
        names = [_parts(match) for match in _SCORE.finditer(str(rule.expression))]
        if not all(
            _check_field((key, _our_name(key, name, scores)), (*steps, "expression"), scores, checker)
            for key, name in names
        ):
            return None
        return lambda row: rule.holds(row["sample"], row["scores"])
    if not _check_field(read, (*steps, "expression"), scores, checker):
        return None
    scorer, name = read
    return lambda row: rule.holds({"field": row["scores"].get(scorer, {}).get(name)})


def _score_read(expression: str) -> tuple[str, str] | None:
    """The scorer and the field that `scores.<scorer>.<field>` names, bare or in braces.

    >>> _score_read("{{ scores.quality['label'] }}")
    ('quality', 'label')
    """
    inner = expression.strip()
    if inner.startswith("{{") and inner.endswith("}}"):
        inner = inner[2:-2].strip()
    match = _SCORE.fullmatch(inner)
    if match is None:
        return None
    return _parts(match)


def _parts(match: re.Match[str]) -> tuple[str, str]:
    """The scorer and the field of a match."""
    scorer, name = (match[part] or match[f"{part}_q"] or match[f"{part}_d"] for part in ("scorer", "field"))
    return scorer, name


def _our_name(scorer: str, name: str, scores: _Scores) -> str:
    """Our name of a field that AI GO! calls otherwise; where the fields are unknown, both names work in the row."""
    fields = scores.fields.get(scorer)
    return OTHER_NAMES[name] if fields is not None and name not in fields and OTHER_NAMES.get(name) in fields else name


def _check_field(read: tuple[str, str], steps: Steps, scores: _Scores, checker: Checker) -> bool:
    """Check that the task has such a scorer and the scorer such a field, as far as that is known."""
    scorer, name = read
    if scorer not in scores.fields:
        if scores.checked:
            message = f'there is no scorer "{scorer}"; known: {listing(scores.fields)}'
            checker.report(message, steps, nearest(scorer, scores.fields))
        return False
    fields = scores.fields[scorer]
    if fields is not None and name not in fields:
        message = f'{scores.names[scorer]} produces no field "{name}"; it produces {listing(fields)}'
        checker.report(message, steps, nearest(name, fields))
        return False
    return True
