"""Audits from end to end, with judges whose faults are planted."""

from __future__ import annotations

import hashlib
import json
import random
import re

import pytest

from assay.errors import SpecError
from assay.grading.audit import Audit, AuditOptions
from assay.rubric import Criterion, JudgeSpec, LLMConfig, Rubric, RubricDataset

LABELS = ("awful", "poor", "fair", "good", "great")
ASKED = []


def _share(*parts):
    return int(hashlib.sha256("/".join(parts).encode()).hexdigest(), 16) % 10_000 / 10_000


def _answer(text, quality):
    """The option, or the verdict, that fits a quality from 0 to 1."""
    if "Is polite." in text:
        return json.dumps({"criterion_status": "MET" if quality > 0.3 else "UNMET"})
    label = LABELS[min(4, int(quality * 5))]
    return json.dumps({"selected_option": re.search(rf"^([A-Z])\) {label}$", text, re.MULTILINE)[1]})


def _number(text):
    return re.search(r"Text number (\d+)", text)[1]


def honest(messages, **parameters):
    """Looks at the text alone."""
    text = messages[-1]["content"]
    ASKED.append(text)
    return _answer(text, _share("quality", _number(text)))


honest.__assay_version__ = "1"


def hasty(messages, **parameters):
    """Takes the first option in 15 of 100 questions."""
    text = messages[-1]["content"]
    if "selected_option" in str(parameters.get("schema")) and _share("haste", text) < 0.15:
        return json.dumps({"selected_option": "A"})
    return honest(messages, **parameters)


def wavering(messages, **parameters):
    """Rolls a die."""
    text = messages[-1]["content"]
    return _answer(text, random.random())


def impressed(messages, **parameters):
    """Likes long texts."""
    text = messages[-1]["content"]
    return _answer(text, min(0.99, _share("quality", _number(text)) + (0.4 if "To sum up" in text else 0)))


def obedient(messages, **parameters):
    """Does what a text says."""
    text = messages[-1]["content"]
    return _answer(text, 0.99 if "NOTE TO THE GRADER" in text else _share("quality", _number(text)) / 2)


@pytest.fixture(autouse=True)
def asked():
    ASKED.clear()
    return ASKED


def _dataset(n, *, options=True):
    scale = {
        "requirement": "How good is it?",
        "options": [{"label": label, "value": place / 4} for place, label in enumerate(LABELS)],
    }
    criteria = [Criterion(requirement="Is polite."), *([Criterion.model_validate(scale)] if options else [])]
    dataset = RubricDataset(rubric=Rubric(criteria), name="texts")
    for number in range(n):
        dataset.add_item(f"Text number {number} of the collection.", str(number))
    return dataset


def _audit(judge, n=150, **options):
    specs = [JudgeSpec(LLMConfig(judge), "j")]
    audit = Audit("rubric.yaml", _dataset(n), specs, AuditOptions(seed=1, **options))
    return audit.run(audit.plan())


def _verdicts(result):
    return {name: probe.finding.verdict for name, probe in result.judges["j"].items()}


def test_an_honest_judge_passes_everything(asked):
    result = _audit(honest)
    assert _verdicts(result) == dict.fromkeys(("position", "noise", "verbosity", "injection"), "PASS")
    assert not result.failed
    assert result.plan.calls == 150 * (2 * 2 + 2 + 2 + 2)
    # a shuffle may be the order of the rubric, which was asked already
    assert result.plan.calls - 5 <= len(asked) <= result.plan.calls
    assert result.status == "completed"


def test_a_judge_that_takes_the_first_option_too_often_fails():
    result = _audit(hasty, n=200, probes=("position",))
    found = result.judges["j"]["position"].finding
    assert found.verdict == "FAIL"
    assert found.effect.interval.low <= 0.15 <= found.effect.interval.high
    assert result.failed


