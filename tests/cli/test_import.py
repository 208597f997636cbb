"""`assay import`: results of other tools become runs that can be compared, judged, calibrated and exported."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib

import pytest


def inspect_sample(number, *, right, epoch=1, **more):
    answer = "4" if right else "5"
    return {
        "id": f"q{number}",
        "epoch": epoch,
        "input": f"What is 2 + 2 ({number})?",
        "target": "4",
        "metadata": {"topic": "sums"},
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": [{"type": "text", "text": answer}]},
        ],
        "output": {
            "model": "m",
            "choices": [{"message": {"role": "assistant", "content": answer}, "stop_reason": "stop"}],
        },
        "scores": {"match": {"value": "C" if right else "I", "answer": answer, "explanation": "because"}},
        **more,
    }


def inspect_log(samples, **more):
    head = {"version": 2, "status": "success", "eval": {"task": "sums", "model": "openai/gpt-x", "run_id": "r"}}
    return {**head, **more, "samples": samples}


def write_archive(path, log, *, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("header.json", json.dumps({k: v for k, v in log.items() if k != "samples"}))
        archive.writestr("summaries.json", "[]")
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))


def write_zstd_archive(path, log):
    """A zip whose members are compressed with zstd (method 93), which Python's own module cannot write."""
    import pyarrow

    members = {"header.json": {k: v for k, v in log.items() if k != "samples"}}
    members |= {f"samples/{s['id']}_epoch_1.json": s for s in log["samples"]}
    body, directory = b"", b""
    for name, content in members.items():
        plain, encoded = json.dumps(content).encode(), name.encode()
        packed = pyarrow.Codec("zstd").compress(plain, asbytes=True)
        facts = struct.pack("<HHHHHLLLHH", 20, 0, 93, 0, 0, zlib.crc32(plain), len(packed), len(plain), len(encoded), 0)
        directory += (
            b"PK\x01\x02" + struct.pack("<H", 20) + facts + struct.pack("<HHHLL", 0, 0, 0, 0, len(body)) + encoded
        )
        body += b"PK\x03\x04" + facts + encoded + packed
    end = struct.pack("<HHHHLLH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)


def values(said, scorer=0):
    assert said.code == 0, said.err
    return {n: v for m in said.json["scorers"][scorer]["metrics"] for n, v in m["values"].items()}


@pytest.mark.parametrize("kind", ["json", "deflate", "stored", "zstd"])
def test_an_inspect_log_becomes_a_run_whatever_its_packing(project, cli, kind):
    log = inspect_log([inspect_sample(i, right=i % 4) for i in range(12)])
    path = project.folder / ("log.json" if kind == "json" else "log.eval")
    if kind == "json":
        path.write_text(json.dumps(log))
    elif kind == "zstd":
        write_zstd_archive(path, log)
    else:
        write_archive(path, log, compression=zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED)
    said = cli("import", path.name, "--json")
    assert values(said)["accuracy"]["value"] == 0.75
    assert values(said)["accuracy"]["method"] == "wilson"
    assert (said.json["task"], said.json["model"], said.json["status"]) == ("sums", "openai/gpt-x", "completed")
    (entry, *_) = cli("samples", "--id", "q1", "--json").lines
    assert entry["output"] == "4"
    assert entry["sample"] == {"input": "What is 2 + 2 (1)?", "target": "4", "topic": "sums"}
    assert entry["scores"]["match"]["metadata"]["explanation"] == "because"
    assert entry["trace"][1] == {"type": "message", "role": "assistant", "content": "4"}


def test_errors_in_a_log_stay_failures_and_never_scores(project, cli):
    broken = inspect_sample(1, right=False, error={"message": "APITimeoutError: timed out", "traceback": "..."})
    unscored = {**inspect_sample(2, right=True), "scores": None}
    odd = inspect_sample(3, right=True)
    odd["scores"]["match"]["value"] = None
    project.write("log.json", json.dumps(inspect_log([inspect_sample(0, right=True), broken, unscored, odd])))
    said = cli("import", "log.json", "--json")
    assert said.json["failures"] == {"timeout": 1, "missing_field": 1, "parse": 1}
    assert (values(said)["accuracy"]["value"], values(said)["accuracy"]["n"]) == (1.0, 1)
    failed = cli("samples", "--failed", "--json").lines
    assert {entry["sample_id"] for entry in failed} == {"q1", "q2", "q3"}
    assert all(not entry["scores"] for entry in failed)


def test_epochs_are_trials_and_other_scores_are_numbers_or_labels(project, cli):
    rows = [inspect_sample(i, right=True, epoch=epoch) for i in range(6) for epoch in (1, 2)]
    for place, row in enumerate(rows):
        row["scores"] = {
            "grader": {"value": {"tone": place % 3 / 2, "facts": 1}},
            "pkg/label": {"value": "good" if place % 2 else "bad"},
            "match": {"value": "C" if place % 2 else "P"},
        }
    path = project.folder / "log.eval"
    write_archive(path, inspect_log(rows))
    said = cli("import", "log.eval", "--json")
    assert said.json["trials"] == 2
    assert said.json["n_samples"] == 6
    assert set(values(said)) == {"tone", "facts"}
    assert values(said)["facts"]["value"] == 1.0
    assert values(said, 2)["accuracy"]["value"] == pytest.approx(0.75)
    assert said.json["scorers"][1]["key"] == "pkg_label"


def test_a_log_that_was_cut_off_is_partial_and_says_so(project, cli):
    log = inspect_log([inspect_sample(0, right=True)], status="error", error={"message": "out of money"})
    project.write("log.json", json.dumps(log))
    said = cli("import", "log.json", "--json")
    assert said.json["status"] == "partial"
    assert "the log says error (out of money)" in said.err
    assert "is partial: it may lack samples" in cli("compare", "latest", "latest").out
    assert "note: the run is partial" in cli("gate", "--require", "accuracy >= 0").out
    assert "(**partial**)" in cli("gate", "--require", "accuracy >= 0", "--markdown", "-").out
    with zipfile.ZipFile(project.folder / "cut.eval", "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": {"task": "sums", "model": None}}))
        archive.writestr("samples/q0_epoch_1.json", json.dumps(inspect_sample(0, right=True)))
    assert "the log says started" in cli("import", "cut.eval").err


