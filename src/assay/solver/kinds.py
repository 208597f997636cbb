"""The solvers that ship with assay."""

from __future__ import annotations

from assay.registry import Kinds

KINDS = Kinds(
    {
        "pass_through_solver": "assay.solver.pass_through",
        "single_turn_solver": "assay.solver.single_turn",
        "multi_turn_solver": "assay.solver.multi_turn",
        "grouped_single_turn_solver": "assay.solver.grouped",
        "python": "assay.solver.snippet",
    }
)
