"""Calibrate a run's judge with human labels, and suggest samples for people to label."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.analysis.columns import RowIndex
from assay.analysis.label_targets import Target, label_targets
from assay.analysis.means import answer_columns, one_mean, sample_means
from assay.analysis.per_sample import RunSeries, Series, series_of
from assay.analysis.stored_labels import RunLabel, incomplete_draws, labels_of_run, random_labels
from assay.builtin import registry
from assay.errors import SpecError
from assay.interop.export import harmless
from assay.interop.numbers import number_in
from assay.interop.table_file import Refused, read_table
from assay.judging.option_key import option_key
from assay.results.calibration import Calibration
from assay.spec.nearest import listing, nearest
from assay.stats.calibration import LabelledScores, calibrate
from assay.stats.clusters import FloatArray, IntArray
from assay.stats.label_sampling import chances_to_label, drawn, origin_chance
from assay.stats.random import generator
from assay.store.decoder import Sample, read_samples
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.text import counted

CHANCE = "inclusion_probability"
CHANCE_DIGITS = 6
"""So many digits of a chance leave weights right to a millionth, and can be read."""
SHOWN = "sample."
"""Begins the columns of a sheet that show a sample."""
GROUPS = 10
"""Groups of a judge's scores, where these are many."""
CHOSEN = 0.01
"""Below this chance the labelled samples do not look like the others."""
SOMEBODY = ""


@dataclass(slots=True)
class HumanLabels:
    """The human labels of one criterion, or of the run's metric; `numbers` holds one value per sample and person."""

    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    chances: dict[str, float] = field(default_factory=dict)
    drawn: int = 0
    empty: int = 0
    evenly: bool = False

    def mean(self, sample_id: str) -> float:
        """The mean of the human labels of a sample."""
        numbers = self.numbers[sample_id].values()
        return sum(numbers) / len(numbers)


def judged_run(store: Store, record: RunRecord, metric: str | None) -> tuple[RunSeries, Series]:
    """A run and the metric to calibrate, with one value per sample."""
    measures = sample_means(store, record, registry())
    headline = [address for address, measure in measures.items() if measure.headline] or list(measures)
    if not measures:
        raise SpecError(f"run {record.id} has no mean that labels could correct")
    if metric is None and len(headline) > 1:
        raise SpecError(f"run {record.id} has several means; name one with --metric: {listing(headline)}")
    address = headline[0] if metric is None else one_mean(store, [record], measures, metric, use="read")
    run = series_of(store, record, {address: measures[address]})
    return run, run.series[address]


def calibrate_stored(
    store: Store, record: RunRecord, *, metric: str | None = None, level: float = 0.95
) -> tuple[Calibration, ...]:
    """Correct metrics of a run by the labels in the store: one metric, or every one that has labels drawn at random."""
    targets = label_targets(store, record)
    labels = labels_of_run(store, record, targets.values())
    labelled = {entry.label.target for entry in labels if entry.label.label is not None}
    if metric is not None:
        measures = sample_means(store, record, registry())
        address = one_mean(store, [record], measures, metric, use="read")
        measure = measures[address]
        chosen = [t for t in targets.values() if t.address == f"{measure.scorer}/{measure.fields[0]}"]
        if not chosen:
            raise SpecError(f"{address} is no metric that people can label: its samples have no number of their own")
        return (_by_stored(store, record, chosen[0], labels, address, level),)
    random = {entry.label.target for entry in labels if entry.label.probability is not None}
    chosen = [target for target in targets.values() if target.address in labelled & (random or labelled)]
    if not chosen:
        # the error of the first target says how labels come into the store
        chosen = list(targets.values())[:1]
    if not chosen:
        raise SpecError(f"run {record.id} has no mean that labels could correct")
    return tuple(_by_stored(store, record, target, labels, target.metric, level) for target in chosen)


