"""The solvers that ship with assay."""

from __future__ import annotations

from assay.registry import LazyKinds, SolverKind

KINDS: LazyKinds[SolverKind] = LazyKinds(
    {
        "pass_through_solver": "assay.solvers.pass_through",
        "single_turn_solver": "assay.solvers.single_turn",
        "multi_turn_solver": "assay.solvers.multi_turn",
        "grouped_single_turn_solver": "assay.solvers.grouped",
        "python": "assay.solvers.snippet",
    }
)
