"""Labels end to end: blind pages, what is kept, who may write, and what is done with it."""

import re
import shutil
import sqlite3
from contextlib import closing

import pytest

TARGET = "contains/is_correct"
START = f"/runs/v2/label?target={TARGET}&n=30"
SAME_SITE = {"Sec-Fetch-Site": "same-origin", "Origin": "null"}


@pytest.fixture
def own_support(support, tmp_path):
    """A copy of the project with two runs, to write labels to."""
    folder = tmp_path / "copy"
    shutil.copytree(support.folder, folder)
    return type(support)(folder)


def form_of(reply):
    """The hidden fields of a labelling page."""
    fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', reply.text))
    return {name: value.replace("&amp;", "&") for name, value in fields.items()}


def label_rows(project):
    with closing(sqlite3.connect(project.folder / ".assay" / "assay.db")) as connection:
        return connection.execute("SELECT sample_id, label, annotator, probability, comment FROM labels").fetchall()


def run_id(project, name="v2"):
    return next(run["run"] for run in project.assay("runs", "--json").lines if run["name"] == name)


def give(view, n, label=lambda sample: "right", start=START, **extra):
    """Give the next `n` labels as a browser does; the labels by the text of the answer."""
    answers = []
    for _ in range(n):
        page = view.ask(start)
        assert page.status == 200, page.text
        answer = re.findall(r'<div class="answer" dir="auto">(.*?)</div>', page.text, re.S)[-1]
        data = {**form_of(page), "label": label(answer), **extra}
        posted = view.ask("/runs/v2/label", method="POST", data=data, headers=SAME_SITE)
        assert posted.status == 303, posted.text
        answers.append(answer)
    return answers


def test_labels_correct_the_metric_in_the_terminal_and_on_the_page(viewer_of, own_support):
    view = viewer_of(own_support, annotator="maria")
    answers = give(view, 30, lambda answer: "wrong" if answer.startswith("yes") else "right", comment="seen")
    assert len(set(answers)) == 30
    assert "All answers of this queue are labelled" in view.ask(START).text
    rows = label_rows(own_support)
    assert len(rows) == 30
    assert {(row[2], row[3], row[4]) for row in rows} == {("maria", 0.5, "seen")}
    outcome = own_support.assay("calibrate", "v2", "--json")
    assert outcome.code == 0, outcome.err
    [calibration] = outcome.json["calibrations"]
    assert calibration["n_labelled"] == 30
    # the page does not wait for the correction, it loads again
    page = next(reply.text for reply in view.ask(*["/runs/v2"] * 20) if "corrected by" in reply.text)
    assert "corrected by 30 human labels" in page
    assert f"<b>{calibration['estimate']['value']:.3f}</b>" in page


def test_two_stores_that_differ_only_in_what_others_say_serve_the_same_pages(viewer_of, own_support, tmp_path):
    other = type(own_support)(tmp_path / "other")
    shutil.copytree(own_support.folder, other.folder, dirs_exist_ok=True)
    give(viewer_of(other, annotator="jo"), 5, lambda _: "wrong")
    with closing(sqlite3.connect(other.folder / ".assay" / "assay.db")) as connection, connection:
        connection.execute("""UPDATE scores SET "values" = '{"is_correct":0.0}', metadata = '{"x":1}'""")
        connection.execute("UPDATE metrics SET document = replace(document, '0.', '0.1')")
    views = [viewer_of(project, annotator="maria") for project in (own_support, other)]
    for path in ("/labels", START):
        first, second = (view.ask(path) for view in views)
        assert first.status == 200
        assert first.text == second.text
    for view in views:
        give(view, 3)
    first, second = (view.ask(START) for view in views)
    assert "3 of 30 labelled" in first.text
    assert first.text == second.text


def test_a_second_annotator_sees_nothing_of_the_first(viewer_of, own_support):
    give(viewer_of(own_support, annotator="maria"), 4, comment="a remark of maria")
    for path in ("/labels", START):
        text = viewer_of(own_support, annotator="jo").ask(path).text
        assert "maria" not in text
        assert "0 of 30" in text or path == "/labels"


def test_a_larger_draw_begins_with_the_smaller_one_and_raises_its_probability(viewer_of, own_support):
    view = viewer_of(own_support, annotator="maria")
    first = give(view, 30)
    larger = START.replace("n=30", "n=45")
    assert "30 of 45 labelled" in view.ask(larger).text
    second = give(view, 15, start=larger)
    assert not set(first) & set(second)
    assert {row[3] for row in label_rows(own_support)} == {0.75}
    give(viewer_of(own_support, annotator="jo"), 3, lambda _: "wrong")
    [calibration] = own_support.assay("calibrate", "v2", "--json").json["calibrations"]
    assert calibration["n_labelled"] == 45
    assert calibration["warnings"] == []


def test_labels_from_a_filter_do_not_correct_a_metric(viewer_of, own_support):
    view = viewer_of(own_support, annotator="maria")
    give(view, 3, start=f"/runs/v2/label?target={TARGET}&from=filter&show=wrong")
    assert {row[3] for row in label_rows(own_support)} == {None}
    outcome = own_support.assay("calibrate", "v2")
    assert outcome.code == 2
    assert "a filter chose the answers" in outcome.err


def test_labels_survive_a_rerun(viewer_of, own_support):
    give(viewer_of(own_support, annotator="maria"), 30)
    assert own_support.assay("run", "v2.yaml", "--name", "again", "--fresh").code == 0
    outcome = own_support.assay("calibrate", "again", "--json")
    assert outcome.json["calibrations"][0]["n_labelled"] == 30


