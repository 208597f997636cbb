"""Experiments of AutoRubric: a folder with manifest.json and items.jsonl, every vote of every judge in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.datasets.json_document import as_json, dicts, mapping, wrong
from assay.interop.imported_values import Imported, ImportedSample, SourceFigure, failed
from assay.interop.numbers import as_number
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.total import Scoring, total
from assay.judging.verdicts import Verdict, chosen
from assay.types import Outcome, Score, ScoreValue

FORMAT = "autorubric"
SCORER = "rubric"
_ABSTAINED = "CANNOT_ASSESS"
_BY_AGREEMENT = (
    "score_rmse",
    "score_mae",
    "score_pearson",
    "score_spearman",
    "score_kendall",
    "bias",
    "macro_accuracy",
)
"""The figures of `metrics.json` that `assay agreement` computes from the imported scores and the ground truth."""
_INNER = {"bias": "mean_bias"}
"""The field with the figure, if it is an object rather than a coefficient."""


def read_autorubric(folder: Path, dataset: Path | None = None) -> Imported:
    """Read the graded items; submissions and human verdicts come from the dataset's file, if given."""
    manifest_path, items_path = folder / "manifest.json", folder / "items.jsonl"
    manifest = mapping(manifest_path, as_json(manifest_path, manifest_path.read_bytes()), "the manifest")
    if not items_path.is_file():
        raise wrong(items_path, "the experiment has no items.jsonl: nothing was graded")
    dataset_content = _dataset(dataset)
    rows: dict[int, dict[str, Any]] = {}
    for number, line in enumerate(items_path.read_bytes().splitlines(), start=1):
        if line.strip():
            row = mapping(items_path, as_json(items_path, line, line=number), "an item", number)
            if not isinstance(row.get("item_idx"), int):
                raise wrong(items_path, 'an item without "item_idx"', number)
            # an item that was graded again after a failure appears twice: the last one counts
            rows[row["item_idx"]] = row
    status = str(manifest.get("status") or "running")
    expected = manifest.get("total_items")
    missing = expected - len(rows) if isinstance(expected, int) else 0
    notes = [f"{missing:,} items of the experiment were never graded"] if missing > 0 else []
    return Imported(
        format=FORMAT,
        task=str(manifest.get("dataset_name") or manifest.get("experiment_name") or folder.name),
        model=None,
        samples=[_sample(row, dataset_content) for _, row in sorted(rows.items())],
        rubric=_rubric(rows.values()),
        partial=status != "completed" or missing > 0,
        notes=tuple(notes),
        figures=_figures(folder, with_truth=bool(dataset_content)),
    )


def _figures(folder: Path, *, with_truth: bool) -> tuple[SourceFigure, ...] | None:
    """The figures of `metrics.json`, which AutoRubric writes by `MetricsResult.to_file`; None without such a file.

    They compare votes with the ground truth, which `assay agreement` does where the dataset is given.
    """
    path = folder / "metrics.json"
    if not path.is_file():
        return None
    metrics = mapping(path, as_json(path, path.read_bytes()), "the metrics")
    command = "assay agreement RUN"
    figures = []
    for name, entry in metrics.items():
        inner = entry.get(_INNER.get(name, "coefficient")) if isinstance(entry, dict) else entry
        number = None if isinstance(inner, bool) or name.startswith("n_") else as_number(inner)
        if number is not None:
            computable = with_truth and name in _BY_AGREEMENT
            figures.append(SourceFigure(name=name, value=number, command=command if computable else None))
        elif name in ("per_criterion", "per_judge") and entry:
            figures.append(SourceFigure(name=name, value=math.nan))
    return tuple(figures)


def _dataset(path: Path | None) -> Mapping[str, Any]:
    if path is None:
        return {}
    if not path.is_file():
        raise wrong(path, "there is no such file")
    return mapping(path, as_json(path, path.read_bytes()), "a dataset")


