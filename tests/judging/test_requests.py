"""What judges are asked decides which replies a store has: the bytes of requests stay as they are."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from assay.judging.examples import Example, FewShot
from assay.judging.judge import Judge
from assay.judging.panel import grade
from assay.judging.panel_config import PanelConfig
from assay.judging.question import Submission
from assay.judging.rubric import Rubric
from assay.models.cache_key import canonical
from assay.types import Reply, Sampling

OPTIONS = [{"label": "poor", "value": 0.0}, {"label": "fair", "value": 0.5}, {"label": "good", "value": 1.0}]
CRITERIA = [
    {"requirement": "Is polite."},
    {"requirement": "Is rude.", "weight": -3.0},
    {"requirement": "How good is it?", "options": OPTIONS},
]
WARM = Sampling(temperature=0.7, max_tokens=50)
PANEL = (
    Judge(id="a", model="one", sampling=WARM),
    Judge(id="b", model="one", sampling=WARM, weight=2.0, replica=1),
    Judge(id="c", model="two"),
)
LETTER = Submission(
    text="Dear all, please come.",
    prompt="Write a letter.",
    reference="Dear friends,",
    guidelines="Be fair.",
    row=3,
)
EXAMPLES = [
    Example(requirement="Is polite.", text="Go away.", label="UNMET", reason="It is rude."),
    Example(requirement="Is polite.", text="Please.", label="MET"),
]


# the digests are those of the first release: a change asks, and pays for, every stored vote again
@pytest.mark.parametrize(
    ("config", "n", "digest"),
    [
        ({"seed": 7, "repeats": 2}, 36, "47b6e5ab5d52d709"),
        ({"seed": 7, "shuffle": "both_orders"}, 24, "df7bf08e94685b41"),
        ({"seed": 7, "shuffle": "counterbalanced"}, 18, "0174db597c2acb27"),
        ({"seed": 7, "shuffle": "direction"}, 18, "c9250c44db5c38d7"),
        ({"seed": None, "auto_na_option": False}, 18, "fd2a9bbe9b20fec0"),
        ({"seed": 7, "llm_calls": "per_item"}, 6, "69bd1d4d738fb745"),
        ({"seed": 7, "few_shot": FewShot(EXAMPLES, count=2, seed=1)}, 18, "62284a6ac061f16a"),
    ],
)
def test_the_requests_of_a_panel_are_the_same_bytes_in_every_release(config, n, digest):
    asked = []

    async def ask(request, model=None):
        asked.append(f"{model}\n".encode() + canonical(request))
        return Reply(text="hm")

    rubric = Rubric.from_dict({"guidelines": "Be fair.", "criteria": CRITERIA})
    asyncio.run(grade(ask, rubric, LETTER, PANEL, PanelConfig(**config)))
    assert (len(asked), hashlib.sha256(b"\n".join(sorted(asked))).hexdigest()[:16]) == (n, digest)
