"""Improving rubrics with scripted models: what is accepted, what is rejected, and when it stops."""

from __future__ import annotations

import asyncio
import json
import re
import warnings

import pytest

from assay.errors import RunError, SpecError
from assay.grading.improvement import IterationResult
from assay.grading.meta_rubric import get_in_context_meta_rubric
from assay.rubric import (
    Criterion,
    CriterionOption,
    ImprovementConfig,
    ImprovementRunner,
    JudgeSpec,
    LLMConfig,
    Rubric,
    RubricDataset,
    RubricWarning,
    improve_rubric,
)

VAGUE = Rubric([Criterion(name="tone", requirement="Has a good tone.")], "Read twice.")
TASK = "Answer the customer."


def revised(*requirements, name="tone", **fields):
    criteria = [
        {"name": name if place == 0 else f"{name}_{place}", "requirement": requirement, "weight": 10, **fields}
        for place, requirement in enumerate(requirements)
    ]
    return json.dumps({"changes": "clearer", "criteria": criteria})


@pytest.fixture
def reviser(judge):
    """A model that gives one revision after the other, the last one for ever."""

    def make(*replies):
        left = list(replies)
        model = judge(lambda text: left.pop(0) if len(left) > 1 else left[0])
        model.__assay_version__ = "reviser"
        return model

    return make


@pytest.fixture
def critic(judge):
    """A judge of rubrics that misses clarity while a rubric says "good", and finds joined demands in "and"."""

    def answer(text):
        rubric = re.search(r"=====BEGIN SUBMISSION.*?=====\n(.*?)\n=====END", text, re.DOTALL)[1]
        name = next(c.name for c in get_in_context_meta_rubric() if c.requirement.strip() in text)
        found = {"clear": "good" not in rubric, "joined_demands": " and " in rubric}
        merit = "The criterion describes a fault." not in text
        word = "MET" if found.get(name, merit) else "UNMET"
        return json.dumps({"explanation": f"about {name}", "criterion_status": word})

    return judge(answer)


def improve(rubric, critic, reviser, **settings):
    settings = {"task_prompt": TASK, "show_progress": False, "save_artifacts": False, **settings}
    task = settings.pop("task_prompt")
    config = ImprovementConfig(eval_llm=LLMConfig(critic), revision_llm=LLMConfig(reviser), **settings)
    return asyncio.run(ImprovementRunner(rubric, task, config=config).run())


def test_a_better_revision_is_accepted_and_the_rubric_without_issues_ends_the_work(critic, reviser):
    model = reviser(revised("Addresses the reader with a greeting."))
    result = improve(VAGUE, critic, model)
    first, second = result.iterations
    assert [issue.criterion_name for issue in first.issues] == ["clear"]
    assert "about clear" in first.issues[0].feedback
    assert (second.accepted, second.issues, second.issues_fixed) == (True, [], ["clear"])
    assert second.quality_score == 1.0 > first.quality_score
    assert result.convergence_reason == "no_issues"
    assert result.final_rubric.criteria[0].requirement == "Addresses the reader with a greeting."
    assert result.final_rubric.guidelines == "Read twice."
    assert (result.best_iteration, result.best_rubric) == (1, result.final_rubric)
    assert result.original_rubric is VAGUE
    (question,) = model.questions
    assert "Has a good tone." in question
    assert TASK in question
    assert "about clear" in question


def test_a_revision_that_is_worse_is_rejected_and_the_next_starts_from_the_accepted_one(critic, reviser):
    worse = revised("Is good and short.")
    model = reviser(worse, revised("Greets the reader."))
    result = improve(VAGUE, critic, model)
    assert [version.accepted for version in result.iterations] == [True, False, True]
    assert "quality fell from" in result.iterations[1].rejection_reason
    assert "Has a good tone." in model.questions[1]
    assert "rejected: quality fell" in model.questions[1]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("I will not.", 'no JSON object with the field "criteria"'),
        ('{"criteria": "none"}', '"criteria" must be a list'),
        ('{"criteria": []}', "no criteria"),
        ('{"criteria": [{"name": "tone"}]}', "requirement"),
        ('{"criteria": [{"requirement": "Greets."}]}', "needs a name"),
        (revised("Greets.", options=[{"label": "Yes", "value": 3}]), "not a rubric"),
    ],
)
def test_an_invalid_revision_is_rejected_with_its_reason_and_never_fatal(critic, reviser, reply, problem):
    model = reviser(reply)
    result = improve(VAGUE, critic, model)
    assert result.convergence_reason == "pareto_stuck"
    assert [version.accepted for version in result.iterations] == [True, False, False, False]
    assert problem in result.iterations[1].rejection_reason
    assert result.iterations[1].rejection_reason.startswith("invalid revision")
    assert result.final_rubric == VAGUE
    assert len(model.questions) == 6, "every invalid revision is asked for once more"
    assert "could not be used" in model.questions[1]


