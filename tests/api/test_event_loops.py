"""Running tasks where an event loop is running already: in a notebook, and in an async program."""

from __future__ import annotations

import asyncio

import pytest

import assay
from assay.models.event_loop import run_to_end
from assay.rubric import CriterionGrader, LLMConfig, Rubric, RubricDataset, evaluate_sync

TASK = """
key: ask
display_name: Ask
definition:
  dataset: {source: {type: inline_samples, samples: [{q: a, answer: "yes"}, {q: b, answer: "no"}]}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.q }}"}]}
  scorers: [{type: string_equals, ground_truth: "{{ sample.answer }}"}]
"""
RECORDED = """
key: recorded
display_name: Recorded
definition:
  dataset: {source: {type: inline_samples, samples: [{reply: "yes", answer: "yes"}]}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers: [{type: string_equals, ground_truth: "{{ sample.answer }}"}]
"""


def says_yes(messages, **_):
    return "yes"


def grades_met(messages, **_):
    return '{"explanation": "So.", "criterion_status": "MET"}'


@pytest.fixture
def task(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    return project.write("task.yaml", TASK)


def accuracy(result):
    return result.metrics["accuracy"].value


def test_run_works_inside_a_running_loop(task):
    async def program():
        return assay.run(task, model=says_yes)

    assert accuracy(asyncio.run(program())) == 0.5


def test_arun_uses_the_callers_loop_and_lets_others_go_on(task):
    beats = []

    async def clock():
        while True:
            beats.append(asyncio.get_running_loop())
            await asyncio.sleep(0)

    async def program():
        ticking = asyncio.create_task(clock())
        result = await assay.arun(task, model=says_yes)
        ticking.cancel()
        return result, asyncio.get_running_loop()

    result, loop = asyncio.run(program())
    assert accuracy(result) == 0.5
    assert len(beats) > 1
    assert set(beats) == {loop}


def test_arun_scores_recorded_answers_too(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    path = project.write("task.yaml", RECORDED)
    assert accuracy(asyncio.run(assay.arun(path))) == 1.0


def test_several_runs_share_one_loop(task, project):
    other = project.write("other.yaml", TASK.replace("key: ask", "key: other"))

    async def program():
        return await asyncio.gather(assay.arun(task, model=says_yes), assay.arun(other, model=says_yes))

    assert [accuracy(result) for result in asyncio.run(program())] == [0.5, 0.5]


def test_a_cancelled_run_goes_on_where_it_stopped(task):
    asked = []

    async def slow(messages, **_):
        asked.append(messages[-1]["content"])
        if len(asked) == 2:
            await asyncio.sleep(60)
        return "yes"

    # the list of questions grows while it is asked, and changes no answer
    slow.__assay_version__ = "1"

    async def program():
        running = asyncio.create_task(assay.arun(task, model=slow, max_concurrency=1))
        while len(asked) < 2:
            await asyncio.sleep(0.01)
        # the first answer is committed within 50 ms
        await asyncio.sleep(0.3)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return await assay.arun(task, model=slow, max_concurrency=1)

    assert accuracy(asyncio.run(program())) == 0.5
    assert asked == ["a", "b", "b"]


def test_grading_works_inside_a_running_loop(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    rubric = Rubric.from_dict([{"requirement": "Is polite."}])
    grader = CriterionGrader(llm_config=LLMConfig(grades_met))

    async def program():
        one = rubric.grade_sync("Please.", grader)
        dataset = RubricDataset(prompt="P", rubric=rubric)
        dataset.add_item("Please.", "first")
        return one.score, evaluate_sync(dataset, grader).mean_score.value

    assert asyncio.run(program()) == (1.0, 1.0)


def test_an_error_inside_the_thread_is_the_callers_error():
    async def fails():
        raise ValueError("no")

    async def program():
        run_to_end(fails())

    with pytest.raises(ValueError, match="no"):
        asyncio.run(program())


NOTEBOOK = """
import assay
from assay.rubric import CriterionGrader, LLMConfig, Rubric

def says_yes(messages, **_):
    return "yes"

plain = assay.run("task.yaml", model=says_yes)
awaited = await assay.arun("task.yaml", model=says_yes)
verdict = '{"explanation": "So.", "criterion_status": "MET"}'
grader = CriterionGrader(llm_config=LLMConfig(lambda messages, **_: verdict))
graded = Rubric.from_dict([{"requirement": "Is polite."}]).grade_sync("Please.", grader)
print(plain.metrics["accuracy"].value, awaited.metrics["accuracy"].value, graded.score)
"""


def test_a_notebook_runs_awaits_and_grades(task, project):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={})
    client.execute(cwd=str(project.folder))
    printed = "".join(output.get("text", "") for output in notebook.cells[0].outputs if output.output_type == "stream")
    assert printed.split() == ["0.5", "0.5", "1.0"]
