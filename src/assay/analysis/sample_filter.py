"""The filter of a page of samples, applied to stored rows or to an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import orjson

from assay.analysis.sample_query import Condition, quality
from assay.interop.numbers import as_number
from assay.results.rules import find_addresses
from assay.store.decoder import Sample
from assay.store.run_spec import RunSpec

Show = Literal["failed", "wrong", "invalid", "cut", "excluded", "divided", "answered"]
SHOWS: tuple[Show, ...] = get_args(Show)
FLAGS: Mapping[str, int] = {name: 1 << place for place, name in enumerate(SHOWS)}
"""One bit per property of a sample."""
COLUMN = "sample"
DIVIDED = "panel/disagreement"
"""The address of the share of votes against the majority, over all criteria of a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFilter:
    """The conditions of a page; a sample must satisfy all of them.

    `show` names a property, `kind` a kind of failure, `text` is searched in inputs and answers, `where` holds
    conditions on fields, `facets` values of fields with few values, as (address, value as text). `sort` is the address
    of a field, with a minus in front for the greatest first.
    """

    show: Show | None = None
    kind: str | None = None
    text: str = ""
    where: tuple[Condition, ...] = ()
    facets: tuple[tuple[str, str], ...] = ()
    sort: str | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether every sample is listed."""
        return self.show is None and not (self.kind or self.text.strip() or self.where or self.facets)


def flags_of(sample: Sample, spec: RunSpec) -> int:
    """The properties of a sample as bits of `FLAGS`."""
    flags = FLAGS["answered"] if sample.output is not None else 0
    if sample.failures:
        flags |= FLAGS["failed"]
    if sample.excluded_by:
        flags |= FLAGS["excluded"]
    if any(call.get("cut") for call in sample.calls):
        flags |= FLAGS["cut"]
    for key, score in sample.scores.items():
        flags |= score_flags(spec, key, score.values, score.metadata)
    return flags


def score_flags(spec: RunSpec, key: str, values: Mapping[str, Any], metadata: Mapping[str, Any]) -> int:
    """Return the properties that one score gives its sample."""
    flags = FLAGS["wrong"] if quality(spec, key, values) == "bad" else 0
    if metadata.get("completion_validity") == "INVALID":
        flags |= FLAGS["invalid"]
    if (disagreement(metadata) or 0.0) > 0:
        flags |= FLAGS["divided"]
    return flags


def disagreement(metadata: Mapping[str, Any]) -> float | None:
    """The share of votes that differ from the most frequent one on their criterion; None without several judges."""
    votes = metadata.get("votes")
    if not isinstance(votes, Mapping):
        return None
    n = against = 0
    for cast in votes.values():
        counts: dict[str, int] = {}
        for vote in cast:
            if vote.get("error") is None:
                label = str(vote.get("verdict", vote.get("selected_label")))
                counts[label] = counts.get(label, 0) + 1
        n += sum(counts.values())
        against += sum(counts.values()) - max(counts.values(), default=0)
    return against / n if n else None


def value_text(value: Any) -> str | None:
    """A value of a field as the text by which a filter names it; None for what no filter lists."""
    if value is None or isinstance(value, list | dict):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    number = as_number(value)
    return None if number is None else f"{number:g}"


def fields_of(sample: Sample) -> dict[str, Any]:
    """The values by which a sample can be filtered, by address: `scorer/field`, then `sample/column`."""
    fields: dict[str, Any] = {}
    for key, score in sample.scores.items():
        fields |= {f"{key}/{name}": value for name, value in score.metadata.items() if name != "votes"}
        fields |= {f"{key}/{name}": value for name, value in score.values.items()}
    fields |= {f"{COLUMN}/{name}": value for name, value in sample.sample.items()}
    shares = [s for s in (disagreement(score.metadata) for score in sample.scores.values()) if s is not None]
    if shares:
        fields[DIVIDED] = max(shares)
    return fields


def address_of(name: str, addresses: Iterable[str]) -> str | None:
    """The address that a name means; a field of a score goes before a column; None where it is not unique."""
    matches = find_addresses(addresses, name)
    scores = [address for address in matches if not address.startswith(f"{COLUMN}/")]
    candidates = scores or matches
    return candidates[0] if len(candidates) == 1 or name in candidates else None


def searched_text(sample_id: str, columns: Mapping[str, Any], output: str | None) -> str:
    """The text in which a search looks: the id, the values of all columns, and the answer."""
    texts = [sample_id]
    for value in columns.values():
        if isinstance(value, str):
            texts.append(value)
        elif value is not None and not isinstance(value, bool | int | float):
            texts.append(orjson.dumps(value, default=str).decode())
    if output is not None:
        texts.append(output)
    return "\n".join(dict.fromkeys(texts))


def accepts(which: SampleFilter, sample: Sample, spec: RunSpec) -> bool:
    """Return whether a page with this filter lists a sample."""
    if which.show is not None and not flags_of(sample, spec) & FLAGS[which.show]:
        return False
    if which.kind and all(failure.kind != which.kind for failure in sample.failures.values()):
        return False
    if which.where or which.facets:
        fields = fields_of(sample)
        for condition in which.where:
            address = address_of(condition.field, fields)
            if address is None or not condition.accepts(fields[address]):
                return False
        if any(value_text(fields.get(address)) != value for address, value in which.facets):
            return False
    words = which.text.casefold().split()
    return not words or _has_words(searched_text(sample.sample_id, sample.sample, sample.output), words)


def _has_words(text: str, words: list[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)