def _by_stored(
    store: Store, record: RunRecord, target: Target, labels: Sequence[RunLabel], metric: str, level: float
) -> Calibration:
    run, series = judged_run(store, record, metric)
    incomplete = incomplete_draws(store, labels, target, record)
    drawn = random_labels(labels, target, record, incomplete)
    people = HumanLabels()
    for entry in drawn:
        people.drawn += 1
        text = entry.label.label
        if text is None:
            people.empty += 1
            continue
        bounds = _bounds(series, None)
        try:
            worth = _worth(text, {**series.measure.labels, **target.worth}, bounds)
        except ValueError as error:
            raise SpecError(f"a label of {entry.label.annotator} on {target.address}: {error}") from None
        people.numbers.setdefault(entry.sample_id, {})[entry.label.annotator] = worth
        assert entry.label.probability is not None
        people.chances[entry.sample_id] = entry.label.probability
    # the viewer draws every answer with the same chance, and what one person labels is the beginning of what another
    # does; a sheet of suggestions has the doubtful answers more often
    chances_of: dict[str, set[float]] = {}
    for entry in drawn:
        chances_of.setdefault(entry.label.annotator, set()).add(round(entry.label.probability or 0.0, CHANCE_DIGITS))
    people.evenly = all(len(chances) == 1 for chances in chances_of.values())
    found = _calibrated(run, series, None, people, level)
    left_out = sum(
        entry.label.target == target.address and entry.label.probability is None and entry.label.label is not None
        for entry in labels
    )
    notes = [f"labels left out: {reason}" for reason in incomplete.values()]
    if left_out:
        notes.append(f"{counted(left_out, 'label')} left out: a filter chose the answers")
    return replace(found, warnings=(*found.warnings, *notes)) if notes else found


def calibrate_run(
    store: Store, record: RunRecord, path: Path, *, metric: str | None = None, level: float = 0.95
) -> tuple[Calibration, ...]:
    """Correct the judge's metric by human labels: for the run, or for every labelled criterion."""
    run, series = judged_run(store, record, metric)
    by_criterion = read_labels(path, run.index(), series)
    refuse_other_answers(store, record, path)
    return tuple(_calibrated(run, series, name, labels, level) for name, labels in by_criterion.items())


def read_labels(path: Path, index: RowIndex, series: Series) -> dict[str | None, HumanLabels]:
    """The labels of a file by criterion; a SpecError with everything wrong with it."""
    by_criterion: dict[str | None, HumanLabels] = {}
    refused = Refused(path)
    for number, row in enumerate(read_table(path, ("sample_id", "label")), start=1):
        try:
            _add_label(by_criterion, row, index, series)
        except ValueError as wrong:
            refused.add(number, str(wrong))
    refused.check()
    if not any(labels.numbers for labels in by_criterion.values()):
        raise SpecError(f"{path} has no label yet")
    return by_criterion


def refuse_other_answers(store: Store, record: RunRecord, path: Path) -> None:
    """Raise a SpecError if the table shows other answers than the run: its labels do not apply."""
    rows = {_text(row["sample_id"]): row for row in read_table(path, ("sample_id", "label")) if _text(row["label"])}
    columns = {"output", *(f"{SHOWN}{name}" for name in answer_columns(record))}
    if not columns & {name for row in rows.values() for name in row}:
        return
    other: list[str] = []
    for entry in read_samples(store, record):
        row = rows.get(entry.sample_id) or rows.get(str(harmless(entry.sample_id)))
        if row is None or entry.trial:
            continue
        cells = _sheet_cells(entry)
        if any(_comparable(row[name]) != _comparable(cells.get(name)) for name in columns if name in row):
            other.append(entry.sample_id)
    if other:
        raise SpecError(
            f"{path} shows other answers than run {record.id} has, of {len(other):,} of {len(rows):,} labelled samples"
            f": {listing(other)}. Labels of those answers do not apply to these: name the run they were "
            "drawn from, or draw new ones with calibrate --suggest"
        )


def _sheet_cells(entry: Sample) -> dict[str, Any]:
    """Return the cells of a sample in the sheet of suggestions."""
    return {"output": entry.output, **{f"{SHOWN}{name}": value for name, value in entry.sample.items()}}


def _comparable(cell: Any) -> str | float:
    """Normalise a cell for comparison: spreadsheets change numbers, line ends and formula signs."""
    text = " ".join(_text(cell).removeprefix("'").split())
    number = number_in(text)
    return text if number is None else number


def _add_label(
    by_criterion: dict[str | None, HumanLabels], row: Mapping[str, Any], index: RowIndex, series: Series
) -> None:
    criterion = _text(row.get("criterion")) or None
    if criterion is not None and criterion not in series.criteria:
        criteria = listing(series.criteria)
        raise ValueError(f'unknown criterion "{criterion}"{_hint(criterion, series.criteria)}; known: {criteria}')
    sample_id = _sample_id(_text(row["sample_id"]), index)
    labels = by_criterion.setdefault(criterion, HumanLabels())
    chance = _text(row.get(CHANCE))
    if chance:
        labels.drawn += 1
        labels.chances[sample_id] = _chance(chance)
    label = _text(row["label"])
    if not label:
        labels.empty += 1
        return
    person = _text(row.get("annotator")) or SOMEBODY
    mine = labels.numbers.setdefault(sample_id, {})
    if person in mine:
        raise ValueError(f'a second label of sample "{sample_id}"' + (f' by "{person}"' if person else ""))
    worth = series.options.get(criterion, {}) | {"MET": 1.0, "UNMET": 0.0} if criterion else series.measure.labels
    mine[person] = _worth(label, worth, _bounds(series, criterion))


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _hint(name: str, names: Mapping[str, Any]) -> str:
    closest = nearest(name, names)
    return f'; did you mean "{closest}"?' if closest else ""


