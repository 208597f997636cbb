"""Datasets of submissions: in Python, and in files."""

from __future__ import annotations

import json

import pytest

from assay.errors import SpecError
from assay.rubric import Criterion, CriterionVerdict, DataItem, Rubric, RubricDataset

BINARY = Rubric([Criterion(requirement="Polite.", name="polite")])


@pytest.fixture
def mixed(three_scales):
    return Rubric([Criterion(requirement="Polite.", name="polite"), *three_scales.criteria[:2]])


def test_ground_truth_is_read_in_any_case_and_kept_in_the_rubrics_words(mixed):
    dataset = RubricDataset(prompt="P", rubric=mixed, name="d")
    dataset.add_item("text", "good", ground_truth=[CriterionVerdict.MET, "4", "just RIGHT "])
    dataset.add_item("text", ground_truth={"ann": ["unmet", "1", "Just right"], "bob": ["MET", "2", "Just right"]})
    assert dataset[0].ground_truth == [CriterionVerdict.MET, "4", "Just right"]
    assert dataset[1].ground_truth is None
    assert dataset[1].annotators["ann"] == [CriterionVerdict.UNMET, "1", "Just right"]
    assert (len(dataset), dataset.num_criteria) == (2, 3)
    assert dataset.criterion_names == ["polite", "satisfaction", "efficiency"]
    assert [item.description for item in dataset] == ["good", ""]


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (["MET", "5", "Just right"], 'ground truth of "satisfaction": "5" is not one of the labels'),
        (["MET", "4"], "3 criteria, but the ground truth has 2 entries"),
        (["yes", "4", "Just right"], "expected MET, UNMET or CANNOT_ASSESS"),
        ("MET", "a list with one entry per criterion"),
    ],
)
def test_ground_truth_that_does_not_fit_is_an_error_at_once(mixed, truth, message):
    dataset = RubricDataset(rubric=mixed)
    with pytest.raises(SpecError, match=message):
        dataset.add_item("text", "d", ground_truth=truth)
    assert len(dataset) == 0


def test_an_item_may_have_its_own_rubric_prompt_and_reference():
    own = Rubric([Criterion(requirement="Short."), Criterion(requirement="Kind.")])
    item = DataItem("text", rubric=own, prompt="mine", reference_submission="ref", ground_truth=("MET", "UNMET"))
    dataset = RubricDataset("ours", BINARY, [item, DataItem("other")], reference_submission="our ref")
    assert dataset.get_item_rubric(0) is own
    assert (dataset.get_item_prompt(0), dataset.get_item_prompt(1)) == ("mine", "ours")
    assert dataset.get_item_reference_submission(0) == "ref"
    assert dataset.get_item_reference_submission(1) == "our ref"
    with pytest.raises(SpecError, match="neither the item nor the dataset has a rubric"):
        RubricDataset().add_item("text")
    for name in ("num_criteria", "criterion_names", "total_positive_weight"):
        with pytest.raises(SpecError, match="no rubric of its own"):
            getattr(RubricDataset(), name)


DATASET = {
    "name": "triage",
    "prompt": "P",
    "guidelines": "Be fair.",
    "rubric": [{"name": "polite", "requirement": "Polite."}],
    "items": [
        {"submission": "one", "description": "first", "ground_truth": ["MET"], "id": 3, "title": "t"},
        {"submission": "two", "prompt": "own", "rubric": {"criteria": [{"requirement": "Short."}]}},
    ],
}


@pytest.mark.parametrize("name", ["d.json", "d.yaml"])
def test_a_dataset_file_loads_unchanged(folder, name):
    (folder / name).write_text(json.dumps(DATASET, indent=1))
    dataset = RubricDataset.from_file(name)
    assert (dataset.name, dataset.prompt, dataset.rubric.guidelines) == ("triage", "P", "Be fair.")
    assert dataset[0] == DataItem("one", "first", (CriterionVerdict.MET,))
    assert dataset.get_item_rubric(1).names == ("criterion_1",)
    assert dataset.get_item_prompt(1) == "own"


def test_a_list_of_items_is_a_dataset_with_a_rubric_from_elsewhere(folder):
    (folder / "d.json").write_text('[{"submission": "one"}]')
    assert RubricDataset.from_file("d.json", rubric=BINARY)[0].submission == "one"


def test_tables_are_datasets(folder):
    rows = [{"submission": "one", "ground_truth": ["MET"]}, {"submission": "two\nlines", "prompt": "own"}]
    (folder / "d.jsonl").write_text("\n\n".join(json.dumps(row) for row in rows))
    (folder / "d.csv").write_text('submission,ground_truth,prompt\none,"[""MET""]",\n"two\nlines",,own\n')
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(
        {"submission": ["one", "two\nlines"], "ground_truth": [["MET"], None], "prompt": [None, "own"]}
    )
    parquet.write_table(table, folder / "d.parquet")
    for name in ("d.jsonl", "d.csv", "d.parquet"):
        dataset = RubricDataset.from_file(name, rubric=BINARY)
        assert list(dataset) == [DataItem("one", "", (CriterionVerdict.MET,)), DataItem("two\nlines", prompt="own")]


