"""The solvers that ship with assay."""

from __future__ import annotations

from assay.solver import grouped, multi_turn, pass_through, single_turn

KINDS = (pass_through.KIND, single_turn.KIND, multi_turn.KIND, grouped.KIND)