def test_two_imported_runs_are_compared_gated_and_exported(project, cli):
    for name, right in (("a", lambda i: i % 2), ("b", lambda i: i % 2 or i < 20)):
        log = inspect_log([inspect_sample(i, right=right(i)) for i in range(60)])
        project.write(f"{name}.json", json.dumps(log))
    a, b = (cli("import", f"{name}.json", "--json").json["run"] for name in "ab")
    found = cli("compare", a, b, "--json")
    assert (found.json["comparisons"][0]["verdict"], found.json["comparisons"][0]["n"]) == ("better", 60)
    assert cli("gate", b, "--require", "accuracy >= 0.6", "--baseline", a).code == 0
    assert cli("export", b, "--to", "out.csv").code == 0
    project.write("people.csv", "sample_id,label\n" + "".join(f"q{i},{i % 2}\n" for i in range(30)))
    assert cli("calibrate", a, "--labels", "people.csv").code == 0
    again = cli("import", "a.json", "--json")
    assert again.json["run"] == a
    assert f"this file was already imported as run {a}" in again.err


def lm_eval_line(number, filter_, right, **more):
    return {
        "doc_id": number,
        "doc": {"question": f"Q{number}"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "prompt"}},
        "resps": [["The answer is 4."]],
        "filtered_resps": ["4"],
        "filter": filter_,
        "metrics": ["exact_match"],
        "doc_hash": "x",
        "exact_match": 1.0 if right else 0.0,
        **more,
    }


def test_samples_of_lm_evaluation_harness_become_a_run_with_a_scorer_a_filter(project, cli):
    rows = [
        lm_eval_line(i, f, i % 4 if f == "strict-match" else 1) for i in range(8) for f in ("strict-match", "flexible")
    ]
    folder = project.folder / "out"
    project.write("out/samples_gsm8k_2025-01-02T10-00-00.123456.jsonl", rows)
    project.write("out/results_2025-01-02T10-00-00.123456.json", json.dumps({"model_name": "org/model", "results": {}}))
    said = cli("import", str(folder / "samples_gsm8k_2025-01-02T10-00-00.123456.jsonl"), "--json")
    assert (said.json["task"], said.json["model"]) == ("gsm8k", "org/model")
    assert [scorer["key"] for scorer in said.json["scorers"]] == ["strict-match", "flexible"]
    assert values(said)["exact_match"]["value"] == 0.75
    entry = cli("samples", "--json").lines[0]
    assert entry["output"] == "The answer is 4."
    assert entry["sample"] == {"question": "Q0", "target": "4"}