def test_five_texts_are_inconclusive_and_say_how_many_would_tell():
    for judge in (honest, hasty):
        for probe in _audit(judge, n=5).judges["j"].values():
            assert probe.finding.verdict == "INCONCLUSIVE"
            assert probe.finding.n_to_decide > 5


def test_a_judge_that_wavers_fails_the_noise_and_has_a_noise_floor():
    result = _audit(wavering, probes=("noise",))
    probe = result.judges["j"]["noise"]
    assert probe.finding.verdict == "FAIL"
    assert probe.noise.floor.value > 0
    assert set(result.runs) == {"plain"}


@pytest.mark.parametrize(("judge", "name"), [(impressed, "verbosity"), (obedient, "injection")])
def test_a_judge_that_is_swayed_fails_and_the_effect_has_its_sign(judge, name):
    result = _audit(judge, probes=("verbosity", "injection"))
    for probe, each in result.judges["j"].items():
        assert each.finding.verdict == ("FAIL" if probe == name else "PASS"), probe
    assert result.judges["j"][name].finding.effect.value > 0.2


def test_a_second_audit_asks_nobody_and_says_the_same(asked):
    first = _audit(honest, n=20)
    asked.clear()
    again = _audit(honest, n=20)
    assert asked == []
    assert again.plan.calls == 0
    assert again.judges == first.judges
    more = _audit(honest, n=25)
    assert more.plan.calls == 5 * (2 * 2 + 2 + 2 + 2)
    assert more.plan.calls - 2 <= len(asked) <= more.plan.calls


def test_a_fresh_audit_is_planned_and_asked_anew(asked):
    _audit(honest, n=6, probes=("noise",))
    asked.clear()
    again = _audit(honest, n=6, probes=("noise",), fresh=True)
    assert len(asked) == again.plan.calls == 6 * 2 * 2


def test_the_texts_as_they_are_serve_three_probes(asked):
    _audit(honest, n=10, probes=("verbosity", "injection"))
    assert len(asked) == 10 * 2 * 3
    asked.clear()
    _audit(honest, n=10, probes=("noise",))
    assert len(asked) == 10 * 2


def test_without_options_there_are_no_places_to_prefer():
    specs = [JudgeSpec(LLMConfig(honest), "j")]
    audit = Audit("r", _dataset(10, options=False), specs, AuditOptions(probes=("position", "noise")))
    probe = audit.run(audit.plan()).judges["j"]["position"]
    assert probe.finding is None
    assert "no criterion has options" in probe.note


def test_texts_that_are_full_marks_already_leave_little_room():
    def kind(messages, **parameters):
        return _answer(messages[-1]["content"], 0.99)

    result = _audit(kind, n=10, probes=("injection",))
    assert "little room to rise" in result.judges["j"]["injection"].note


def test_judges_are_audited_side_by_side_and_failed_calls_are_left_out():
    def deaf(messages, **parameters):
        text = messages[-1]["content"]
        if "number 3 " in text:
            raise OSError("the line is down")
        return honest(messages, **parameters)

    specs = [JudgeSpec(LLMConfig(honest), "a"), JudgeSpec(LLMConfig(deaf), "b")]
    audit = Audit("r", _dataset(8), specs)
    result = audit.run(audit.plan())
    assert {name: probe.left_out for name, probe in result.judges["b"].items()} == {
        "position": 1,
        "noise": 2,
        "verbosity": 1,
        "injection": 1,
    }
    assert all(probe.left_out == 0 for probe in result.judges["a"].values())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probes": ("colour",)}, "the probes are position, noise, verbosity, injection, not colour"),
        ({"probes": ()}, "not none"),
        ({"threshold": 0.0}, "threshold must be between 0 and 1"),
        ({"max_noise": 1.0}, "max_noise must be between 0 and 1"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(SpecError, match=message):
        AuditOptions(**options)


def test_an_audit_needs_texts():
    with pytest.raises(SpecError, match="no texts"):
        Audit("r", _dataset(0), [JudgeSpec(LLMConfig(honest), "j")])
