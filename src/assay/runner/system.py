"""System tasks: evidence gathered by the user's code instead of a model's answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.errors import RunError
from assay.prepare.permission import CodeOptions, sandbox_for
from assay.results.run import MetricReport, RunReport, ScorerReport
from assay.spec import LoadedTask
from assay.spec.messages import described
from assay.stats.interval import no_interval
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.summary.finish import keep
from assay.types import MetricResult, MetricValue

if TYPE_CHECKING:
    from assay.spec.code import EvidenceCode

EVIDENCE = "evidence"
NO_INTERVAL = "no interval for evidence of a system task"


def gather(loaded: LoadedTask, store: Store, record: RunRecord, options: CodeOptions) -> RunReport:
    """Run the code of a system task and store its result; raise a RunError if it fails."""
    code = loaded.evidence
    assert code is not None
    values = _values(_run_evidence_code(code, options))
    metric = MetricReport(key=EVIDENCE, type="system_task", result=MetricResult(values=values))
    scorer = ScorerReport(
        key=EVIDENCE,
        type="system_task",
        purpose="score",
        n_scored=0,
        n_failed=0,
        n_excluded=0,
        metrics=(metric,),
    )
    report = RunReport(
        run=record.id,
        status="completed",
        task=record.task,
        model=None,
        display_name=loaded.task.display_name,
        n_samples=0,
        n_failed=0,
        n_cached=0,
        scorers=(scorer,),
        failures={},
    )
    keep(store, record, report)
    return report


def _run_evidence_code(code: EvidenceCode, options: CodeOptions) -> Any:
    from assay.sandbox.program import CallFailed, Program

    with sandbox_for([code], options) as sandbox:
        assert sandbox is not None
        result = sandbox.call(Program.of(code, "plain", network=True), [])
    if isinstance(result, CallFailed):
        raise RunError(f"no evidence: {result.detail}")
    return result.value


def _values(evidence: Any) -> dict[str, MetricValue]:
    metrics = evidence.get("metrics") if isinstance(evidence, dict) else None
    if not isinstance(metrics, dict) or not metrics:
        expected = '{"metrics": {name: {"value": number}}}'
        raise RunError(f"no evidence: compute_evidence gave {described(evidence)}, not {expected} with a metric in it")
    return {name: _value(name, entry) for name, entry in metrics.items()}


def _value(name: str, entry: Any) -> MetricValue:
    """Return a number with its reason; anything else is undefined."""
    fields: Mapping[str, Any] = entry if isinstance(entry, dict) else {"value": entry}
    value, reason = fields.get("value"), fields.get("reason")
    if isinstance(value, int | float) and math.isfinite(value):
        interval = no_interval(NO_INTERVAL if reason is None else str(reason))
        return MetricValue(value=float(value), n=0, interval=interval, reason=None if reason is None else str(reason))
    return MetricValue(
        value=None, n=0, reason=f"the code returned {described(value)}" if reason is None else str(reason)
    )
