"""The viewer's pages over HTTP: what they show, what their addresses hold, and that nothing is written."""

import hashlib
import html
import json
import re
import shlex
import time

import pytest


def ids_in(reply):
    """The samples that a page lists."""
    return re.findall(r"data-open>(T-\d+)<", reply.text)


def test_the_list_of_runs_links_to_the_comparison_with_the_run_before(view):
    reply = view.ask("/")
    assert reply.status == 200
    assert "against v1" in reply.text
    comparison = next(link for link in reply.links if link.startswith("/compare"))
    compared = view.ask(comparison)
    assert "v2 against v1" in compared.text
    assert re.search(r"v2 is (better|worse) than v1 by|No clear difference between v1 and v2", compared.text)
    assert "data-diff" in compared.text


def test_a_run_shows_metrics_with_bars_and_the_command_that_prints_them(view):
    text = view.ask("/runs/v2").text
    assert "<svg" in text
    assert "billing" in text
    assert "wilson" in text
    assert "assay show" in text


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("", lambda row, right: True),
        ("?show=wrong", lambda row, right: not right),
        ("?in:sample/topic=billing", lambda row, right: row["topic"] == "billing"),
        ("?q=number 7", lambda row, right: "number 7?" in row["question"]),
        ("?q=NUMB 7", lambda row, right: "number 7" in row["question"]),
        ("?where=is_correct > 0.5&in:sample/topic=returns", lambda row, right: right and row["topic"] == "returns"),
        ("?where=topic = returns", lambda row, right: row["topic"] == "returns"),
        ("?show=failed", lambda row, right: False),
    ],
)
def test_a_filter_lists_exactly_the_samples_that_match(view, samples_of_support, query, matches):
    expected = {
        row["sample_id"]
        for row in samples_of_support(53, 0.85)
        if matches(row, row["output"].startswith(row["answer"]))
    }
    shown, address = [], f"/runs/v2/samples{query}"
    while address:
        reply = view.ask(address)
        assert reply.status == 200
        shown += ids_in(reply)
        following = re.search(r'href="([^"]*)" rel="next">Next page', reply.text)
        address = following[1].replace("&amp;", "&") if following else None
    assert set(shown) == expected
    assert len(shown) == len(expected)


def test_sorting_walks_from_the_greatest_to_the_least_and_pages_do_not_overlap(view, samples_of_support):
    first = view.ask("/runs/v2/samples?sort=-contains/is_correct")
    rights = {row["sample_id"] for row in samples_of_support(53, 0.85) if row["output"].startswith(row["answer"])}
    shown = ids_in(first)
    assert [sample_id in rights for sample_id in shown] == sorted((i in rights for i in shown), reverse=True)
    following = re.search(r'href="([^"]*)" rel="next">Next page', first.text)[1].replace("&amp;", "&")
    assert not set(shown) & set(ids_in(view.ask(following)))


def test_empty_fields_of_a_form_leave_the_address(view):
    reply = view.ask("/runs/v2/samples?q=&show=wrong&where=&sort=")
    assert reply.status == 303
    assert reply.headers["Location"].endswith("/samples?show=wrong")


def test_a_sample_is_walked_within_its_filter(view):
    listed = ids_in(view.ask("/runs/v2/samples?show=wrong"))
    address = re.search(
        r'href="(/runs/[^"]*/samples/\d+[^"]*)" data-open', view.ask("/runs/v2/samples?show=wrong").text
    )
    walked, here = [], address[1].replace("&amp;", "&")
    while here:
        reply = view.ask(here)
        walked.append(re.search(r"<h1>(T-\d+)", reply.text)[1])
        following = re.search(r'href="([^"]*)" rel="next"', reply.text)
        here = following[1].replace("&amp;", "&") if following else None
    assert walked == listed


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("where=nonsense", "is not a condition"),
        ("where=topik = x", "topic"),
        ("sort=question", "no numbers to sort by"),
        ("show=everything", "nothing that can be shown"),
    ],
)
def test_a_wrong_filter_gets_a_sentence(view, query, words):
    reply = view.ask(f"/runs/v2/samples?{query}")
    assert reply.status == 200
    assert words in reply.text


