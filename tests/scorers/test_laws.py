"""What every scorer of replies must obey, whatever it measures; those that ask a judge have tests of their own."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.sandbox.linux import unsupported
from assay.sandbox.pool import Sandbox
from assay.scorers.kinds import KINDS
from assay.types import Rows, Trace

# for each scorer: settings whose templates read the column gt
EXAMPLES = {
    "string_equals": [
        {"ground_truth": "{{ sample.gt }}"},
        {"ground_truth": "{{ sample.gt }}!", "normalize": ["strip", "punctuation"]},
    ],
    "string_equals_mcqa": [
        {"ground_truth_choice": "{{ sample.gt[:1] }}", "choices": ["A", "B"], "answer_extraction": extraction}
        for extraction in ("first_character", "letter", "consensus")
    ],
    "contains": [{"substring": "{{ sample.gt }}"}, {"substring": "{{ sample.gt }}", "case_sensitive": False}],
    "regex": [{"pattern": "[a-z]+", "value": "{{ sample.gt }}{{ solver_output.output }}"}],
    "numeric_equals": [{"ground_truth": "{{ sample.gt }}"}, {"ground_truth": "{{ sample.gt }}", "pattern": "is (.*)"}],
    "json_schema": [{"schema": {"type": "object"}, "value": "{{ sample.gt }}"}],
    "bleu": [{"ground_truth": "{{ sample.gt }}"}],
    "column": [{"column": "gt"}],
    "function_call_coverage": [
        {"function_calls": ["{{ sample.gt }}"], "mode": mode} for mode in ("any_order", "in_order")
    ],
    "disallowed_function_calls": [{"function_calls": ["{{ sample.gt }}"]}],
    "function_call_output_contains": [{"function_name": "A", "pattern": "[{{ sample.gt }}]"}],
    "function_call_output_not_contains": [{"function_name": "A", "pattern": "{{ sample.gt }}"}],
    "python": [
        {
            "compute_scores_snippet": f"{head} return {{'n': len(sample['gt']), 'same': sample['gt'] == 'A'}}",
            "metrics": [],
        }
        for head in ("def compute_scores(sample):", "async def compute_scores(sample, solver_output):")
    ],
    "python_all_samples": [
        {
            "compute_scores_snippet": (
                "def compute_scores(samples): return [{'n': len(s['gt'])} if 'gt' in s else None for s in samples]"
            ),
            "metrics": [],
        }
    ],
}
CASES = [
    pytest.param(kind, kind.settings.model_validate({"type": kind.name, **example}), id=f"{kind.name}-{number}")
    for kind in KINDS
    if not kind.asks_model and not (kind.runs_code and unsupported())
    for number, example in enumerate(EXAMPLES[kind.name])
]


@pytest.fixture(scope="module", autouse=True)
def sandbox():
    """The sandbox of all examples that are code; it starts nothing until it is used."""
    with Sandbox() as opened:
        _OPENED.append(opened)
        yield opened


_OPENED: list[Sandbox] = []


def _function(kind):
    return kind.with_sandbox(_OPENED[-1]).score


def _rows(pairs):
    call = {"type": "function_call", "name": "A", "arguments": "{}"}
    return Rows(
        positions=range(len(pairs)),
        ids=[str(i) for i in range(len(pairs))],
        samples=[{"gt": truth} for truth, _ in pairs],
        answers=[reply for _, reply in pairs],
        traces=[Trace((call,) * (len(reply) % 3)) for _, reply in pairs],
    )


def _outcomes(kind, spec, rows):
    """What each row got, as one value a row."""
    scored = _function(kind)(spec, rows)
    if not kind.runs_code:
        assert tuple(scored.values) == kind.values
        assert set(scored.metadata) <= set(kind.metadata)
    for column in (*scored.values.values(), *scored.metadata.values()):
        assert len(column) == len(rows)
        assert all(column[place] is None for place in scored.failures)
    outcomes = []
    for place in range(len(rows)):
        if place in scored.failures:
            failure = scored.failures[place]
            assert failure.stage == "score"
            outcomes.append((failure.kind, failure.detail))
            continue
        values = {name: column[place] for name, column in scored.values.items()}
        assert None not in values.values()
        for name, (low, high) in kind.ranges.items():
            assert low <= values[name] <= high
        outcomes.append((values, {name: column[place] for name, column in scored.metadata.items()}))
    return outcomes


_TEXT = st.sampled_from(["A", "B", "", "The answer is B.", "it is 3", "3.0", '{"a": 1}', "f", "\ud800"]) | st.text(
    max_size=8
)
_PAIRS = st.lists(st.tuples(_TEXT, _TEXT), max_size=6)


@pytest.mark.parametrize(("kind", "spec"), CASES)
@given(pairs=_PAIRS, seed=st.randoms())
@settings(max_examples=25, deadline=None)
def test_the_order_of_rows_does_not_matter(kind, spec, pairs, seed):
    order = list(range(len(pairs)))
    seed.shuffle(order)
    outcomes = _outcomes(kind, spec, _rows(pairs))
    assert _outcomes(kind, spec, _rows([pairs[i] for i in order])) == [outcomes[i] for i in order]


@pytest.mark.parametrize(("kind", "spec"), CASES)
@given(pairs=_PAIRS, where=st.integers(0, 6))
@settings(max_examples=15, deadline=None)
def test_a_failing_row_never_changes_another_rows_score(kind, spec, pairs, where):
    where = min(where, len(pairs))
    alone = _outcomes(kind, spec, _rows(pairs))
    rows = _rows([*pairs[:where], ("", ""), *pairs[where:]])
    samples = list(rows.samples)
    samples[where] = {}
    together = _outcomes(kind, spec, replace(rows, samples=samples))
    assert together[where][0] == ("code" if kind.runs_code else "missing_field")
    assert together[:where] + together[where + 1 :] == alone


@pytest.mark.parametrize(("kind", "spec"), CASES)
def test_an_empty_batch_gives_empty_columns(kind, spec):
    scored = _function(kind)(spec, _rows([]))
    assert scored.failures == {}
    assert all(column == [] for column in (*scored.values.values(), *scored.metadata.values()))


@pytest.mark.parametrize(("kind", "spec"), CASES)
def test_settings_can_be_written_down_and_scores_stored(kind, spec):
    orjson.dumps(spec.model_dump(mode="json"))
    scored = _function(kind)(spec, _rows([("A", "A"), ("3", "is 3"), ("{}", "x")]))
    orjson.dumps([scored.values, scored.metadata])
    assert all(metric["field"] in kind.values for metric in spec.default_metrics())


@pytest.mark.skipif("ASSAY_REAL_DATA" not in os.environ, reason="needs ASSAY_REAL_DATA")
@pytest.mark.parametrize(("kind", "spec"), CASES)
def test_hostile_strings_pass_through_without_an_exception(kind, spec):
    folder = Path(os.environ["ASSAY_REAL_DATA"]) / "hostile"
    texts = [
        orjson.dumps(each).decode() if isinstance(each, list) else each
        for path in sorted(folder.glob("*.jsonl.gz"))
        for line in gzip.decompress(path.read_bytes()).splitlines()
        for each in orjson.loads(line).values()
    ]
    assert len(texts) > 1_500
    assert len(_outcomes(kind, spec, _rows([(text, text) for text in texts]))) == len(texts)
