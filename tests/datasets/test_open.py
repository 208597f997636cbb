from __future__ import annotations

import json

import pytest

from assay.datasets.folder import KIND as FOLDER
from assay.datasets.inline import KIND as INLINE
from assay.datasets.local import KIND as LOCAL
from assay.datasets.open import fingerprint, first_rows, open_dataset
from assay.errors import Place, SpecError
from assay.spec.fields import Located


@pytest.fixture
def numbers(write, tmp_path):
    """100 rows n = 0..99, of which the even ones are kept."""
    write("n.jsonl", "".join(f'{{"n":{i},"even":{str(i % 2 == 0).lower()}}}\n' for i in range(100)))
    even = [{"op": "is_true", "expression": "even"}]
    return LOCAL.settings(type="local", file_path="n.jsonl", filters=even), tmp_path


def _ids(batches):
    return [int(i) for b in batches for i in b.ids]


def test_filters_come_before_the_limit_and_ids_are_those_of_the_source(numbers):
    settings, folder = numbers
    assert _ids(open_dataset(LOCAL, settings, folder)) == list(range(0, 100, 2))
    assert _ids(open_dataset(LOCAL, settings, folder, limit=3)) == [0, 2, 4]


def test_a_random_part_is_drawn_from_what_the_filters_keep(numbers):
    settings, folder = numbers
    drawn = _ids(open_dataset(LOCAL, settings, folder, limit=5, subsampling="random", seed=1))
    assert len(drawn) == 5
    assert drawn == sorted(drawn)
    assert all(n % 2 == 0 for n in drawn)
    assert drawn == _ids(open_dataset(LOCAL, settings, folder, limit=5, subsampling="random", seed=1))
    assert drawn != _ids(open_dataset(LOCAL, settings, folder, limit=5, subsampling="random", seed=2))


def test_the_first_rows_are_plain_samples(numbers):
    settings, folder = numbers
    assert first_rows(LOCAL, settings, folder, 2) == [{"n": 0, "even": True}, {"n": 2, "even": True}]


def test_a_duplicate_id_is_an_error_even_when_a_filter_drops_it(write, tmp_path):
    write("d.csv", "sample_id,keep\na,True\nb,True\na,False\n")
    rules = [{"op": "is_true", "expression": "keep"}]
    settings = LOCAL.settings(type="local", file_path="d.csv", filters=rules)
    with pytest.raises(SpecError, match='"a" appears twice: in row 1 and in row 3'):
        list(open_dataset(LOCAL, settings, tmp_path))


def test_the_fingerprint_follows_the_content_and_not_the_place(write, tmp_path):
    write("one/a.jsonl", '{"a":1}\n')
    write("two/a.jsonl", '{"a":1}\n')
    write("three/a.jsonl", '{"a":2}\n')
    settings = LOCAL.settings(type="local", file_path="a.jsonl")
    one, two, three = (fingerprint(LOCAL, settings, tmp_path / name) for name in ("one", "two", "three"))
    assert one == two != three


def test_the_fingerprint_of_a_folder_follows_names_and_contents(write, tmp_path):
    settings = FOLDER.settings(type="folder", directory_path="docs")
    seen = set()
    for name, content in (("a.md", "x"), ("a.md", "y"), ("b.md", "y")):
        write(f"docs/{name}", content)
        seen.add(fingerprint(FOLDER, settings, tmp_path))
    assert len(seen) == 3


def test_the_fingerprint_of_inline_samples_follows_the_samples(tmp_path):
    one, two = (INLINE.settings(type="inline_samples", samples=[{"q": q}]) for q in ("x", "y"))
    assert fingerprint(INLINE, one, tmp_path) == fingerprint(INLINE, one, tmp_path)
    assert fingerprint(INLINE, one, tmp_path) != fingerprint(INLINE, two, tmp_path)


def test_a_file_that_cannot_be_opened_is_an_error_and_not_a_traceback(tmp_path, monkeypatch):
    settings = LOCAL.settings(type="local", file_path="a.jsonl")
    (tmp_path / "a.jsonl").write_text("{}")

    def refuse(self, *args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(tmp_path), "open", refuse)
    with pytest.raises(SpecError, match="cannot be read: Permission denied"):
        fingerprint(LOCAL, settings, tmp_path)


def test_paths_out_of_the_root_are_refused_everywhere(tmp_path):
    settings = LOCAL.settings(type="local", file_path="/etc/hostname")
    for use in (first_rows, fingerprint):
        with pytest.raises(SpecError, match="--allow-outside"):
            use(LOCAL, settings, tmp_path, root=tmp_path)


def test_an_id_that_comes_twice_names_the_file_and_the_place_that_names_it(write, tmp_path):
    write("twice.csv", "sample_id,q\n1,a\n1,b\n")
    settings = LOCAL.settings(type="local", file_path=Located("twice.csv", Place("task.yaml", 4, 2)))
    with pytest.raises(SpecError, match='twice.csv: the sample_id "1" appears twice: in row 1 and in row 2') as raised:
        first_rows(LOCAL, settings, tmp_path)
    assert raised.value.problems[0].place == Place("task.yaml", 4, 2)


ID_TASK = """
key: t
display_name: T
definition:
  dataset: {source: SOURCE}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.answer }}"}
"""
TICKETS = [{"ticket": f"T-{n}", "answer": "x", "output": "x"} for n in range(3)]
ID_SOURCE = "{type: local, file_path: data.jsonl, id_column: ticket}"


def _run(project, source, rows=TICKETS, command="run"):
    project.write("data.jsonl", rows)
    project.write("task.yaml", ID_TASK.replace("SOURCE", source))
    return project.assay(command, "task.yaml")


@pytest.mark.parametrize(
    "source",
    [ID_SOURCE, f"{{type: inline_samples, id_column: ticket, samples: {json.dumps(TICKETS)}}}"],
    ids=["local", "inline"],
)
def test_the_ids_come_from_the_column(project, source):
    assert _run(project, source).code == 0
    samples = [json.loads(line) for line in project.assay("samples", "--json").out.splitlines()]
    assert [sample["sample_id"] for sample in samples] == ["T-0", "T-1", "T-2"]


def test_numbers_are_ids_too_and_the_column_wins_over_sample_id(project):
    rows = [{**row, "sample_id": "same" + str(n), "ticket": n + 7} for n, row in enumerate(TICKETS)]
    assert _run(project, ID_SOURCE, rows).code == 0
    samples = [json.loads(line) for line in project.assay("samples", "--json").out.splitlines()]
    assert [sample["sample_id"] for sample in samples] == ["7", "8", "9"]


@pytest.mark.parametrize(
    ("rows", "source", "told"),
    [
        ([*TICKETS, TICKETS[0]], ID_SOURCE, 'the sample_id "T-0" appears twice: in row 1 and in row 4'),
        ([*TICKETS, {**TICKETS[0], "ticket": None}], ID_SOURCE, "row 4 has the ticket None; expected text or a number"),
        (TICKETS, ID_SOURCE.replace("ticket", "tickt"), 'row 1 has no column "tickt"; it has ticket, answer, output'),
    ],
)
def test_ids_that_cannot_be_are_an_error(project, rows, source, told):
    for command in ("check", "run"):
        outcome = _run(project, source, rows, command)
        assert outcome.code == 2
        assert told in " ".join((outcome.out + outcome.err).split())


def test_the_nearest_column_is_offered(project):
    outcome = _run(project, ID_SOURCE.replace("ticket", "tickt"), command="check")
    assert 'did you mean "ticket"?' in " ".join((outcome.out + outcome.err).split())
