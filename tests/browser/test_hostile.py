"""800 hostile strings in every place that people or models can fill: text stays text, and pages keep their shape."""

import gzip
import json

import pytest

TASK = """
key: hostile
display_name: "<img src=x onerror=alert(1)>"
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: contains
      display_name: "<script>alert(2)</script>"
      substring: "a"
      metrics: [{type: mean, field: is_correct, name: "<b onclick=alert(3)>", group_by: "{{ sample.group }}"}]
"""
SHAPES = [
    "שלום עולם, hello \u202eevil\u202c",
    "a" * 3_000,
    "<b>" * 300,
    "\x07\x1b[31mred\x1b[0m \u200b",
    "w" * 90 + "\n" * 50,
    "＜script＞alert(1)＜/script＞",
]


@pytest.fixture(scope="module")
def strings(real_data):
    texts = []
    for name in ("naughty_strings__samples", "naughty_strings__security"):
        with gzip.open(real_data / "hostile" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                texts.append(row.get("completion") or row["input"][-1]["content"])
    assert len(texts) == 800
    return texts + SHAPES


@pytest.fixture(scope="module")
def hostile_project(new_project, strings):
    project = new_project()
    rows = []
    for i, text in enumerate(strings):
        column = strings[i * 7 % len(strings)][:60]
        row = {"sample_id": f"{i} {text[:80]}", "question": text, "group": text[:50], "output": text}
        rows.append({f"{column} ": text, **row})
    project.write("data.jsonl", rows)
    project.write("task.yaml", TASK)
    for tag in ("<script>alert(4)</script>", "x" * 90):
        outcome = project.assay("run", "task.yaml", "--name", "<svg onload=alert(5)>", "--tag", tag)
        assert outcome.code in (0, 3), outcome.err
    project.write("other.yaml", TASK.replace('substring: "a"', 'substring: "b"'))
    assert project.assay("run", "other.yaml", "--name", "second").code in (0, 3)
    return project


@pytest.fixture(scope="module")
def hostile(serve, hostile_project):
    return serve(hostile_project, annotator="<img src=x onerror=alert(6)>")


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_strings_do_nothing_on_any_page(hostile, open_page, strings, width):
    watched = open_page(hostile.base, width=width)
    page = watched.open("/")
    runs = [link.get_attribute("href") for link in page.locator("td.name [data-open]").all()]
    compare = page.locator("a:has-text('against')").first.get_attribute("href")
    paths = [
        "/",
        "/labels",
        "/?q=%3Cscript%3Ealert(1)%3C/script%3E",
        *runs,
        compare,
        compare.replace("compare", "grid"),
    ]
    paths += [f"{runs[0]}/samples", f"{runs[0]}/samples?q=%22%3E%3Cscript%3E", f"{runs[0]}/samples?where=%3Cb%3E+%3D+1"]
    paths += [f"{runs[0]}/samples?after={after}" for after in range(49, len(strings), 50)]
    paths += [f"{runs[0]}/samples/{place}" for place in [*range(0, 800, 80), *range(800, len(strings))]]
    paths += [f"{runs[0]}/label?target=contains/is_correct&n=30"]
    wide = []
    for path in paths:
        watched.open(path)
        wide += [(path, element) for element in watched.wide()]
    assert watched.trouble == []
    assert wide == []


def test_a_report_of_hostile_strings_does_nothing(hostile_project, open_page, tmp_path):
    path = tmp_path / "report.html"
    assert hostile_project.assay("report", "second", "-o", str(path)).code == 0
    watched = open_page(path.as_uri(), width=390)
    watched.open("")
    assert watched.trouble == []
    assert watched.wide() == []