@pytest.mark.parametrize(
    ("name", "text", "where", "message"),
    [
        ("d.json", '{"items": [\n  {"submission": 3}]}', "d.json:2:3", "submission: expected text"),
        ("d.json", '{"items": [\n  {"submision": "a"}]}', "d.json:2:17", 'unknown field "submision"'),
        ("d.json", '{"items": [\n  {"submission": "a", "mood": 3}]}', "d.json:2:31", 'unknown field "mood"'),
        ("d.json", '{"items": [\n  3]}', "d.json:2:3", "expected an item"),
        ("d.json", '{"itms": []}', "d.json:1:1", 'a dataset has "items"'),
        ("d.json", "{", "d.json:1:", "not valid JSON"),
        ("d.json", '{"items": [{"submission": "a",\n "ground_truth": ["yes"]}]}', "d.json:2:18", "expected MET"),
        ("d.json", '{"rubric": [{"weight": 1}],\n"items": []}', "d.json:1:13", 'missing field "requirement"'),
        ("d.json", '{"items": [{"submission": "a",\n "prompt": 3}]}', "d.json:2:12", "prompt: expected text"),
        ("d.jsonl", '{"submission": "a"}\n{"submission": 3}\n', "d.jsonl:2:1", "expected text"),
        ("d.jsonl", '{"submission": "a"}\n{"submission"\n', "d.jsonl:2:", "not valid JSON"),
        ("d.jsonl", "[]\n", "d.jsonl:1:1", "expected an object"),
        ("d.csv", 'submission,ground_truth\na,"[""MET""]"\nb,MET\n', "d.csv:3:1", "expected JSON such as"),
        ("d.csv", "submission,prompt\na\n", "d.csv:2:1", "1 values, but the header names 2"),
        ("d.csv", "text\na\n", "d.csv:2:1", 'missing field "submission"'),
        ("d.csv", 'submission\n"a\n', "d.csv:", "not valid CSV"),
    ],
)
def test_what_is_wrong_in_a_file_has_its_line(folder, name, text, where, message):
    (folder / name).write_text(text)
    with pytest.raises(SpecError) as caught:
        RubricDataset.from_file(name, rubric=BINARY)
    found = [str(problem) for problem in caught.value.problems]
    assert any(each.startswith(where) and message in each for each in found), found


def test_other_files_are_refused(folder):
    (folder / "d.txt").write_text("")
    with pytest.raises(SpecError, match=r"a dataset is a \.json"):
        RubricDataset.from_file("d.txt")
    with pytest.raises(SpecError, match="there is no file"):
        RubricDataset.from_file("none.json")
    (folder / "d.csv").write_bytes(b"submission\n\xff\n")
    with pytest.raises(SpecError, match="not UTF-8"):
        RubricDataset.from_file("d.csv", rubric=BINARY)
    (folder / "no.json").write_text('{"items": [{"submission": "a"}]}')
    with pytest.raises(SpecError, match="neither the item nor the dataset has a rubric"):
        RubricDataset.from_file("no.json")


def test_reasons_stand_beside_the_truth_in_python_and_in_files(tmp_path):
    rubric = Rubric.from_dict([{"requirement": "Polite."}, {"requirement": "Short."}])
    row = {"submission": "Hello", "ground_truth": ["MET", "MET"], "reasons": ["It greets.", None]}
    made = RubricDataset(rubric=rubric)
    made.add_item("Hello", ground_truth=["MET", "MET"], reasons=["It greets.", None])
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    (tmp_path / "b.csv").write_text('submission,reasons\nHello,"[""It greets."", null]"\n')
    for file in ("a.jsonl", "b.csv"):
        assert RubricDataset.from_file(tmp_path / file, rubric=rubric)[0].reasons == made[0].reasons


@pytest.mark.parametrize("reasons", [["one"], ["one", 2], "one"])
def test_reasons_that_do_not_fit_the_rubric_are_errors(tmp_path, reasons):
    rubric = Rubric.from_dict([{"requirement": "Polite."}, {"requirement": "Short."}])
    with pytest.raises(SpecError, match="reasons"):
        RubricDataset(rubric=rubric).add_item("Hello", reasons=reasons)
    (tmp_path / "a.jsonl").write_text(json.dumps({"submission": "Hello", "reasons": reasons}))
    with pytest.raises(SpecError, match=r"a\.jsonl:1:1: reasons"):
        RubricDataset.from_file(tmp_path / "a.jsonl", rubric=rubric)