@pytest.mark.parametrize(
    "path",
    [
        "/runs/none",
        "/runs/v2/samples/9999",
        "/runs/v2/samples/-1",
        "/runs/v2/samples/1e3",
        "/runs/..%2f..%2fetc/samples/1",
        "/assets/..%2fserver.py",
        "/assets/passwd",
        "/compare?runs=v1",
        "/nothing",
    ],
)
def test_what_is_not_there_is_not_found(view, path):
    reply = view.ask(path)
    assert reply.status == 404
    assert "Traceback" not in reply.text
    assert "Content-Security-Policy" in reply.headers


def test_a_panel_shows_every_vote_with_its_reason_and_the_raw_replies(viewer_of, panel):
    view = viewer_of(panel)
    summary, sample = view.ask("/runs/panel/panel", "/runs/panel/samples/1")
    assert "share of equal votes between judges" in summary.text
    assert "Items that divide the judges" in summary.text
    for word in ("strict", "lenient", "hasty", "It takes a second", "Requests and replies", "REPLY"):
        assert word in sample.text
    download = view.ask("/runs/panel/samples/1/sample.json")
    assert download.headers["Content-Type"].startswith("application/json")
    assert '"requests"' in download.text


def test_viewing_changes_no_byte_of_the_store(view, support):
    store = support.folder / ".assay" / "assay.db"
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    view.ask("/", "/runs/v1", "/runs/v1/samples?show=wrong", "/runs/v1/samples/3", "/compare?runs=v1&runs=v2")
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before


def test_a_base_path_stands_before_every_address(viewer_of, support):
    view = viewer_of(support, base_path="/assay")
    reply = view.ask("/assay/")
    assert reply.status == 200
    assert all(link.startswith(("/assay/", "#", "data:")) for link in reply.links)
    assert view.ask("/").status == 404


def test_a_running_run_is_watched_until_it_is_finished(viewer_of, live, loopback):
    project = live(60)
    loopback.configure(latency_ms=400)
    process = project.start("run", "task.yaml", "--model", "model.yaml", "--max-concurrency", "4", "--name", "slow")
    try:
        view = viewer_of(project)
        while not (project.folder / ".assay" / "assay.db").exists() or "slow" not in project.assay("runs").out:
            assert process.poll() is None, process.communicate()
            time.sleep(0.1)
        page = view.ask("/runs/slow")
        assert "data-events" in page.text
        assert "rows stored" in page.text
        events = [json.loads(line[6:]) for line in view.ask("/runs/slow/events").text.splitlines() if line]
    finally:
        process.communicate(timeout=120)
    assert events[-1]["finished"]
    stored = [int(event["words"].split()[0]) for event in events[:-1]]
    assert stored == sorted(stored)
    assert len(set(stored)) > 1
    finished = view.ask("/runs/slow").text
    assert "data-events" not in finished
    assert "wilson" in finished


def test_a_live_sample_shows_its_conversation_and_the_paid_request(viewer_of, live):
    project = live(3)
    assert project.assay("run", "task.yaml", "--model", "model.yaml").code == 0
    text = viewer_of(project).ask("/runs/latest/samples/1").text
    for words in ("Answer with one letter.", "Requests and replies", "tokens", "system", "user"):
        assert words in text


def test_costs_are_added_up_as_in_the_terminal(viewer_of, live):
    project = live(3)
    view = viewer_of(project)
    assert project.assay("run", "task.yaml", "--model", "model.yaml", "--name", "paid").code == 0
    total = project.assay("runs", "--costs", "--json").json["cost_usd"]
    text = view.ask("/costs").text
    assert f"${total:,.4f}" in text
    assert "paid" in text
    assert "Cost per day" in text


@pytest.mark.parametrize(
    ("query", "command"),
    [
        ("?show=wrong&in:sample/topic=returns", "--wrong --where 'sample/topic = returns'"),
        ("?where=is_correct < 0.5&sort=-is_correct", "--where 'is_correct < 0.5' --sort -is_correct"),
    ],
)
def test_the_command_below_a_list_prints_the_same_samples(view, support, query, command):
    reply = view.ask(f"/runs/v2/samples{query}")
    assert command in html.unescape(reply.text)
    lines = support.assay("samples", "v2", *shlex.split(command), "--json").lines
    assert sorted(line["sample_id"] for line in lines)[:50] == sorted(ids_in(reply))[:50]


def test_a_filter_that_the_terminal_lacks_is_said_so(view):
    assert "without all of these filters" in view.ask("/runs/v2/samples?q=number").text
