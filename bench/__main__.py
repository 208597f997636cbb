"""Print every ratio with its budget; names choose among them."""

from __future__ import annotations

import sys

from bench import agreement, bootstrap, code, compare, growth, instructions, live, recorded, rubric, startup, team, view
from bench.measure import Line

PARTS = {
    "startup": startup.measure,
    "recorded": recorded.measure,
    "live": live.measure,
    "rubric": rubric.measure,
    "bootstrap": bootstrap.measure,
    "compare": compare.measure,
    "agreement": agreement.measure,
    "growth": growth.measure,
    "code": code.measure,
    "instructions": instructions.measure,
    "team": team.measure,
    "view": view.measure,
}


def main(names: list[str]) -> None:
    unknown = set(names) - set(PARTS)
    if unknown:
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    print(f"{'measured':>10} {'budget':>8} {'goal':>8}  what")
    lines: list[Line] = []
    for name in names or PARTS:
        for line in PARTS[name]():
            budget = "" if line.budget is None else f"{line.budget:g} {line.unit}"
            goal = "" if line.goal is None else f"{line.goal:g} {line.unit}"
            over = " OVER BUDGET" if line.is_over else ""
            detail = f" ({line.detail})" if line.detail else ""
            print(f"{line.ratio:>8.2f} {line.unit:<1} {budget:>8} {goal:>8}  {line.what}{detail}{over}", flush=True)
            lines.append(line)
    print_summary(lines)


def print_summary(lines: list[Line]) -> None:
    """Print which budgets are broken, and the three lines that are furthest from their goals."""
    with_budget = [line for line in lines if line.budget is not None]
    broken = [line for line in with_budget if line.is_over]
    print(f"\n{len(with_budget) - len(broken)} of {len(with_budget)} budgets are held")
    with_goal = [line for line in lines if line.goal is not None]
    with_goal.sort(key=lambda line: line.ratio / (line.goal or 1), reverse=True)
    if with_goal:
        print("the largest remaining costs, measured against their goals:")
    for line in with_goal[:3]:
        assert line.goal is not None
        print(f"  {line.ratio / line.goal:.2f} x the goal: {line.what}")


if __name__ == "__main__":
    main(sys.argv[1:])
