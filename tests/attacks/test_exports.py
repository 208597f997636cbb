"""Spreadsheets open exports: what a model wrote must not become a formula or a row there."""

import csv
import json

import pytest

FORMULAS = {
    "equals": "=1+1",
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(1)",
    "tab": "\t=1+1",
    "carriage return": "\r=1+1",
    "line feed": "\n=1+1",
    "several": "\n\r\t =1+1",
    "call": "=cmd|' /C calc'!A0",
    "link": '=HYPERLINK("http://example.org","x")',
    "full width": "\uff1d1+1",
    "quote": '"=1+1',
    "new row": 'x"\n"=1+1","y',
}
TASK = """
key: exported
display_name: Exported
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers: [{type: string_equals, ground_truth: "x"}]
"""


@pytest.fixture(scope="module")
def exported(new_project):
    project = new_project()
    project.write("task.yaml", TASK)
    project.write("data.jsonl", [{"output": text, "column": text, "=key": text} for text in FORMULAS.values()])
    assert project.assay("run", "task.yaml").code == 0
    assert project.assay("export", "latest", "--to", "out.csv").code == 0
    assert project.assay("export", "latest", "--to", "out.jsonl").code == 0
    return project


def test_no_cell_of_a_table_is_a_formula(exported):
    with (exported.folder / "out.csv").open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    assert len(lines) == len(FORMULAS)
    for cell in [*header, *(cell for line in lines for cell in line)]:
        try:
            float(cell)
        except ValueError:
            assert not cell.lstrip(" \t\r\n").startswith(("=", "+", "-", "@", "\uff1d")), repr(cell)


def test_lines_of_json_keep_every_character(exported):
    lines = [json.loads(line) for line in (exported.folder / "out.jsonl").read_text().splitlines()]
    assert [line["output"] for line in lines] == list(FORMULAS.values())
