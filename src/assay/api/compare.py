"""Comparisons of finished runs, for programs."""

from __future__ import annotations

from collections.abc import Sequence

from assay.analysis.compare import CompareOptions, compare_runs
from assay.api.result import Result
from assay.api.stored import find, read_project_store
from assay.results.comparison import Comparison
from assay.spec import arguments

RUN_ARGUMENT = ("the name of a run or a result", lambda value: isinstance(value, str | Result))


@arguments.arguments_checked(
    {
        "baseline": RUN_ARGUMENT,
        "others": RUN_ARGUMENT,
        "metric": arguments.TEXT_OR_TEXTS,
        "margin": arguments.NOT_NEGATIVE,
        "level": arguments.LEVEL,
        "store": arguments.TEXT,
        "lower_is_better": arguments.TEXT_OR_TEXTS,
        "ignored": arguments.TEXT_OR_TEXTS,
        "all_pairs": arguments.FLAG,
    }
)
def compare(
    baseline: str | Result,
    *others: str | Result,
    metric: str | Sequence[str] = (),
    margin: float | None = None,
    level: float = 0.95,
    store: str | None = None,
    lower_is_better: str | Sequence[str] = (),
    ignored: str | Sequence[str] = (),
    all_pairs: bool = False,
) -> Comparison:
    """Compare runs with a baseline, sample by sample; the same as `assay compare`.

    Runs are named as on the command line, by the files of run archives, or given as results. `lower_is_better` names
    metrics of which less is better, `ignored` columns that may differ between the samples. `all_pairs` compares every
    run with every other one.
    """
    options = CompareOptions(
        metrics=_names(metric),
        margin=margin,
        level=level,
        lower_is_better=_names(lower_is_better),
        ignored=_names(ignored),
        all_pairs=all_pairs,
    )
    runs = (baseline, *others)
    locations = [run.location for run in runs if not isinstance(run, str)]
    names = [run if isinstance(run, str) else run.run for run in runs]
    opened = read_project_store(store or (locations[0] if locations else None), names)
    try:
        return compare_runs(opened, [find(opened, name) for name in names], options)
    finally:
        opened.close()


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