def _sample_id(sample_id: str, index: RowIndex) -> str:
    for name in (sample_id, sample_id.removeprefix("'")):
        if index.find(name) is not None:
            return name
    raise ValueError(f'the run has no sample "{sample_id}"{_hint(sample_id, dict.fromkeys(index.ids))}')


def _chance(text: str) -> float:
    number = number_in(text)
    if number is None or not 0 < number <= 1:
        raise ValueError(f'{CHANCE} "{text}" is not a chance above 0 and at most 1')
    return number


def _worth(label_text: str, worth: Mapping[str, float], bounds: tuple[float, float] | None) -> float:
    """Return the value of a label."""
    named = {option_key(label): number for label, number in worth.items()}
    number = named.get(option_key(label_text), number_in(label_text))
    if number is None:
        declared = f" nor one of the labels {listing(worth)}" if worth else ""
        raise ValueError(f'the label "{label_text}" is not a number{declared}')
    if bounds is not None and not bounds[0] <= number <= bounds[1]:
        raise ValueError(f"the label {label_text} is outside the range {bounds[0]:g} to {bounds[1]:g}")
    return number


def _bounds(series: Series, criterion: str | None) -> tuple[float, float] | None:
    """The declared range; 0 to 1 where all that was judged lies in it."""
    if criterion is None and series.measure.bounds is not None:
        return series.measure.bounds
    numbers = _judged(series, criterion)
    numbers = numbers[np.isfinite(numbers)]
    return (0.0, 1.0) if bool(((numbers >= 0) & (numbers <= 1)).all()) else None


def _judged(series: Series, criterion: str | None) -> FloatArray:
    """Return the judge's value of each row, for the metric or one criterion; NaN where it has none."""
    return series.numbers if criterion is None else series.criteria[criterion]


def _calibrated(
    run: RunSeries, series: Series, criterion: str | None, labels: HumanLabels, level: float
) -> Calibration:
    judged = _judged(series, criterion)
    index = run.index()
    row_of = {sample_id: row for sample_id in labels.numbers for row in [index.find(sample_id)] if row is not None}
    ids = [sample_id for sample_id in row_of if np.isfinite(judged[row_of[sample_id]])]
    rows = np.array([row_of[sample_id] for sample_id in ids], dtype=np.int64)
    others = np.isfinite(judged)
    others[rows] = False
    rest = np.flatnonzero(others)
    warnings = _warnings(labels, n_unjudged=len(labels.numbers) - len(ids))
    chances, rest_chances = _chances(labels, judged, (ids, rows, rest), _bounds(series, criterion), warnings)
    clusters = run.clusters(np.concatenate([rows, rest]), series.measure.address)
    scores = LabelledScores(
        labels=np.array([labels.mean(sample_id) for sample_id in ids], dtype=np.float64),
        judged=judged[rows],
        rest=judged[rest],
        chances=chances,
        rest_chances=rest_chances,
        clusters=None if clusters is None else clusters[: len(ids)],
        rest_clusters=None if clusters is None else clusters[len(ids) :],
    )
    origin = None
    if chances is None and not labels.evenly:
        origin = origin_chance(scores.judged, scores.rest)
        if origin < CHOSEN:
            warnings.append(
                f"the labelled samples are unlike the others: the judge's mean is {scores.judged.mean():.3f} there "
                f"and {scores.rest.mean():.3f} on the rest (p = {origin:.2g}). "
                "Labels must be drawn at random: see --suggest"
            )
    rng = generator(run.record.seed, f"calibrate/{series.measure.address}[{criterion or ''}]")
    estimate = calibrate(scores, bounds=_bounds(series, criterion), level=level, rng=rng)
    return Calibration(
        run=run.record.id,
        address=series.measure.address,
        criterion=criterion,
        found=estimate,
        origin_p=origin,
        warnings=tuple(warnings),
        points=_points(scores),
    )