def test_a_reviser_that_cannot_be_asked_is_a_rejection(critic, judge):
    result = improve(VAGUE, critic, judge(lambda text: RuntimeError("down")), max_iterations=2)
    assert "down" in result.iterations[1].rejection_reason


def test_a_judge_that_cannot_grade_the_original_is_an_error(judge, reviser):
    with warnings.catch_warnings(), pytest.raises(RunError, match="could not be graded"):
        warnings.simplefilter("ignore", RubricWarning)
        improve(VAGUE, judge(lambda text: RuntimeError("down")), reviser(revised("x")))


def test_versions_that_get_no_better_end_the_work(critic, reviser):
    result = improve(VAGUE, critic, reviser(*(revised(f"Is good in way {n}.") for n in range(9))))
    assert result.convergence_reason == "score_plateau"
    assert len(result.iterations) == 3
    patient = improve(
        VAGUE,
        critic,
        reviser(*(revised(f"Is good in way {n}.") for n in range(9))),
        plateau_patience=4,
        max_iterations=4,
    )
    assert (patient.convergence_reason, len(patient.iterations)) == ("max_iterations", 4)


def test_thresholds_and_reasons_of_the_user_end_the_work(critic, reviser):
    result = improve(VAGUE, critic, reviser(revised("x")), min_quality_score=0.5)
    assert (result.convergence_reason, len(result.iterations)) == ("thresholds_met", 1)

    def enough(version, versions):
        assert isinstance(version, IterationResult)
        return "enough" if len(versions) == 2 else None

    result = improve(VAGUE, critic, reviser(revised("Greets.")), min_quality_score=0.0, convergence_fn=enough)
    assert (result.convergence_reason, len(result.iterations)) == ("enough", 2)


# --- held out ---


@pytest.fixture
def reader(judge):
    """A judge of texts that takes a criterion at its word: only one that names "please" looks for it."""

    def answer(text):
        submission = re.search(r"=====BEGIN SUBMISSION.*?=====\n(.*?)\n=====END", text, re.DOTALL)[1]
        criterion = text.rsplit("=====", 1)[1]
        met = "never" not in criterion and ("please" in submission if "please" in criterion else True)
        return json.dumps({"explanation": "as it says", "criterion_status": "MET" if met else "UNMET"})

    return judge(answer)


@pytest.fixture
def labelled():
    data = RubricDataset(rubric=VAGUE)
    for number in range(4):
        data.add_item(f"Sit down, please {number}.", f"polite {number}", ground_truth=["MET"])
        data.add_item(f"Sit down {number}.", f"rude {number}", ground_truth=["UNMET"])
    return data


def test_held_out_accepts_what_agrees_better_with_people(reader, reviser, labelled):
    model = reviser(revised('Says "please".'))
    result = improve(VAGUE, reader, model, strategy="held_out", validation_data=labelled)
    first, second = result.iterations
    assert (first.agreement, second.agreement) == (0.5, 1.0)
    assert first.quality_score == 0.5
    assert first.per_criterion_agreement == {"tone": 0.5}
    assert second.accepted
    assert result.convergence_reason == "no_issues"
    assert (first.held_out_diagnostics.n_items, first.held_out_diagnostics.n_shown) == (4, 4)
    assert second.quality_report is None


def test_the_reviser_never_sees_the_items_that_decide(reader, reviser, labelled):
    model = reviser(revised('Says "please".'))
    settings = {"strategy": "held_out", "validation_data": labelled, "max_exemplars_per_criterion": 10}
    improve(VAGUE, reader, model, **settings)
    (question,) = model.questions
    # the judge is wrong about all 4 rude items; those of the half that decides are not among the examples
    assert sum(item.submission in question for item in labelled) == 2


