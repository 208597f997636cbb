"""From a plan to the description of its run: what the store keeps so that the run explains itself later."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.registry import BaseKind, Registry
from assay.spec import LoadedScorer, LoadedTask
from assay.store.run_spec import Provenance, RunSpec, StoredMetric, StoredModel, StoredScorer, provenance

if TYPE_CHECKING:
    from assay.models.connect import Connection

_PACKAGES = ("numpy", "scipy", "sacrebleu")
"""The packages whose version may change a metric."""
_GIT_S = 5.0


def stored_scorers(loaded: LoadedTask) -> tuple[StoredScorer, ...]:
    """Every scorer of a task with its settings, declared ranges and fields, and its metrics."""
    nodes = (loaded.resolved.get("definition") or {}).get("scorers") or []
    if len(nodes) != len(loaded.scorers):
        nodes = [{} for _ in loaded.scorers]
    return tuple(_stored_scorer(scorer, node) for scorer, node in zip(loaded.scorers, nodes, strict=True))


def _stored_scorer(scorer: LoadedScorer, node: Mapping[str, Any]) -> StoredScorer:
    kind, content = scorer.kind, scorer.settings.content()
    entries = node.get("metrics")
    metric_nodes = entries if isinstance(entries, list) else scorer.settings.default_metrics()
    if len(metric_nodes) != len(scorer.metrics):
        metric_nodes = [{} for _ in scorer.metrics]
    # as the file has them: validated settings may hold secrets that the file names by variable
    settings = {**defaults(kind.settings), **node}
    return StoredScorer(
        key=scorer.key,
        type=kind.name,
        settings={name: value for name, value in settings.items() if name not in ("metrics", "key", "purpose")},
        purpose=scorer.settings.purpose,
        ranges=scorer.ranges,
        fields=None if kind.values is None else (*kind.values, *kind.metadata),
        metrics=tuple(
            StoredMetric(
                key=metric.key,
                type=metric.kind.name,
                settings={**defaults(metric.kind.settings), **entry},
                code=_code(metric.kind),
            )
            for metric, entry in zip(scorer.metrics, metric_nodes, strict=True)
        ),
        rubrics=() if content is None else (content,),
        content=scorer.settings.content_digest(),
        code=_code(kind),
    )


def _code(kind: BaseKind) -> str | None:
    """Return the identity of a kind's code: the digest of its plug-in, or the version of a built-in."""
    # first versions say nothing, so that their runs keep their identity
    return kind.code or (str(kind.version) if kind.version > 1 else None)


def defaults(settings: type[Any]) -> dict[str, Any]:
    """Return the default settings that apply where a file is silent, without required and empty ones."""
    values = {
        name: field.get_default(call_default_factory=True, validated_data={})
        for name, field in settings.model_fields.items()
        if not field.is_required()
    }
    return {name: value for name, value in values.items() if value is not None}


def completed(spec: RunSpec, registry: Registry) -> RunSpec:
    """A spec that states its defaults, ranges and metrics: one of version 0 takes them from the kinds of today."""
    if spec.version > 0:
        return spec
    return replace(spec, scorers=tuple(_completed_scorer(scorer, registry) for scorer in spec.scorers))


def _completed_scorer(scorer: StoredScorer, registry: Registry) -> StoredScorer:
    kind = registry.scorers.get(str(scorer.type))
    if kind is None:
        return scorer
    settings = {**defaults(kind.settings), **scorer.settings}
    metrics = scorer.metrics
    if not metrics:
        # not validated: its files may be gone, and the metrics it names depend on nothing that could be wrong
        constructed: Any = kind.settings.model_construct(**scorer.settings)
        entries = constructed.default_metrics()
        metrics = tuple(
            StoredMetric(key=str(entry.get("key", entry["type"])), type=str(entry["type"]), settings=entry)
            for entry in entries
        )
    return replace(scorer, settings=settings, metrics=metrics, ranges=scorer.ranges or dict(kind.ranges))


def stored_models(connections: Mapping[str | None, Connection]) -> dict[str, StoredModel]:
    """The models of a run by their keys; the one that answers under the empty key."""
    return {
        key or "": StoredModel(
            name=connection.name,
            identity=connection.identity,
            sampling={name: value for name, value in asdict(connection.sampling).items() if value is not None},
        )
        for key, connection in connections.items()
    }


def task_provenance(loaded: LoadedTask, **sources: Any) -> Provenance:
    """Return the provenance of a task's run: the source text, the commit of the project, the package versions."""
    commit, dirty = _git_state(loaded.document.root)
    return provenance(
        packages=_package_versions(),
        git_commit=commit,
        git_dirty=dirty,
        task_text=_task_text(loaded),
        **sources,
    )


def _task_text(loaded: LoadedTask) -> str | None:
    """Return the text of the task's own file; None for a run file, which may contain keys and models."""
    source = next(iter(loaded.document.sources.values()), None)
    data = loaded.document.data
    if source is None or not isinstance(data, Mapping) or "definition" not in data or "secrets" in data:
        return None
    return source.text if source.path == loaded.document.path else None


@lru_cache(maxsize=1)
def _package_versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def _git_state(root: Path) -> tuple[str | None, bool | None]:
    """The commit of the project and whether files differ from it; None outside a repository or without git."""
    if not any((folder / ".git").exists() for folder in (root, *root.parents)):
        return None, None
    # a repository may name programs to run on a status; none of them is started here
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", str(root)]
    command += ["status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_S, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None, None
    lines = done.stdout.splitlines()
    commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid ")), None)
    if commit is None or commit.startswith("("):
        return None, None
    return commit, any(not line.startswith("#") for line in lines)
