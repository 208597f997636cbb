"""How one cell reaches the models."""

from __future__ import annotations

import asyncio

import pytest

from assay.runner.cell import Cell, CellAsk, CountedOnly, Occurrences, Work, completed
from assay.types import Reply, Request, Sampling


class Model:
    name = "model"

    def __init__(self):
        self.asked = []

    async def ask(self, request):
        self.asked.append(request)
        return Reply(text="x", key=b"key", cached=False)


def question(temperature=None, text="?"):
    return Request(messages=({"role": "user", "content": text},), sampling=Sampling(temperature=temperature))


def cell(position, *, trial=0, done=False):
    return Cell(position=position, trial=trial, sample_id=str(position), sample={}, text="{}", done=done)


def asked(cells, *, default=None, request=None):
    model, occurrences = Model(), Occurrences()
    work = Work(solver=None, scorers=(), clients={None: model}, sampling={None: default}, width=1)

    async def ask():
        for each in cells:
            try:
                await CellAsk(work, occurrences, each)(request or question())
            except CountedOnly:
                assert each.done

    asyncio.run(ask())
    return model.asked


def test_random_twins_of_other_samples_are_numbered_in_order_also_when_some_are_done():
    everything = asked([cell(0), cell(1), cell(2)])
    assert len({request.occurrence for request in everything}) == 3
    resumed = asked([cell(0, done=True), cell(1, done=True), cell(2)])
    assert resumed == everything[2:], "a resumed run asks with the same keys"


def test_answers_that_are_not_random_have_no_number():
    assert [r.occurrence for r in asked([cell(0), cell(1)], request=question(temperature=0))] == [0, 0]
    assert [r.occurrence for r in asked([cell(0), cell(1)], default=Sampling(temperature=0.0))] == [0, 0]


def test_trials_are_repeats_with_the_models_own_defaults():
    (request,) = asked([cell(0, trial=2)], default=Sampling(max_tokens=7), request=question(temperature=1))
    assert (request.repeat, request.sampling.max_tokens, request.sampling.temperature) == (2, 7, 1)


def test_the_task_wins_over_the_models_defaults():
    assert completed(Sampling(temperature=0.0), None) == Sampling(temperature=0.0)
    both = completed(Sampling(temperature=0.0, stop=("x",)), Sampling(temperature=1.0, seed=3))
    assert both == Sampling(temperature=0.0, stop=("x",), seed=3)


def test_a_done_cell_is_only_counted():
    work = Work(solver=None, scorers=(), clients={}, sampling={None: None}, width=1)
    with pytest.raises(CountedOnly):
        asyncio.run(CellAsk(work, Occurrences(), cell(0, done=True))(question()))