def test_a_revision_whose_agreement_falls_is_rejected_unless_that_is_allowed(reader, reviser, labelled):
    # "never" makes the judge say UNMET to everything: as often right as before; with "please" it is right more often
    replies = [revised('Says "please".'), revised('It never says "please".')]
    half = ImprovementConfig(
        eval_llm=LLMConfig(reader),
        revision_llm=LLMConfig(reviser(*replies)),
        strategy="held_out",
        validation_data=labelled,
        convergence_fn=lambda version, versions: "three" if len(versions) == 3 else None,
        save_artifacts=False,
        show_progress=False,
    )
    result = asyncio.run(improve_rubric(VAGUE, config=half))
    assert [version.accepted for version in result.iterations] == [True, True, False]
    assert result.iterations[2].rejection_reason == "agreement fell from 1.000 to 0.500"
    assert result.final_rubric.criteria[0].requirement == 'Says "please".'
    lenient = ImprovementConfig(
        eval_llm=LLMConfig(reader),
        revision_llm=LLMConfig(reviser(*replies)),
        strategy="held_out",
        validation_data=labelled,
        convergence_fn=half.convergence_fn,
        reject_agreement_regression=False,
        save_artifacts=False,
        show_progress=False,
    )
    result = asyncio.run(improve_rubric(VAGUE, config=lenient))
    assert [version.accepted for version in result.iterations] == [True, True, True]
    assert (result.best_iteration, result.final_rubric.criteria[0].requirement) == (1, 'It never says "please".')


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (revised("Greets.", "Thanks."), "must keep its 1 criteria"),
        (revised("Greets.", options=[{"label": "Yes", "value": 1}, {"label": "No", "value": 0}]), "keep its options"),
        (json.dumps({"criteria": [{"name": "tone", "requirement": "Is rude.", "weight": -3}]}), "keep the sign"),
    ],
)
def test_a_revision_that_the_labels_do_not_fit_is_rejected(reader, reviser, labelled, reply, problem):
    result = improve(VAGUE, reader, reviser(reply), strategy="held_out", validation_data=labelled, max_iterations=2)
    assert problem in result.iterations[1].rejection_reason


def test_the_same_scripts_give_the_same_versions_and_ask_for_no_vote_twice(reader, reviser, labelled):
    def once():
        return improve(VAGUE, reader, reviser(revised("Is good 1."), revised('Says "please".')), **settings)

    settings = {"strategy": "held_out", "validation_data": labelled}
    first = once()
    asked = len(reader.questions)
    second = once()
    assert len(reader.questions) == asked, "votes on items are kept in the store"
    strip = [(v.rubric, v.quality_score, v.accepted, v.rejection_reason) for v in first.iterations]
    assert strip == [(v.rubric, v.quality_score, v.accepted, v.rejection_reason) for v in second.iterations]


def test_a_meta_rubric_improvement_also_needs_agreement_where_there_are_labels(critic, reviser, labelled, judge):
    # graded items: any wording but the original makes the judge wrong on all of them
    def both(text):
        if "What the submission answers" in text and "Sit down" not in text:
            return critic(text_messages(text))
        polite = "please" in re.search(r"=====BEGIN SUBMISSION.*?=====\n(.*?)\n=====END", text, re.DOTALL)[1]
        return json.dumps(
            {"explanation": "e", "criterion_status": "MET" if polite == ("good tone" in text) else "UNMET"}
        )

    def text_messages(text):
        return [{"content": text}]

    result = improve(VAGUE, judge(both), reviser(revised("Greets.")), validation_data=labelled, max_iterations=2)
    assert result.iterations[0].agreement == 1.0
    assert result.iterations[1].quality_score == 1.0
    assert result.iterations[1].rejection_reason == "agreement fell from 1.000 to 0.000"


