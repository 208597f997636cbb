"""Print every ratio with its budget; names choose among them."""

from __future__ import annotations

import sys

from bench import agreement, bootstrap, code, compare, instructions, live, recorded, rubric, startup, view

PARTS = {
    "startup": startup.measure,
    "recorded": recorded.measure,
    "live": live.measure,
    "rubric": rubric.measure,
    "bootstrap": bootstrap.measure,
    "compare": compare.measure,
    "agreement": agreement.measure,
    "code": code.measure,
    "instructions": instructions.measure,
    "view": view.measure,
}


def main(names: list[str]) -> None:
    unknown = set(names) - set(PARTS)
    if unknown:
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    print(f"{'measured':>10} {'budget':>8} {'goal':>8}  what")
    for name in names or PARTS:
        for line in PARTS[name]():
            budget = "" if line.budget is None else f"{line.budget:g} {line.unit}"
            goal = "" if line.goal is None else f"{line.goal:g} {line.unit}"
            over = " OVER BUDGET" if line.budget is not None and line.ratio > line.budget else ""
            detail = f" ({line.detail})" if line.detail else ""
            print(f"{line.ratio:>8.2f} {line.unit:<1} {budget:>8} {goal:>8}  {line.what}{detail}{over}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