def test_multiple_choice_samples_have_one_scorer_and_keep_what_is_no_text(project, cli):
    rows = [
        {"doc_id": i, "doc": "plain", "target": 1, "resps": [[["-1.5", "False"]], [["-0.5", "True"]]],
         "filtered_resps": [["-1.5", "False"], ["-0.5", "True"]], "acc": float(i % 2), "acc_norm": 1, "bleu": [1, 2]}
        for i in range(4)
    ]  # fmt: skip
    project.write("samples_arc.jsonl", rows)
    said = cli("import", "samples_arc.jsonl", "--model", "mine", "--task", "easy", "--json")
    assert (said.json["task"], said.json["model"], said.json["scorers"][0]["key"]) == ("easy", "mine", "lm_eval")
    assert {name: value["value"] for name, value in values(said).items()} == {"acc": 0.5, "acc_norm": 1.0}
    assert cli("samples", "--json").lines[0]["output"].startswith("[[[")


CRITERIA = [
    {"name": "polite", "requirement": "Is polite.", "weight": 1.0, "options": None},
    {"name": "style", "requirement": "How is it?", "weight": 1.0,
     "options": [{"label": "Poor", "value": 0.0, "na": False}, {"label": "Fine", "value": 1.0, "na": False}]},
]  # fmt: skip


def autorubric_item(number, *, met=("MET", "MET"), style=("Fine", "Fine"), error=None):
    votes = [{"judge_id": f"j{i}", "verdict": v, "reason": "r", "weight": 1.0} for i, v in enumerate(met)]
    worth = {"Poor": 0.0, "Fine": 1.0}
    chosen = [
        {"judge_id": f"j{i}", "selected_index": int(worth[s]), "selected_label": s, "value": worth[s], "na": False}
        for i, s in enumerate(style)
    ]
    if error:
        report = {"score": None, "raw_score": None, "error": error}
        return {"item_idx": number, "duration_seconds": 1.0, "error": error, "report": report}
    reports = [
        {"criterion": CRITERIA[0], "final_verdict": met[0], "final_reason": "r", "votes": votes},
        {"criterion": CRITERIA[1], "final_verdict": None, "votes": [], "multi_choice_votes": chosen,
         "final_multi_choice_verdict": {**chosen[0], "aggregated_value": chosen[0]["value"]}},
    ]  # fmt: skip
    score = (float(met[0] == "MET") + worth[style[0]]) / 2
    report = {"score": score, "report_type": "ensemble", "criterion_reports": reports, "judge_scores": {"j0": score}}
    return {"item_idx": number, "duration_seconds": 1.0, "error": None, "report": report}


def test_an_autorubric_experiment_becomes_a_run_whose_judges_can_be_held_against_people(project, cli):
    rows = [autorubric_item(i, met=("MET" if i % 3 else "UNMET", "MET")) for i in range(9)]
    rows.append(autorubric_item(9, error="infrastructure: rate limit"))
    project.write("exp/items.jsonl", [rows[3], *rows])
    manifest = {"experiment_name": "brave-otter", "dataset_name": "essays", "total_items": 10, "status": "completed"}
    project.write("exp/manifest.json", json.dumps(manifest))
    items = [{"submission": f"Text {i}", "description": f"d{i}", "ground_truth": ["MET", "Fine"]} for i in range(10)]
    project.write("essays.json", json.dumps({"name": "essays", "prompt": "Write.", "items": items}))
    said = cli("import", "exp", "--dataset", "essays.json", "--json")
    assert values(said)["score"]["value"] == pytest.approx((6 + 3 * 0.5) / 9)
    assert values(said)["score"]["method"] == "guarded"
    assert (said.json["task"], said.json["failures"]) == ("essays", {"http": 1})
    found = cli("agreement", "--json")
    assert found.code == 0, found.err
    judges = found.json["criteria"]["polite"]["judges"]
    assert judges["j1"]["values"]["accuracy"]["value"] == 1.0
    assert judges["j0"]["values"]["accuracy"]["value"] == pytest.approx(6 / 9)
    entry = cli("samples", "--id", "0", "--json").lines[0]
    assert (entry["output"], entry["sample"]["prompt"]) == ("Text 0", "Write.")