def test_without_labels_the_judges_must_agree_with_each_other(critic, judge, reviser):
    data = RubricDataset(rubric=VAGUE)
    data.add_item("Hello.", "a")
    with pytest.raises(SpecError, match="two judges or more"):
        improve(VAGUE, critic, reviser(revised("x")), validation_data=data)
    contrary = judge(lambda text: critic([{"content": text}]) if "Hello." not in text else "UNMET")
    contrary.__assay_version__ = "contrary"
    agreeable = judge(lambda text: critic([{"content": text}]) if "Hello." not in text else "MET")
    config = ImprovementConfig(
        eval_llm=[JudgeSpec(LLMConfig(agreeable), "a"), JudgeSpec(LLMConfig(contrary), "b")],
        revision_llm=LLMConfig(reviser(revised("Greets."))),
        validation_data=data,
        max_iterations=2,
        save_artifacts=False,
        show_progress=False,
    )
    with pytest.warns(UserWarning, match="even number"):
        result = asyncio.run(improve_rubric(VAGUE, TASK, config=config))
    assert result.iterations[0].agreement == 0.0
    assert result.iterations[1].accepted


def test_every_version_is_written_to_the_artifacts(critic, reviser, folder, capsys):
    result = asyncio.run(
        improve_rubric(
            VAGUE,
            TASK,
            eval_llm=LLMConfig(critic),
            revision_llm=LLMConfig(reviser(revised("Greets."))),
            artifacts_dir=folder / "made",
            display="html",
        )
    )
    names = {path.name for path in (folder / "made").iterdir()}
    assert names == {"version_0.yaml", "version_1.yaml", "best.yaml", "improvement.json", "quality.html"}
    assert Rubric.from_file(folder / "made" / "best.yaml") == result.best_rubric
    document = json.loads((folder / "made" / "improvement.json").read_text())
    assert document["convergence_reason"] == "no_issues"
    assert [version["accepted"] for version in document["iterations"]] == [True, True]
    assert "version 1: quality 1.000, 0 issues, accepted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task_prompt": None}, "needs a task prompt"),
        ({"strategy": "held_out"}, "needs validation_data"),
        ({"strategy": "best"}, "strategy is one of"),
        ({"max_iterations": 0}, "at least 1"),
        ({"min_quality_score": 1.5}, "between 0 and 1"),
        ({"max_total_cost": 1.0}, "needs the price of every model"),
        ({"revision_user_prompt_template": "Improve it."}, "original_criteria"),
    ],
)
def test_what_cannot_work_is_refused_before_anybody_is_asked(critic, reviser, settings, message):
    with pytest.raises(SpecError, match=message):
        improve(VAGUE, critic, reviser(revised("x")), **settings)
    assert critic.questions == []


def test_validation_data_of_another_rubric_is_refused(critic, reviser):
    options = [CriterionOption(label="Yes", value=1.0), CriterionOption(label="No", value=0.0)]
    data = RubricDataset(rubric=Rubric([Criterion(requirement="Polite?", options=options)]))
    data.add_item("Hello.", "a", ground_truth=["Yes"])
    with pytest.raises(SpecError, match="another rubric"):
        improve(VAGUE, critic, reviser(revised("x")), validation_data=data)


def test_the_cost_ends_the_work(critic, reviser, folder):
    # a scripted model is free; what the loop spends is checked with a price that is not
    (folder / "free.jsonl").write_text(json.dumps({"reply": revised("Greets.")}) + "\n")
    (folder / "judge.jsonl").write_text(json.dumps({"reply": {"explanation": "e", "criterion_status": "MET"}}) + "\n")
    config = ImprovementConfig(
        eval_llm=LLMConfig("scripted/judge.jsonl"),
        revision_llm=LLMConfig("scripted/free.jsonl"),
        max_total_cost=0.5,
        max_iterations=2,
        save_artifacts=False,
        show_progress=False,
    )
    runner = ImprovementRunner(VAGUE, TASK, config=config)
    assert asyncio.run(runner.run()).total_completion_cost == 0.0
    runner = ImprovementRunner(VAGUE, TASK, config=config)
    runner._improvement._costs.append(0.5)
    assert asyncio.run(runner.run()).convergence_reason == "cost_limit"


def test_prompts_of_the_users_own_are_used(critic, judge):
    seen = []

    def model(messages, **parameters):
        seen.append([message["content"] for message in messages])
        return revised("Greets.")

    template = "Rubric: {original_criteria}\nProblems: {issues_text}\nTask: {task_prompt}"
    improve(VAGUE, critic, model, revision_system_prompt="Be brief.", revision_user_prompt_template=template)
    system, user = seen[0]
    assert system == "Be brief."
    assert "Has a good tone." in user
    assert user.endswith(f"Task: {TASK}")
