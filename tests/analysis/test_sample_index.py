"""The derived index says of every filter what a look at every sample says."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.analysis.index_build import build_index
from assay.analysis.index_file import index_path
from assay.analysis.sample_filter import SHOWS, SampleFilter, accepts, fields_of, value_text
from assay.analysis.sample_index import NotIndexed, SampleIndex
from assay.analysis.sample_query import Condition, parse_condition
from assay.api.stored import find, read_project_store
from assay.errors import SpecError
from assay.store.decoder import read_samples
from assay.summary.actions import marked

TASK = """
key: t
display_name: T
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.truth }}"}
    - {type: string_equals_mcqa, ground_truth_choice: "{{ sample.choice }}", choices: [A, B]}
"""


class Indexed(tuple):
    """A record, its samples and its index, without a text as long as all of these."""

    __slots__ = ()

    def __new__(cls, *parts):
        return super().__new__(cls, parts)

    def __repr__(self):
        return "indexed"


@pytest.fixture(scope="module")
def indexed(new_project, tmp_path_factory):
    """A run of many kinds of values: its record, its samples, its index."""
    project, chance = new_project(), random.Random(3)
    rows = []
    for n in range(700):
        row = {"n": n, "truth": "A", "choice": chance.choice("AB"), "output": chance.choice(["A", "B", "maybe", "A"])}
        row |= {"level": chance.choice([0.1, 0.5, 0.9, 2, "high", None, True]), "text": f"word{n % 70} für alle"}
        if chance.random() < 0.1:
            row["rare"] = chance.choice(["", "x y", "0.5", "<b>"])
        if n % 90 == 0:
            row["choice"] = None
        rows.append(row)
    project.write("data.jsonl", rows)
    project.write("task.yaml", TASK)
    outcome = project.assay("run", "task.yaml")
    assert outcome.code in (0, 3), outcome.err
    store = read_project_store(str(project.folder / ".assay" / "assay.db"))
    record = find(store, "latest")
    path = tmp_path_factory.mktemp("index") / "index.db"
    build_index(store, record, path)
    samples = list(marked(read_samples(store, record), record.spec.actions, record.spec.scorer_keys))
    yield Indexed(record, samples, SampleIndex(path))
    store.close()


def listed(indexed, which):
    """The positions that the index lists, and those that a look at every sample does."""
    record, samples, index = indexed
    by_scan = [sample.position for sample in samples if accepts(which, sample, record.spec)]
    return index.positions(index.matches(which).rows), by_scan


@pytest.mark.parametrize("show", SHOWS)
def test_properties(indexed, show):
    by_index, by_scan = listed(indexed, SampleFilter(show=show))
    assert by_index == by_scan
    assert len(by_index) == indexed[2].flags[show]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    field=st.sampled_from(["level", "n", "is_correct", "string_equals/is_correct", "output", "rare", "truth"]),
    operator=st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
    value=st.sampled_from(["0.1", "0.5", "1", "699", "-3", "A", "maybe", "high", "true", "x y"]),
)
def test_any_condition(indexed, field, operator, value):
    try:
        condition: Condition = parse_condition(f"{field} {operator} {value}")
    except SpecError:
        return
    which = SampleFilter(where=(condition,))
    try:
        by_index, by_scan = listed(indexed, which)
    except NotIndexed:
        return
    assert by_index == by_scan


def test_every_value_of_every_listed_field(indexed):
    _, samples, index = indexed
    for address, options in index.facets.items():
        if address == "failure/kind":
            continue
        for label, n in options:
            by_index, by_scan = listed(indexed, SampleFilter(facets=((address, label),)))
            assert by_index == by_scan
            assert len(by_index) == n
        values = [value_text(fields_of(sample).get(address)) for sample in samples]
        assert n <= len(values)


@pytest.mark.parametrize("text", ["word7", "fur alle", "WORD12", "zebra", "word1 zebra", '"; DROP', "word69 *"])
def test_words_are_found_whole_or_else_by_their_beginnings(indexed, text):
    by_index, _ = listed(indexed, SampleFilter(text=text))
    _, samples, _ = indexed
    words = {sample.position: f"word{sample.sample['n'] % 70}" for sample in samples}
    wanted = [word for word in text.lower().split() if word.startswith("word")]
    if "zebra" in text or "DROP" in text:
        assert by_index == []
    elif not wanted:
        assert len(by_index) == len(samples)
    else:
        assert by_index == [position for position, word in words.items() if word == wanted[0]]


def test_beginnings_of_words_are_found_where_no_word_is_whole(indexed):
    by_index, _ = listed(indexed, SampleFilter(text="wor"))
    assert len(by_index) > 500


def test_sorting_puts_missing_numbers_last_both_ways(indexed):
    _, samples, index = indexed
    numbers = {s.position: s.sample["level"] for s in samples}
    finite = {p: float(v) for p, v in numbers.items() if isinstance(v, int | float)}
    for sort, sign in (("sample/level", 1), ("-sample/level", -1)):
        order = index.positions(index.matches(SampleFilter(sort=sort)).rows)
        assert len(order) == len(samples)
        keys = [sign * finite[position] for position in order[: len(finite)]]
        assert keys == sorted(keys)


def test_a_field_without_a_column_is_not_answered(indexed):
    with pytest.raises(NotIndexed):
        indexed[2].matches(SampleFilter(where=(parse_condition("text = x"),)))


def test_ids_and_positions(indexed):
    _, samples, index = indexed
    ids = [sample.sample_id for sample in samples[:3]]
    assert index.find_ids([*ids, "none"]) == {sample.sample_id: [sample.position] for sample in samples[:3]}
    assert index.row_of(samples[-1].position) == len(samples) - 1
    assert index.row_of(10_000) is None


def test_another_store_or_a_continued_run_has_another_file(indexed, tmp_path):
    from dataclasses import replace

    record = indexed[0]
    paths = {
        index_path(str(tmp_path / "a.db"), record),
        index_path(str(tmp_path / "b.db"), record),
        index_path(str(tmp_path / "a.db"), replace(record, finished_at="later")),
        index_path("postgresql://h/db", record),
    }
    assert len(paths) == 4