def _points(scores: LabelledScores) -> tuple[tuple[float, float, int], ...]:
    """Labels beside the judge's scores: one group per score where there are few, else tenths of their range."""
    judged = scores.judged
    groups = np.unique(judged, return_inverse=True)[1]
    if judged.size and groups.max() >= GROUPS:
        width = (judged.max() - judged.min()) / GROUPS
        groups = np.minimum(((judged - judged.min()) / width).astype(np.int64), GROUPS - 1)
    chosen = [groups == group for group in np.unique(groups)]
    return tuple((float(judged[of].mean()), float(scores.labels[of].mean()), int(of.sum())) for of in chosen)


def _warnings(labels: HumanLabels, *, n_unjudged: int) -> list[str]:
    warnings = []
    if n_unjudged:
        warnings.append(f"{n_unjudged:,} labels are of samples that have no number of the judge; they are left out")
    if labels.empty and labels.drawn:
        warnings.append(
            f"{labels.empty:,} of {labels.drawn:,} suggested samples have no label: "
            "if they were skipped because they are hard, the result is biased"
        )
    return warnings


def _chances(
    labels: HumanLabels,
    judged: FloatArray,
    labelled: tuple[Sequence[str], IntArray, IntArray],
    bounds: tuple[float, float] | None,
    warnings: list[str],
) -> tuple[FloatArray | None, FloatArray | None]:
    """The chances of labelled and other samples; None where labels came without them, or not all with them."""
    if not labels.chances:
        return None, None
    ids, rows, rest = labelled
    if any(sample_id not in labels.chances for sample_id in ids):
        warnings.append(f"some labels have no {CHANCE}: all labels are treated as drawn uniformly")
        return None, None
    if labels.evenly:
        return None, None
    recomputed = np.full(len(judged), np.nan)
    present = np.isfinite(judged)
    recomputed[present] = chances_to_label(_doubt(judged[present], bounds), labels.drawn)
    stored = np.array([labels.chances[sample_id] for sample_id in ids], dtype=np.float64)
    if not np.allclose(stored, recomputed[rows], rtol=1e-3):
        warnings.append("the labels were drawn for another run: its other samples are taken as equally likely")
        return stored, None
    return stored, recomputed[rest]


def _doubt(numbers: FloatArray, bounds: tuple[float, float] | None) -> FloatArray:
    """Return the judge's uncertainty: highest in the middle of the range, equal for yes and no."""
    if bounds is None:
        return np.ones_like(numbers)
    share = (numbers - bounds[0]) / (bounds[1] - bounds[0])
    return np.sqrt(np.clip(share * (1 - share), 0.0, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A sample for people to label, with its probability of being drawn."""

    entry: Sample
    chance: float


def suggest_labels(
    store: Store, record: RunRecord, n: int, *, metric: str | None = None, seed: int = 0
) -> list[Suggestion]:
    """Draw samples for people to label, uncertain ones more often, each with a known probability."""
    run, series = judged_run(store, record, metric)
    rows = np.flatnonzero(series.present)
    if not len(rows):
        raise SpecError(f"run {record.id} has no sample with a number: there is nothing to label")
    chances = chances_to_label(_doubt(series.numbers[rows], _bounds(series, None)), n)
    places = drawn(chances, rng=generator(seed, f"suggest/{series.measure.address}"))
    chosen = {run.ids[int(rows[place])]: float(chances[place]) for place in places.tolist()}
    return [
        Suggestion(entry=entry, chance=chosen[entry.sample_id])
        for entry in read_samples(store, record)
        if entry.sample_id in chosen and not entry.trial
    ]


def write_suggestions(path: Path, suggestions: Sequence[Suggestion], *, force: bool = False) -> None:
    """Write the samples to a CSV with an empty column for the labels; it is a labels file once that is filled in."""
    if path.suffix.lower() != ".csv":
        raise SpecError(f'suggestions are written as CSV: end the name "{path.name}" in .csv')
    if path.exists() and not force:
        raise SpecError(f"{path} already exists: --force replaces it, and the labels in it")
    all_cells = [
        {name: cell for name, cell in _sheet_cells(suggestion.entry).items() if name != f"{SHOWN}sample_id"}
        for suggestion in suggestions
    ]
    columns = list(dict.fromkeys(name for cells in all_cells for name in cells))
    try:
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["sample_id", "label", CHANCE, *columns])
            for suggestion, cells in zip(suggestions, all_cells, strict=True):
                row = [cells.get(name) for name in columns]
                harmless_cells = [harmless(cell if cell is None else str(cell)) for cell in row]
                chance = f"{suggestion.chance:.{CHANCE_DIGITS}g}"
                writer.writerow([harmless(suggestion.entry.sample_id), "", chance, *harmless_cells])
    except OSError as error:
        raise SpecError(f"cannot write {path}: {error.strerror or error}") from error
