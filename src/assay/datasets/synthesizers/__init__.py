"""Synthesizers: each turns one row into rows, and they run in sequence.

A function takes its settings and rows, and gives for every row the rows made of it or a Failure. One that asks a model
is a coroutine over one row and a way to ask; one that runs user code takes the sandbox by name.
"""

from __future__ import annotations

from assay.registry import LazyKinds, SynthesizerKind

KINDS: LazyKinds[SynthesizerKind] = LazyKinds(
    {
        name: f"assay.datasets.synthesizers.{module}"
        for name, module in {
            "template": "template",
            "llm": "llm",
            "python": "snippet",
            "claim_extraction": "claims:EXTRACTION",
            "claim_labeling": "claims:LABELING",
            "link_claim_quotes": "claims:QUOTES",
            "question_answering": "question_answering",
            "drop_columns": "drop_columns",
            "empty": "empty",
        }.items()
    }
)
