"""The provenance of a run: as JSON, in a few lines, and as a paragraph for a paper's appendix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from assay.report.evaluation import headline
from assay.results.run import RunReport
from assay.store.run_spec import StoredModel
from assay.store.runs import RunRecord
from assay.text import clean, counted, number
from assay.types import MetricValue

DIGEST_SHOWN = 12
_PATHS = ("file_path", "file", "path", "url", "key", "type")
"""The fields of a source that identify the samples, most specific first."""


def provenance_document(record: RunRecord, report: RunReport) -> dict[str, Any]:
    """Build the facts that a reader needs to understand or repeat a run."""
    spec, origin = record.spec, record.spec.provenance
    return {
        "name": record.name,
        "tags": list(record.tags),
        "kind": record.kind,
        "task": record.task,
        "file": record.file,
        "config": dict(spec.config),
        "models": {
            key or "answers": {"name": model.name, "sampling": dict(model.sampling), "identity": dict(model.identity)}
            for key, model in spec.models.items()
        },
        "dataset": {"path": _dataset_path(record), "sha256": spec.dataset.sha256, "source": dict(spec.dataset.source)},
        "cluster_by": _cluster_by(record),
        "seed": record.seed,
        "trials": spec.num_trials,
        "limit": spec.limit,
        "subsampling": spec.subsampling,
        "evaluation": record.evaluation,
        "specification": record.specification,
        "repeat": record.repeat,
        "source_run": origin.source_run,
        "tool": origin.tool,
        "assay": origin.assay,
        "packages": dict(origin.packages),
        "git_commit": origin.git_commit,
        "git_dirty": origin.git_dirty,
        "started_at": record.started_at,
        "finished_at": record.finished_at,
        "cost_usd": None if report.cost_usd is None else float(report.cost_usd),
    }


def _dataset_path(record: RunRecord) -> str | None:
    source = record.spec.dataset.source
    return next((str(source[field]) for field in _PATHS if source.get(field)), None)


def _cluster_by(record: RunRecord) -> list[str]:
    templates = (metric.settings.get("cluster_by") for scorer in record.spec.scorers for metric in scorer.metrics)
    return list(dict.fromkeys(str(template) for template in templates if template))


def provenance_lines(record: RunRecord, report: RunReport) -> RenderableType:
    """The provenance of a run in the lines below its table."""
    return Group(Text(""), *(Text(clean(line), style="dim") for line in _lines(record, report)))


def _lines(record: RunRecord, report: RunReport) -> Iterator[str]:
    spec, origin = record.spec, record.spec.provenance
    if record.name or record.tags:
        tags = f"tags {', '.join(record.tags)}" if record.tags else ""
        yield "; ".join(filter(None, (f"name {record.name}" if record.name else "", tags)))
    config = f", config {_pairs(spec.config)}" if spec.config else ""
    source = f", scored again from run {origin.source_run}" if origin.source_run else ""
    yield f"task {record.task} ({record.file}){config}{source}"
    if record.specification is not None:
        repeat = f", repeat {record.repeat + 1}" if record.repeat else ""
        yield f"specification {record.specification} of the evaluation {record.evaluation}{repeat}"
    yield from (f"model {_model(model)}" for model in spec.models.values())
    path = _dataset_path(record)
    if path is not None:
        yield f"dataset {path}" + (f", sha256 {spec.dataset.sha256[:DIGEST_SHOWN]}" if spec.dataset.sha256 else "")
    limit = "" if spec.limit is None else f", limit {spec.limit:,}"
    clusters = "".join(f", clusters by {template}" for template in _cluster_by(record))
    yield f"seed {record.seed}, {counted(spec.num_trials, 'trial')}{limit}{clusters}"
    times = f"{_time(record.started_at)} to {_time(record.finished_at)} UTC"
    yield f"{_software(record)}; {times}; {cost_words(record, report)}"


def citation(record: RunRecord, report: RunReport) -> str:
    """A paragraph for the appendix of a paper: what was run, on what, and what came out."""
    spec = record.spec
    answered = spec.models.get("")
    model = _model(answered) if answered is not None else record.model or "Recorded answers"
    judges = [_model(judge) for key, judge in spec.models.items() if key]
    config = f" ({_pairs(spec.config)})" if spec.config else ""
    path, digest = _dataset_path(record), spec.dataset.sha256
    dataset = "" if path is None else f" of {path}" + (f" (SHA-256 {digest})" if digest else "")
    trials = "" if spec.num_trials == 1 else f", each answered {spec.num_trials} times"
    if record.kind == "grade":
        # the texts were given to the program: there is no task file, and no dataset with a name
        digest = f" (SHA-256 {spec.dataset.sha256})" if spec.dataset.sha256 else ""
        subject = f'{counted(report.n_samples, "text")}{digest} of "{record.task}" {_was(report.n_samples)} graded'
    elif record.kind == "import":
        of_model = "" if answered is None and not record.model else f" of {model}"
        subject = (
            f"Results{of_model} on {counted(report.n_samples, 'sample')} of the task "
            f'"{report.display_name or record.task}"{trials}{"," if trials else ""} were imported'
            f"{dataset.replace(' of ', ' from ', 1)}"
        )
    else:
        subject = (
            f"{model} {_was(1 if answered is not None or record.model else 2)} evaluated on the task "
            f'"{report.display_name or record.task}"{config} over '
            f"{counted(report.n_samples, 'sample')}{dataset}{trials}"
        )
    # nothing that is imported was drawn here
    seed = "" if record.kind == "import" else f" seed {record.seed} and"
    sentences = [f"{subject}, with{seed} {_software(record)}"]
    if record.specification is not None:
        repeat = f", repeat {record.repeat + 1}" if record.repeat else ""
        sentences.append(f'This is "{record.specification}" of the evaluation "{record.evaluation}"{repeat}')
    if judges:
        sentences.append(f"Judged by {'; '.join(judges)}")
    columns = [template.strip("{} ") for template in _cluster_by(record)]
    if columns:
        sentences.append(f"Intervals allow for clusters by {', '.join(columns)}")
    sentences += [f"{label[:1].upper()}{label[1:]}: {_value(value)}" for label, value in headline(report)]
    if report.n_failed:
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(report.failures.items()))
        failures = f"{counted(report.n_failed, 'sample')} failed"
        if spec.num_trials > 1:
            # each of several trials fails by itself, and the kinds count the trials
            failures = f"{report.n_failed:,} of {counted(report.n_samples, 'sample')} had failed trials"
        sentences.append(f"{failures} ({kinds}); failures are not part of these values")
    name = f' "{record.name}"' if record.name else ""
    times = f"{_time(record.started_at)} to {_time(record.finished_at)} UTC"
    sentences.append(f"Run {record.id}{name}, {times}, {cost_words(record, report)}")
    return " ".join(f"{clean(sentence)}." for sentence in sentences)


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def _value(value: MetricValue) -> str:
    if value.value is None:
        return f"undefined ({value.reason or 'no reason is known'})"
    interval = value.interval
    if interval is None or interval.low is None or interval.high is None:
        return f"{number(value.value)} (n = {value.n:,})"
    bounds = f"{interval.level:.0%} CI {number(interval.low)} to {number(interval.high)}, {interval.method}"
    clusters = f", {interval.clusters:,} clusters" if interval.clusters else ""
    return f"{number(value.value)} ({bounds}, n = {value.n:,}{clusters})"


def _model(model: StoredModel) -> str:
    return model.name + (f" ({_pairs(model.sampling)})" if model.sampling else "")


def _pairs(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in settings.items())


def _software(record: RunRecord) -> str:
    origin = record.spec.provenance
    release = f"assay {origin.assay}" if origin.assay else "an unknown version of assay"
    if origin.git_commit is None:
        return release
    dirty = " with local changes" if origin.git_dirty else ""
    return f"{release}, commit {origin.git_commit[:DIGEST_SHOWN]}{dirty}"


def _time(moment: str | None) -> str:
    return "?" if moment is None else moment[:16].replace("T", " ")


def cost_words(record: RunRecord, report: RunReport) -> str:
    """Describe the cost of the run, or why it cost nothing."""
    if report.spending:
        return "cost unknown" if report.cost_usd is None else f"cost ${report.cost_usd:,.4f}"
    if not record.spec.models or record.kind == "import":
        return "no model calls"
    if report.n_cached or report.reused_from:
        earlier = f" of run {', '.join(report.reused_from)}" if report.reused_from else " of earlier runs"
        return f"no new model calls: the replies are those{earlier}"
    return "no model call succeeded" if report.n_failed else "no model calls"
