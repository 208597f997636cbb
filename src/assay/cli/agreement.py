"""`assay agreement`."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import FILE, find_store, json_option, open_runs, store_option
from assay.cli.output import console, print_json
from assay.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.analysis.panels import Totals
    from assay.analysis.scale import Scale, ScaleKind, Votes
    from assay.analysis.votes import Ballot
    from assay.results.agreement import Values


@click.command("agreement")
@click.argument("run", required=False)
@click.option(
    "--votes", type=FILE, metavar="FILE", help="Read votes from a CSV or JSONL file: item, judge, label[, criterion]."
)
@click.option(
    "--labels", type=FILE, metavar="FILE", help="Human labels, CSV or JSONL: sample_id, label[, annotator, criterion]."
)
@click.option("--truth", metavar="JUDGE", help="The judge in --votes whose labels are the ground truth.")
@click.option("--rubric", type=FILE, metavar="FILE", help="A rubric that declares the scales of the criteria.")
@click.option(
    "--scale",
    type=click.Choice(["nominal", "ordinal"]),
    help="How to read the labels in --votes: as names, or as numbers on a scale.  [default: nominal]",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Random seed for the intervals.")
@click.option(
    "--pair-intervals",
    is_flag=True,
    help="Compute the intervals for every pair of judges, and for the panel without each judge, even with more than "
    "10 judges.",
)
@store_option
@json_option
def command(
    run: str | None,
    *,
    votes: Path | None,
    labels: Path | None,
    truth: str | None,
    rubric: Path | None,
    scale: ScaleKind | None,
    seed: int,
    pair_intervals: bool,
    store: str | None,
    as_json: bool,
) -> None:
    """Measure how well judges agree with the ground truth and with each other.

    Reads the votes of the rubric and label judges in RUN (default: the latest run that has any), or the votes in a
    table. The ground truth is the `ground_truth` of the task or of the graded dataset, or a table of human labels, or
    the labels that `assay view --label` and `assay import` have put into the store. An empty label is an abstention.

    \b
    Examples:
      assay agreement                                 the judges of the latest run
      assay agreement 3f2a --labels people.csv        compare the judges with human labels
      assay agreement --votes votes.csv               compare people with people; needs no run
      assay agreement --votes votes.csv --truth expert
    """
    from assay.analysis.agreement import agreement
    from assay.analysis.scale import Intervals

    if votes is not None and run is not None:
        raise click.UsageError("give a RUN or --votes, not both")
    if votes is None and (truth is not None or scale is not None):
        raise click.UsageError("--truth and --scale need --votes")
    if truth is not None and labels is not None:
        raise click.UsageError("give --truth or --labels, not both")
    source = _of_table(votes, truth, labels) if votes is not None else _of_run(run, store, labels)
    declared = source.declared if rubric is None else {**source.declared, **_declared(rubric)}
    kind: ScaleKind | None = "nominal" if votes is not None and scale is None else scale
    scaled, undeclared = _on_scales(source.ballots, declared, kind)
    notes = list(source.notes)
    if undeclared and votes is None:
        notes.append(f"the scale of {', '.join(undeclared)} is taken from the votes; --rubric FILE declares it")
    notes += _lacking(scaled, "--truth JUDGE" if votes is not None else "`ground_truth` in the task's scorer")
    with _progress(len(scaled)) as on_criterion:
        result = agreement(
            scaled,
            scores=source.scores,
            totals=source.totals,
            notes=notes,
            measure=Intervals(seed, of_pairs=pair_intervals),
            on_criterion=on_criterion,
        )
    if as_json:
        print_json({**({} if source.run is None else {"run": source.run}), **result.to_dict()})
        return
    from assay.report.agreement import agreement_table

    terminal = console()
    if source.run is not None:
        terminal.print(f"run {source.run}\n")
    terminal.print(agreement_table(result))


@contextmanager
def _progress(criteria: int) -> Iterator[Callable[[str], None]]:
    """Show on a terminal which criterion is being computed; the line disappears with the result."""
    if not sys.stderr.isatty():
        yield lambda _name: None
        return
    from rich.console import Console

    started: list[str] = []
    with Console(stderr=True).status("reading votes") as status:

        def on_criterion(name: str) -> None:
            started.append(name)
            status.update(f"agreement: {clean(name, width=40)} ({min(len(started), criteria)} of {criteria})")

        yield on_criterion


@dataclass(frozen=True, slots=True, kw_only=True)
class _VoteSource:
    """Votes with their run, their declared scales and the total scores."""

    ballots: list[Ballot]
    run: str | None = None
    declared: Mapping[str, Scale] = field(default_factory=dict)
    scores: Mapping[str, Values] = field(default_factory=dict)
    totals: Totals | None = None
    notes: Sequence[str] = ()


def _of_table(path: Path, truth: str | None, labels: Path | None) -> _VoteSource:
    from assay.analysis.votes import add_labels, ballots_from_table

    ballots = ballots_from_table(path, truth)
    return _VoteSource(ballots=ballots, notes=[] if labels is None else add_labels(ballots, labels))


def _of_run(run: str | None, location: str | None, labels: Path | None) -> _VoteSource:
    from assay.analysis.calibrate import refuse_other_answers
    from assay.analysis.run_votes import latest_judged, votes_of_run
    from assay.analysis.stored_labels import add_stored_labels
    from assay.analysis.votes import add_labels

    if run is None:
        store = find_store(location)
        record = latest_judged(store)
    else:
        store, [record] = open_runs(location, run)
    voted = votes_of_run(store, record)
    if labels is not None:
        notes = add_labels(voted.ballots, labels, failed=voted.failed)
        refuse_other_answers(store, record, labels)
    else:
        notes = add_stored_labels(store, record, voted.ballots)
    # these scores refer to the task's own ground truth, not to the labels in the file
    scores = voted.scores if labels is None else {}
    return _VoteSource(
        ballots=voted.ballots, run=record.id, declared=voted.scales, scores=scores, totals=voted.totals, notes=notes
    )


def _lacking(votes: Sequence[Votes], other: str) -> list[str]:
    """Explain what is missing if nothing can be compared."""
    if any((scaled.truth >= 0).any() for scaled in votes) or any(len(scaled.judges) > 1 for scaled in votes):
        return []
    return [f"there is only one judge and no ground truth, so nothing can be compared: give --labels FILE, or {other}"]


def _declared(path: Path) -> Mapping[str, Scale]:
    from assay.analysis.votes import scales_from_file

    return scales_from_file(path)


def _on_scales(
    ballots: Sequence[Ballot], declared: Mapping[str, Scale], kind: ScaleKind | None
) -> tuple[list[Votes], list[str]]:
    """Return the votes as codes, and the criteria whose scale is not declared."""
    from assay.analysis.votes import scale_from_votes

    scaled, undeclared = [], []
    for ballot in ballots:
        scale = declared.get(ballot.name)
        if scale is None:
            scale = scale_from_votes(ballot, kind)
            undeclared += [] if ballot.binary else [ballot.name]
        scaled.append(ballot.votes(scale))
    return scaled, undeclared
