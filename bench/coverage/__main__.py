"""Print the coverage study as one Markdown table; exit with 1 if a bound is broken.

Names choose families, --runs the number of data sets per cell, --processes how many cells are measured at once.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import multiprocessing
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from bench.coverage import judges, means, others, paired_sums, pairs
from bench.coverage.measure import RUNS, SEED, Family, Measured

FAMILIES: dict[str, Callable[[], Family]] = {
    **means.FAMILIES,
    **pairs.FAMILIES,
    **paired_sums.FAMILIES,
    **judges.FAMILIES,
    **others.FAMILIES,
}
COLUMNS = ("family", "cell", "n", "runs", "covers", "in 0.1", "clear", "in 0.1", "width", "mean width", "bound", "")


def main(arguments: list[str]) -> int:
    """Measure the chosen families, all by default, and print each row as soon as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    unknown = set(options.families) - set(FAMILIES)
    if unknown:
        parser.error(f"unknown family: {', '.join(sorted(unknown))}; choose from {', '.join(FAMILIES)}")
    names = options.families or list(FAMILIES)
    started = time.monotonic()
    print(line(COLUMNS))
    print(line("---" for _ in COLUMNS), flush=True)
    jobs = [(name, position, options.runs) for name in names for position in range(len(family_of(name).cells))]
    broken = 0
    measured: Iterator[Measured]
    with contextlib.ExitStack() as stack:
        if options.processes > 1:
            measured = stack.enter_context(multiprocessing.Pool(options.processes)).imap(measure, jobs)
        else:
            measured = map(measure, jobs)
        for name in names:
            broken += report(family_of(name), (next(measured) for _ in family_of(name).cells), options.runs)
    minutes = (time.monotonic() - started) / 60
    print(f"\n{len(jobs)} cells in {minutes:.0f} minutes; broken bounds: {broken}")
    return 1 if broken else 0


@cache
def family_of(name: str) -> Family:
    """Build a family once per process."""
    return FAMILIES[name]()


def measure(job: tuple[str, int, int]) -> Measured:
    """Measure one cell; named by its position, because the functions in a cell cannot travel between processes."""
    name, position, runs = job
    family = family_of(name)
    return family.cells[position].measure(min(runs, family.runs), SEED + position)


def report(family: Family, measured: Iterable[Measured], runs: int) -> int:
    """Print a row per cell and one for the mean of the family; return the number of broken bounds."""
    broken = 0
    coverages = []
    for cell, values in zip(family.cells, measured, strict=True):
        coverages.append(values.now)
        kept = family.bound.kept(values) is not family.bound.control
        broken += not kept
        word = ("fails, as it must" if family.bound.control else "pass") if kept else "BROKEN"
        print(row(family, cell.name, cell.n, values, word), flush=True)
    if family.bound.mean is None:
        return broken
    low, high = family.bound.mean
    mean = sum(coverages) / len(coverages)
    runs = min(runs, family.runs)
    slack = 0.0 if runs >= RUNS else 3 * math.sqrt(0.05 * 0.95 / (runs * len(coverages)))
    kept = low - slack <= mean <= high + slack
    texts: Sequence[str] = (family.name, "mean of the family", "", "", f"{mean:.3f}", "", "", "", "", "")
    print(line((*texts, f"mean {low:g} to {high:g}", "pass" if kept else "BROKEN")), flush=True)
    return broken + (not kept)


def row(family: Family, cell: str, n: int, measured: Measured, word: str) -> str:
    """Format one cell as a line of the table."""
    bound = family.bound
    shows_verdicts = bound.shows_clear or bound.most_clear is not None or bound.least_clear is not None
    verdicts = (measured.clear, measured.clear_before) if shows_verdicts else (None, None)
    texts = ["" if share is None else f"{share:.3f}" for share in (measured.now, measured.before, *verdicts)]
    texts += ["" if ratio is None else f"{ratio:.2f}" for ratio in (measured.width, measured.mean_width)]
    runs = f"{measured.runs:,}" if measured.runs else "exact"
    name = re.sub(r"(?<=\d)%", " %", cell)
    return line((family.name, name, f"{n:,}" if n else "", runs, *texts, str(bound), word if str(bound) else ""))


def line(cells: Iterable[str]) -> str:
    """Join cells to a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
