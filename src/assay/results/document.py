"""Conversion between a run's results and their JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from assay.results.run import MetricReport, RunReport, ScorerReport
from assay.store.decoder import Sample
from assay.types import Interval, MetricResult, MetricValue, Spending, Usage


def value_document(value: MetricValue) -> dict[str, Any]:
    """Return one value as JSON: its value, bounds, level and method, and `reason` if it is undefined."""
    document: dict[str, Any] = {"value": value.value}
    interval = value.interval
    document["low"] = interval.low if interval else None
    document["high"] = interval.high if interval else None
    if interval:
        document |= {"level": interval.level, "method": interval.method}
        extras = {
            "standard_error": interval.standard_error,
            "n_effective": interval.n_effective,
            "clusters": interval.clusters,
            "caveat": interval.caveat,
        }
        document |= {name: extra for name, extra in extras.items() if extra is not None}
    document["n"] = value.n
    if value.reason is not None:
        document["reason"] = value.reason
    return document


def value_from(document: Mapping[str, Any]) -> MetricValue:
    """Read a value that `value_document` wrote."""
    interval = None
    if "method" in document:
        interval = Interval(
            low=document["low"],
            high=document["high"],
            method=document["method"],
            level=document["level"],
            n_effective=document.get("n_effective"),
            clusters=document.get("clusters"),
            caveat=document.get("caveat"),
            standard_error=document.get("standard_error"),
        )
    return MetricValue(value=document["value"], n=document["n"], interval=interval, reason=document.get("reason"))


def metric_document(result: MetricResult) -> dict[str, Any]:
    """The values, details and groups of one metric."""
    document: dict[str, Any] = {
        "values": {name: value_document(value) for name, value in result.values.items()},
        "detail": {**result.detail, "n_excluded": result.n_excluded},
    }
    if result.groups is not None:
        document["groups"] = {
            group: {name: value_document(value) for name, value in values.items()}
            for group, values in result.groups.items()
        }
    return document


def metric_from(document: Mapping[str, Any]) -> MetricResult:
    """The result that `metric_document` wrote."""
    detail = dict(document["detail"])
    n_excluded = detail.pop("n_excluded")
    groups = document.get("groups")
    return MetricResult(
        values={name: value_from(value) for name, value in document["values"].items()},
        detail=detail,
        n_excluded=n_excluded,
        groups=None
        if groups is None
        else {g: {name: value_from(value) for name, value in values.items()} for g, values in groups.items()},
    )


def summary_document(report: RunReport) -> dict[str, Any]:
    """Return everything about a run except its metrics, as stored beside them."""
    return {
        "display_name": report.display_name,
        "trials": report.trials,
        "n_samples": report.n_samples,
        **({} if report.n_sources is None else {"n_sources": report.n_sources}),
        "n_failed": report.n_failed,
        "n_cached": report.n_cached,
        **({"reused_from": list(report.reused_from)} if report.reused_from else {}),
        "scorers": [_scorer_document(scorer) for scorer in report.scorers],
        "usage": {
            "prompt_tokens": report.usage.prompt_tokens,
            "completion_tokens": report.usage.completion_tokens,
        },
        "cost_usd": None if report.cost_usd is None else float(report.cost_usd),
        "spending": [spending_document(spent) for spent in report.spending],
        "failures": dict(report.failures),
        **({"excluded": dict(report.excluded)} if report.excluded else {}),
        **({"n_cut": report.n_cut} if report.n_cut else {}),
        **({"first_failure": report.first_failure} if report.first_failure is not None else {}),
    }


def spending_document(spent: Spending) -> dict[str, Any]:
    """Return the spending on one model for one purpose; money as text, exactly."""
    return {
        "model": spent.model,
        "purpose": spent.purpose,
        "n_calls": spent.n_calls,
        "prompt_tokens": spent.usage.prompt_tokens,
        "completion_tokens": spent.usage.completion_tokens,
        "cost_usd": None if spent.cost_usd is None else str(spent.cost_usd),
        **({"n_usage_missing": spent.n_usage_missing} if spent.n_usage_missing else {}),
    }


def _spending_from(document: Mapping[str, Any]) -> Spending:
    cost = document["cost_usd"]
    return Spending(
        model=document["model"],
        purpose=document["purpose"],
        n_calls=document["n_calls"],
        usage=Usage(prompt_tokens=document["prompt_tokens"], completion_tokens=document["completion_tokens"]),
        cost_usd=None if cost is None else Decimal(cost),
        n_usage_missing=document.get("n_usage_missing", 0),
    )


def _scorer_document(scorer: ScorerReport) -> dict[str, Any]:
    document: dict[str, Any] = {
        "key": scorer.key,
        "type": scorer.type,
        "display_name": scorer.display_name,
        "purpose": scorer.purpose,
        "n_scored": scorer.n_scored,
        "n_failed": scorer.n_failed,
        "n_excluded": scorer.n_excluded,
    }
    if scorer.detail is not None:
        document["detail"] = scorer.detail
    names = {metric.key: metric.display_name for metric in scorer.metrics if metric.display_name is not None}
    if names:
        document["metric_names"] = names
    return document


def _scorer_from(document: Mapping[str, Any], metrics: tuple[MetricReport, ...]) -> ScorerReport:
    fields = dict(document)
    names = fields.pop("metric_names", {})
    named = tuple(replace(metric, display_name=names.get(metric.key)) for metric in metrics)
    return ScorerReport(**fields, metrics=named)


def _metric_entry(metric: MetricReport) -> dict[str, Any]:
    name = {} if metric.display_name is None else {"display_name": metric.display_name}
    return {"key": metric.key, "type": metric.type, **name, **metric_document(metric.result)}


def run_document(report: RunReport) -> dict[str, Any]:
    """The object that `--json` prints for a run."""
    summary = summary_document(report)
    scorers = [
        {
            **{name: value for name, value in document.items() if name != "metric_names"},
            "metrics": [_metric_entry(metric) for metric in scorer.metrics],
        }
        for document, scorer in zip(summary.pop("scorers"), report.scorers, strict=True)
    ]
    head = {"run": report.run, "status": report.status, "task": report.task, "model": report.model}
    return {**head, **summary, "scorers": scorers}


def report_from(
    head: Mapping[str, Any], summary: Mapping[str, Any], metrics: Mapping[str, tuple[MetricReport, ...]]
) -> RunReport:
    """The report of a stored run: its head, its summary, and its metrics by scorer."""
    return RunReport(
        run=head["run"],
        status=head["status"],
        task=head["task"],
        model=head["model"],
        display_name=summary["display_name"],
        trials=summary["trials"],
        n_samples=summary["n_samples"],
        n_sources=summary.get("n_sources"),
        n_failed=summary["n_failed"],
        n_cached=summary["n_cached"],
        reused_from=tuple(summary.get("reused_from", ())),
        scorers=tuple(_scorer_from(scorer, metrics.get(scorer["key"], ())) for scorer in summary["scorers"]),
        failures=summary["failures"],
        excluded=summary.get("excluded", {}),
        n_cut=summary.get("n_cut", 0),
        first_failure=summary.get("first_failure"),
        spending=tuple(_spending_from(spent) for spent in summary["spending"]),
    )


def sample_document(sample: Sample) -> dict[str, Any]:
    """The object that `assay samples --json` prints."""
    document: dict[str, Any] = {
        "sample_id": sample.sample_id,
        "trial": sample.trial,
        "sample": sample.sample,
        "output": sample.output,
    }
    if sample.trace is not None:
        document["trace"] = sample.trace
    if sample.calls:
        document["calls"] = sample.calls
    if sample.excluded_by:
        document["excluded_by"] = list(sample.excluded_by)
    document["scores"] = {
        key: {"values": score.values, "metadata": score.metadata} for key, score in sample.scores.items()
    }
    document["failures"] = [
        {
            "scorer": scorer,
            "stage": failure.stage,
            "kind": failure.kind,
            "detail": failure.detail,
            "retryable": failure.retryable,
        }
        for scorer, failure in sample.failures.items()
    ]
    return document