def test_single_judges_and_unfinished_experiments_are_read_too(project, cli):
    poor = {"selected_index": 0, "selected_label": "Poor", "value": 0.0}
    single = [
        {**CRITERIA[0], "verdict": "MET", "reason": "r", "error": None},
        {**CRITERIA[1], "multi_choice_verdict": poor},
    ]
    lost = [{**CRITERIA[0], "verdict": "UNMET", "reason": "", "error": "parse: no JSON"}]
    rows = [
        {"item_idx": 0, "error": None, "report": {"score": 0.5, "report_type": "single", "criterion_reports": single}},
        {"item_idx": 1, "error": None, "report": {"score": 0.0, "criterion_reports": lost}},
        {"item_idx": 2, "error": None, "report": {"score": None}},
    ]
    project.write("exp/items.jsonl", rows)
    project.write("exp/manifest.json", json.dumps({"experiment_name": "otter", "total_items": 5, "status": "running"}))
    said = cli("import", "exp", "--json")
    assert (said.json["status"], said.json["task"]) == ("partial", "otter")
    assert said.json["failures"] == {"parse": 1, "abstained": 1}
    assert "2 items of the experiment were never graded" in said.err
    assert cli("samples", "--id", "0", "--json").lines[0]["scores"]["rubric"]["values"] == {
        "score": 0.5, "polite": 1.0, "style": 0.0,
    }  # fmt: skip


def test_a_table_of_votes_becomes_a_run_that_agreement_reads(project, cli):
    rows = ["item,judge,label,criterion"]
    rows += [f"{i},{judge},{1 + i % 3 if judge == 'ann' else 2},tone" for i in range(9) for judge in ("ann", "bob")]
    rows += [f"{i},ann,{'MET' if i % 2 else ''},polite" for i in range(9)]
    project.write("votes.csv", "\n".join(rows) + "\n")
    said = cli("import", "votes.csv", "--json")
    assert said.json["n_samples"] == 9
    assert "score" in values(said)
    found = cli("agreement", "--json")
    assert found.code == 0, found.err
    assert set(found.json["criteria"]) == {"tone", "polite"}


def test_a_table_of_answers_keeps_its_scores_and_can_be_scored_anew(project, cli):
    rows = ["sample_id,question,reply,correct,stars"]
    rows += [f"r{i},Q{i},{'yes' if i % 2 else 'no'},{i % 2},{i % 5}" for i in range(10)] + ["r10,Q10,yes,,"]
    project.write("answers.csv", "\n".join(rows) + "\n")
    said = cli("import", "answers.csv", "--output", "reply", "--score", "correct", "--score", "stars", "--json")
    assert values(said)["accuracy"]["value"] == 0.5
    assert values(said, 1)["value"]["value"] == 2.0
    assert said.json["failures"] == {"missing_field": 2}
    task = 'key: t\ndisplay_name: T\ndefinition:\n  scorers: [{type: string_equals, ground_truth: "yes"}]\n'
    project.write("task.yaml", task)
    again = cli("rescore", "latest", "task.yaml", "--json")
    assert values(again)["accuracy"]["value"] == pytest.approx(6 / 11)


def test_answers_without_scores_and_labels_as_scores(project, cli):
    project.write("answers.jsonl", [{"output": "x"}, {"output": {"a": 1}}, {"question": "nobody answered"}])
    said = cli("import", "answers.jsonl", "--json")
    assert (said.json["n_samples"], said.json["scorers"], said.json["failures"]) == (3, [], {"missing_field": 1})
    project.write("labels.csv", "output,score\nx,good\ny,bad\n")
    assert values(cli("import", "labels.csv", "--json"))["label_good"]["value"] == 0.5


def test_an_odd_cell_among_numbers_fails_its_sample_and_is_named(project, cli):
    project.write("s.csv", "sample_id,output,score\na,x,1\nb,y,oops\nc,z,3\n")
    said = cli("import", "s.csv", "--json")
    assert values(said)["value"]["value"] == 2.0
    assert said.json["failures"] == {"parse": 1}
    assert '1 of 3 cells of "score" are no number, so their samples failed (line 3: "oops")' in said.err
    assert '"oops" in the column "score" is not a number' in cli("samples", "--failed").out
    assert "line 3" in cli("import", "s.csv").err


