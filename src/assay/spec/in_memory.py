"""Tasks built by programs: bound like tasks from files, identified by their content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from assay.registry import Registry
from assay.spec.bound import LoadedDataset, LoadedMetric, LoadedScorer, LoadedTask
from assay.spec.document import Document
from assay.spec.environment import environment_of
from assay.spec.fields import MetricSpec, ScorerSpec, SourceSpec
from assay.spec.task import Definition, Task

_SOURCE = "inline_samples"


def task_in_memory(
    name: str,
    samples: Sequence[Mapping[str, Any]],
    scorer: ScorerSpec,
    settings: Mapping[str, Any],
    registry: Registry,
    *,
    root: Path,
) -> LoadedTask:
    """A task of recorded samples and one scorer; `settings` are those of the scorer as they may be stored.

    The name is any text, where a file's key is not: it is never part of a path.
    """
    source = registry.sources[_SOURCE]
    dataset = LoadedDataset(
        key=name,
        kind=source,
        # samples that are built here need not be validated one by one
        settings=cast("SourceSpec", source.settings.model_construct(type=_SOURCE, samples=list(samples))),
        folder=root,
        place=None,
        written={"type": _SOURCE},
    )
    entries = scorer.default_metrics() if scorer.metrics is None else scorer.metrics
    bound = LoadedScorer(
        key=scorer.key or scorer.type,
        kind=registry.scorers[scorer.type],
        settings=scorer,
        metrics=tuple(_metric(entry, registry) for entry in entries),
        place=None,
    )
    definition = {"dataset": dataset.written, "scorers": [{**settings, "metrics": entries}]}
    resolved = {"key": name, "display_name": name, "definition": definition}
    return LoadedTask(
        task=Task.model_construct(key=name, display_name=name, description="", definition=Definition()),
        document=Document(
            path=root / name,
            root=root,
            data=resolved,
            positions={},
            sources={},
            environment=environment_of(root),
        ),
        dataset=dataset,
        solver=None,
        scorers=(bound,),
        config={},
        resolved=resolved,
    )


def _metric(entry: Mapping[str, Any], registry: Registry) -> LoadedMetric:
    kind = registry.metrics[entry["type"]]
    return LoadedMetric(
        key=str(entry.get("key", kind.name)),
        kind=kind,
        settings=cast("MetricSpec", kind.settings.model_validate(entry)),
    )
