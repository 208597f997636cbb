"""System tasks: evidence gathered by the user's code instead of a model's answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.dataset.batch import Batch
from assay.engine.conclude import keep
from assay.engine.permission import CodeOptions, sandbox_for
from assay.errors import RunError
from assay.registry import Kind
from assay.spec import LoadedDataset, LoadedTask
from assay.spec.fields import SourceSpec
from assay.spec.words import described
from assay.stats.interval import no_interval
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.types import MetricReport, MetricResult, MetricValue, RunReport, ScorerReport

if TYPE_CHECKING:
    from assay.spec.code import EvidenceCode

EVIDENCE = "evidence"
NO_INTERVAL = "no interval for evidence of a system task"


class NoSource(SourceSpec):
    """No samples at all."""

    type: Literal["none"] = "none"


def _nothing(settings: NoSource, folder: Path, root: Path | None = None) -> Iterator[Batch]:
    return iter(())


def no_dataset(loaded: LoadedTask) -> LoadedDataset:
    """The dataset of a task that has none."""
    return LoadedDataset(
        key="none",
        kind=Kind(settings=NoSource, function=_nothing),
        settings=NoSource(),
        folder=loaded.document.path.parent,
        place=None,
        written={},
    )


def gather(loaded: LoadedTask, store: Store, record: RunRecord, options: CodeOptions) -> RunReport:
    """Run the code of a system task and keep what it says; a RunError when it fails."""
    code = loaded.evidence
    assert code is not None
    values = _values(_called(code, options))
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


def _called(code: EvidenceCode, options: CodeOptions) -> Any:
    from assay.sandbox.program import Broke, Program

    with sandbox_for([code], options) as sandbox:
        assert sandbox is not None
        result = sandbox.call(Program.of(code, "plain", network=True), [])
    if isinstance(result, Broke):
        raise RunError(f"no evidence: {result.detail}")
    return result.value


def _values(given: Any) -> dict[str, MetricValue]:
    metrics = given.get("metrics") if isinstance(given, dict) else None
    if not isinstance(metrics, dict) or not metrics:
        wanted = '{"metrics": {name: {"value": number}}}'
        raise RunError(f"no evidence: compute_evidence gave {described(given)}, not {wanted} with a metric in it")
    return {name: _value(name, entry) for name, entry in metrics.items()}


def _value(name: str, entry: Any) -> MetricValue:
    """A number with its reason; what is none is undefined."""
    said: Mapping[str, Any] = entry if isinstance(entry, dict) else {"value": entry}
    value, reason = said.get("value"), said.get("reason")
    if isinstance(value, int | float) and math.isfinite(value):
        interval = no_interval(NO_INTERVAL if reason is None else str(reason))
        return MetricValue(value=float(value), n=0, interval=interval, reason=None if reason is None else str(reason))
    return MetricValue(value=None, n=0, reason=f"the code gave {described(value)}" if reason is None else str(reason))