def _reports(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    report = row.get("report")
    return dicts(report.get("criterion_reports")) if isinstance(report, dict) else []


def _criterion(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The criterion of a report: a field of a panel's, the report itself of a single judge's."""
    inner = report.get("criterion")
    return inner if isinstance(inner, dict) else report


def _names(reports: Sequence[Mapping[str, Any]]) -> list[str]:
    names = [str(_criterion(report).get("name") or f"criterion_{i}") for i, report in enumerate(reports, start=1)]
    return [f"{name}_criterion" if name in ("score", "raw_score", "coverage") else name for name in names]


def _rubric(rows: Any) -> list[dict[str, Any]] | None:
    """Return the criteria shared by all items; None if items have rubrics of their own."""
    fields = ("name", "requirement", "weight", "options", "scale_type")
    rubrics = [
        [
            {name: _criterion(report)[name] for name in fields if _criterion(report).get(name) is not None}
            for report in reports
        ]
        for row in rows
        if (reports := _reports(row))
    ]
    return rubrics[0] if rubrics and all(rubric == rubrics[0] for rubric in rubrics) else None


def _sample(row: Mapping[str, Any], dataset_content: Mapping[str, Any]) -> ImportedSample:
    place = row["item_idx"]
    items = dataset_content.get("items") or []
    item = items[place] if isinstance(items, list) and place < len(items) and isinstance(items[place], dict) else {}
    prompt = item.get("prompt") or dataset_content.get("prompt")
    sample = {
        "item": place,
        **{k: item[k] for k in ("description",) if k in item},
        **({"prompt": prompt} if prompt else {}),
    }
    submission = item.get("submission")
    return ImportedSample(
        sample_id=str(place),
        sample=sample,
        output=submission if isinstance(submission, str) else None,
        outcomes={SCORER: _with_truth(_outcome(row, item.get("ground_truth")), row, item.get("ground_truth"))},
    )


def _with_truth(outcome: Outcome, row: Mapping[str, Any], truth: Any) -> Outcome:
    """Add the score of the ground truth, by the same rubric."""
    reports = _reports(row)
    if not isinstance(outcome, Score) or not isinstance(truth, list) or len(truth) != len(reports):
        return outcome
    names = ("name", "requirement", "weight", "options", "scale_type")
    try:
        criteria = [
            Criterion.model_validate(
                {name: value for name in names if (value := _criterion(report).get(name)) is not None}
            )
            for report in reports
        ]
        verdicts: list[Verdict] = [
            CriterionVerdict(label)
            if criterion.options is None
            else chosen(criterion, criterion.find_option_by_label(str(label)))
            for criterion, label in zip(criteria, truth, strict=True)
        ]
    except ValueError:
        # a rubric or a label that is none here: the votes are read all the same
        return outcome
    score = total(criteria, verdicts, Scoring()).score
    return outcome if score is None else replace(outcome, values={**outcome.values, "truth_score": score})


def _outcome(row: Mapping[str, Any], truth: Any) -> Outcome:
    content = row.get("report")
    report: dict[str, Any] = content if isinstance(content, dict) else {}
    error = row.get("error") or report.get("error")
    if error:
        return failed(str(error))
    score = as_number(report.get("score"))
    reports = _reports(row)
    if all(report.get("error") for report in reports) and reports:
        return failed(str(reports[0]["error"]))
    if score is None:
        return failed("the item has no score", "abstained")
    values: dict[str, ScoreValue] = {"score": score}
    metadata: dict[str, Any] = {"votes": {}}
    for place, (name, criterion_report) in enumerate(zip(_names(reports), reports, strict=True)):
        metadata["votes"][name] = _votes(criterion_report)
        label, number = _verdict(criterion_report)
        metadata[f"{name}_label"] = label
        if number is not None and not criterion_report.get("error"):
            values[name] = number
        if isinstance(truth, list) and place < len(truth):
            metadata[f"{name}_truth"] = None if truth[place] == _ABSTAINED else truth[place]
    scores = report.get("judge_scores")
    if isinstance(scores, dict):
        metadata["judge_scores"] = {str(judge): number for judge, number in scores.items()}
    return Score(scorer=SCORER, values=values, metadata=metadata)


def _verdict(report: Mapping[str, Any]) -> tuple[str | None, float | None]:
    """Return the label and the value of a criterion's verdict; an abstention has no value."""
    plain = report.get("final_verdict", report.get("verdict"))
    if isinstance(plain, str):
        return plain, None if plain == _ABSTAINED else 1.0 if plain == "MET" else 0.0
    option = report.get("final_multi_choice_verdict") or report.get("multi_choice_verdict")
    if not isinstance(option, dict):
        return None, None
    return option.get("selected_label"), None if option.get("na") else as_number(option.get("value"))


def _votes(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    cast = [*dicts(report.get("votes")), *dicts(report.get("multi_choice_votes"))]
    if not cast:
        cast = [
            {
                "judge_id": "judge",
                **{k: report.get(k) for k in ("verdict", "error", "reason")},
                **(option if isinstance(option := report.get("multi_choice_verdict"), dict) else {}),
            }
        ]
    vote_fields = (
        "judge_id",
        "verdict",
        "selected_index",
        "selected_label",
        "value",
        "na",
        "weight",
        "reason",
        "error",
    )
    return [
        {
            **{name: vote[name] for name in vote_fields if vote.get(name) is not None},
            **({"superseded": True} if vote.get("superseded") is True else {}),
        }
        for vote in cast
        if isinstance(vote, dict)
    ]