def test_labels_drawn_for_another_run_correct_nothing_where_its_answers_differ(viewer_of, own_support, tmp_path):
    give(viewer_of(own_support, annotator="maria"), 30)
    refused = own_support.assay("calibrate", "v1")
    assert refused.code == 2
    assert re.search(r"\d+ of the 30 answers drawn from run \w{12} differ in this run", " ".join(refused.err.split()))
    people = tmp_path / "people.csv"
    assert own_support.assay("export", "v2", "--labels", "--to", str(people)).code == 0
    elsewhere = own_support.assay("import", str(people), "--run", "v1")
    assert elsewhere.code == 2
    assert "is about another answer than that of run" in elsewhere.err


def test_undo_takes_the_last_label_back_and_shows_its_answer(viewer_of, own_support):
    view = viewer_of(own_support, annotator="maria")
    _, second = give(view, 2)
    form = form_of(view.ask(START))
    undone = view.ask("/runs/v2/label", method="POST", data={**form, "do": "undo"}, headers=SAME_SITE)
    assert len(label_rows(own_support)) == 1
    assert second in view.ask(undone.headers["Location"]).text


def test_a_skipped_answer_is_done_and_has_no_label(viewer_of, own_support):
    view = viewer_of(own_support, annotator="maria")
    form = form_of(view.ask(START))
    view.ask("/runs/v2/label", method="POST", data={**form, "do": "skip", "label": ""}, headers=SAME_SITE)
    assert label_rows(own_support)[0][1] is None
    assert "1 of 30 labelled" in view.ask(START).text


@pytest.mark.parametrize(
    ("headers", "changes", "status"),
    [
        ({"Origin": "http://evil.example"}, {}, 403),
        ({"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, {}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "null"}, {}, 403),
        ({}, {}, 403),
        (SAME_SITE, {"csrf": ""}, 403),
        (SAME_SITE, {"csrf": "0" * 32}, 403),
        (SAME_SITE, {"position": "99999"}, 404),
        (SAME_SITE, {"position": ""}, 404),
        (SAME_SITE, {"target": "contains/other"}, 404),
        (SAME_SITE, {"label": "maybe"}, 422),
        (SAME_SITE, {"label": ""}, 422),
    ],
)
def test_a_write_that_no_form_of_ours_sent_is_rejected(viewer_of, own_support, headers, changes, status):
    view = viewer_of(own_support, annotator="maria")
    data = {**form_of(view.ask(START)), "label": "right", **changes}
    assert view.ask("/runs/v2/label", method="POST", data=data, headers=headers).status == status
    assert label_rows(own_support) == []


def test_a_label_for_a_sample_outside_of_the_queue_is_rejected(viewer_of, own_support):
    view = viewer_of(own_support, annotator="maria")
    data = {**form_of(view.ask(START)), "label": "right"}
    positions = set()
    for position in range(60):
        page = view.ask(f"{START}&at={position}")
        positions.add(form_of(page)["position"])
    outside = next(str(n) for n in range(60) if str(n) not in positions)
    data["position"] = outside
    assert view.ask("/runs/v2/label", method="POST", data=data, headers=SAME_SITE).status == 404
    assert label_rows(own_support) == []


def test_without_label_mode_nothing_can_be_written(viewer_of, own_support):
    data = {**form_of(viewer_of(own_support, annotator="maria").ask(START)), "label": "right"}
    view = viewer_of(own_support)
    assert view.ask("/runs/v2/label", method="POST", data=data, headers=SAME_SITE).status == 403
    assert view.ask(START).status == 404
    assert label_rows(own_support) == []


def test_labels_go_out_as_a_file_and_come_back(viewer_of, own_support, support):
    give(viewer_of(own_support, annotator="maria"), 30, comment="=1+1")
    outcome = own_support.assay("export", "v2", "--labels", "--to", "people.csv")
    assert outcome.out == "wrote 30 labels to people.csv\n"
    text = (own_support.folder / "people.csv").read_text()
    assert "'=1+1" in text
    with closing(sqlite3.connect(own_support.folder / ".assay" / "assay.db")) as connection, connection:
        connection.execute("DELETE FROM labels")
    assert own_support.assay("calibrate", "v2").code == 2
    outcome = own_support.assay("import", "people.csv", "--run", "v2")
    assert outcome.code == 0, outcome.err
    assert "imported 30 labels" in outcome.out
    assert own_support.assay("calibrate", "v2", "--json").json["calibrations"][0]["n_labelled"] == 30


def test_a_table_of_labels_that_does_not_fit_is_refused_row_by_row(own_support):
    own_support.write(
        "people.csv",
        "sample_id,label,annotator,criterion\nT-1,maybe,jo,\nT-999,right,jo,\nT-2,right,jo,is_corect\nT-3,right,jo,\n",
    )
    outcome = own_support.assay("import", "people.csv", "--run", "v2")
    assert outcome.code == 2
    for words in ('"maybe" is no label', 'no sample "T-999"', 'did you mean "is_correct"'):
        assert words in outcome.err
    assert label_rows(own_support) == []


def test_judges_are_compared_with_the_labels_in_the_store(viewer_of, panel, tmp_path):
    folder = tmp_path / "panel"
    shutil.copytree(panel.folder, folder)
    project = type(panel)(folder)
    view = viewer_of(project, annotator="maria")
    start = "/runs/panel/label?target=rubric/accuracy&n=30"
    for label in ("MET", "UNMET", "MET", "MET"):
        page = view.ask(start)
        assert "strict" not in page.text
        data = {**form_of(page), "label": label}
        assert view.ask("/runs/panel/label", method="POST", data=data, headers=SAME_SITE).status == 303
    outcome = project.assay("agreement", "panel")
    assert outcome.code == 0, outcome.err
    assert "4 labels of maria" in outcome.out
