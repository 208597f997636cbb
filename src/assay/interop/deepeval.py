"""Test runs of DeepEval: the JSON that it saves to DEEPEVAL_RESULTS_FOLDER and to `.deepeval`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.datasets.json_document import as_json, dicts, mapping, wrong
from assay.interop.imported_values import Imported, ImportedSample, SourceFigure, failed, key_of
from assay.interop.numbers import as_number
from assay.types import Item, Outcome, Score, ScoreValue

FORMAT = "deepeval"
WANTED = "a test run of DeepEval"
TEST_CASE = "test_case"
"""The scorer that records whether a test case passed all its metrics."""
_COLUMNS = {
    "input": "input",
    "expectedOutput": "expected_output",
    "context": "context",
    "retrievalContext": "retrieval_context",
    "scenario": "scenario",
    "expectedOutcome": "expected_outcome",
    "additionalMetadata": "metadata",
}
_KEPT = ("reason", "threshold", "strictMode", "evaluationModel", "evaluationCost")


def read_deepeval(path: Path) -> Imported:
    """The test cases with a scorer per metric; a metric that ended in an error is a failure."""
    head = mapping(path, as_json(path, path.read_bytes(), wanted=WANTED), WANTED)
    # `.deepeval/.latest_test_run.json` holds the test run in a field
    run = mapping(path, head.get("testRunData", head), WANTED)
    cases = [run.get(name) or [] for name in ("testCases", "conversationalTestCases")]
    if not {"testCases", "conversationalTestCases"} & set(run) or not all(isinstance(part, list) for part in cases):
        raise wrong(path, "expected a test run of DeepEval, with the list testCases")
    whole = [mapping(path, case, "a test case") for part in cases for case in part]
    names = [str(case.get("name")) for case in whole]
    unique = len(set(names)) == len(names) and all(case.get("name") for case in whole)
    samples = [_sample(case, names[i] if unique else str(i)) for i, case in enumerate(whole)]
    settings = run.get("hyperparameters")
    model = settings.get("model") if isinstance(settings, dict) else None
    return Imported(
        format=FORMAT,
        task=str(run.get("identifier") or run.get("testFile") or path.stem.lstrip(".")),
        model=model if isinstance(model, str) else None,
        samples=samples,
        figures=tuple(_figures(run)) if isinstance(run.get("metricsScores"), list) else None,
    )


def _sample(case: Mapping[str, Any], sample_id: str) -> ImportedSample:
    output = case.get("actualOutput")
    turns: tuple[Item, ...] = tuple(
        {"type": "message", "role": str(turn["role"]), "content": str(turn.get("content") or "")}
        for turn in dicts(case.get("turns"))
        if "role" in turn
    )
    if output is None and turns:
        output = next((turn["content"] for turn in reversed(turns) if turn["role"] == "assistant"), None)
    outcomes: dict[str, Outcome] = {}
    for metric in dicts(case.get("metricsData")):
        key = key_of(str(metric.get("name")))
        outcomes[key] = _outcome(key, metric)
    if isinstance(case.get("success"), bool):
        outcomes[TEST_CASE] = Score(scorer=TEST_CASE, values={"passed": float(case["success"])})
    return ImportedSample(
        sample_id=sample_id,
        sample={ours: case[theirs] for theirs, ours in _COLUMNS.items() if case.get(theirs) is not None},
        output=output if isinstance(output, str) else None,
        trace=turns,
        outcomes=outcomes,
    )


def _outcome(key: str, metric: Mapping[str, Any]) -> Outcome:
    if metric.get("error"):
        return failed(str(metric["error"]))
    score = as_number(metric.get("score"))
    if score is None:
        return failed("the metric has no score", "missing_field")
    values: dict[str, ScoreValue] = {"score": score}
    if isinstance(metric.get("success"), bool):
        values["passed"] = float(metric["success"])
    return Score(scorer=key, values=values, metadata={name: metric[name] for name in _KEPT if metric.get(name)})


def _figures(run: Mapping[str, Any]) -> Iterator[SourceFigure]:
    """The figures of every metric, and how many test cases passed."""
    for entry in dicts(run["metricsScores"]):
        name, key = str(entry.get("metric")), key_of(str(entry.get("metric")))
        entry_scores = entry.get("scores")
        scores = [
            number
            for score in (entry_scores if isinstance(entry_scores, list) else [])
            if (number := as_number(score)) is not None
        ]
        if scores:
            mean = sum(scores) / len(scores)
            yield SourceFigure(name=f"{name} scores (their mean)", value=mean, scorer=key, metric="score")
        yield from _counts(entry, {"passes": "sum", "fails": "rest", "errors": "failed"}, key, f"{name} ")
    yield from _counts(run, {"testPassed": "sum", "testFailed": "rest"}, TEST_CASE, "")
    for name in ("runDuration", "evaluationCost"):
        if (number := as_number(run.get(name))) is not None:
            yield SourceFigure(name=name, value=number)


def _counts(entry: Mapping[str, Any], names: Mapping[str, Any], scorer: str, prefix: str) -> Iterator[SourceFigure]:
    for name, of in names.items():
        number = as_number(entry.get(name))
        if number is not None:
            yield SourceFigure(name=f"{prefix}{name}", value=number, scorer=scorer, metric="passed", of=of)