@pytest.mark.parametrize("words", [("yes", "no"), ("TRUE", "false"), ("right", "wrong"), ("Correct", "Incorrect")])
@pytest.mark.parametrize("column", ["correct", "Is_Correct"])
def test_words_for_right_and_wrong_are_an_accuracy(project, cli, words, column):
    project.write("s.csv", f"output,{column}\nx,{words[0]}\ny,{words[1]}\nz,{words[0]}\nz,maybe\n")
    said = cli("import", "s.csv", "--score", column, "--json")
    assert values(said)["accuracy"]["value"] == pytest.approx(2 / 3)
    assert said.json["failures"] == {"parse": 1}


def test_yes_and_no_elsewhere_are_labels(project, cli):
    project.write("s.csv", "output,score\nx,yes\ny,no\n")
    assert values(cli("import", "s.csv", "--json"))["label_yes"]["value"] == 0.5


def test_failed_samples_bound_an_imported_accuracy(project, cli):
    project.write("s.csv", "output,correct\nx,1\ny,0\nz,1\nz,\n")
    said = cli("import", "s.csv")
    assert "with the failed at worst/best 0.500 to 0.750" in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (["--output", "output", "--score", "correct", "--task", "s"], True),
        (["--format", "answers"], True),
        (["--score", "stars"], False),
        (["--task", "other"], False),
    ],
)
def test_what_a_file_says_itself_may_be_said_without_making_another_run(project, cli, options, same):
    project.write("s.csv", "output,correct,stars\nx,1,3\ny,0,4\n")
    first = cli("import", "s.csv", "--json").json["run"]
    assert (cli("import", "s.csv", *options, "--json").json["run"] == first) is same


def test_bytes_that_are_no_log_are_refused_with_what_was_expected(project, cli):
    (project.folder / "x.eval").write_bytes(bytes(range(128, 256)) * 20)
    said = cli("import", "x.eval")
    assert said.code == 2
    assert "expected an Inspect log, a zip archive (.eval) or a JSON document; these bytes are not text" in said.err
    assert "codec" not in said.err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("no.json", None, "there is no"),
        ("x.json", "{}", "cannot tell which tool wrote"),
        ("x.json", '{"eval": {"task"', "not valid JSON"),
        ("x.json", '{"eval": 3}', "expected the field eval as a JSON object"),
        ("x.json", '{"eval": {}, "samples": 3}', "expected the field samples as a list"),
        ("x.json", '{"eval": {}, "samples": []}', "holds no samples"),
        ("x.json", '{"eval": {}, "samples": [{"id": 1}, {"id": 1}]}', 'the sample "1" appears twice'),
        ("x.eval", "no zip", "not valid JSON"),
        ("x.txt", "?", "give --format"),
        ("x.csv", "a,b\n1,2\n", "neither an answer nor a score among the columns a, b"),
        ("x.csv", "item,judge,label\n1,,x\n", "x.csv:2:1: there is no item or no judge"),
        ("x.csv", "item,judge,label\n1,a,x\n1,a,y\n", 'x.csv:3:1: a second vote of "a" on item 1'),
        ("x.jsonl", '{"doc_id": 1, "resps": []}\n{"doc_id": 1, "resps": []}\n', "appears twice"),
        ("x.jsonl", '{"doc_id": 1, "resps": []}\n{"no": 1}\n', 'x.jsonl:2:1: no "doc_id"'),
    ],
)
def test_what_cannot_be_read_is_a_sentence_and_leaves_no_run(project, cli, name, text, message):
    if text is not None:
        project.write(name, text)
    said = cli("import", name)
    assert said.code == 2
    assert message in said.err
    assert "no runs yet" in cli("runs").out


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "without manifest.json"),
        ({"manifest.json": "{}"}, "no items.jsonl"),
        ({"manifest.json": "{}", "items.jsonl": "{}\n"}, 'without "item_idx"'),
        ({"manifest.json": "[]", "items.jsonl": ""}, "expected the manifest as a JSON object"),
    ],
)
def test_broken_experiments_are_sentences(project, cli, files, message):
    (project.folder / "exp").mkdir()
    for name, text in files.items():
        project.write(f"exp/{name}", text)
    said = cli("import", "exp")
    assert said.code == 2
    assert message in said.err


def test_an_archive_that_is_no_log_is_refused(project, cli):
    with zipfile.ZipFile(project.folder / "x.eval", "w") as archive:
        archive.writestr("other.txt", "?")
    assert "the archive has no header.json" in cli("import", "x.eval").err
