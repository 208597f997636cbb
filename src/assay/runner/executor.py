"""Executors: where calls are made and rows are scored, in this process or in the actors of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.prepare.plan import Plan
from assay.spec import LoadedScorer, LoadedTask

if TYPE_CHECKING:
    from assay.models.connection import Connection
    from assay.runner.ray_pool import Pool


@contextmanager
def actors_of(plan: Plan, unbound: LoadedTask, scorers: Sequence[LoadedScorer]) -> Iterator[Pool | None]:
    """The Ray actors that a plan asks for, as long as the block lasts; None for a local run.

    `unbound` is the task without the sandboxes of this process: each actor has its own.
    """
    if plan.options.executor == "local":
        yield None
        return
    from assay.runner.ray_pool import Pool
    from assay.runner.ray_worker import Job

    wanted: dict[str, float] = {}
    for connection in plan.connections.values():
        for name, amount in connection.resources.items():
            wanted[name] = max(amount, wanted.get(name, 0))
    job = Job(
        loaded=replace(unbound, scorers=tuple(scorers)),
        references=list(dict.fromkeys(plan.references.values())),
        definitions=plan.definitions,
        root=unbound.document.root,
        environment=unbound.document.environment,
        code=plan.options.code,
    )
    pool = Pool(job, actors=plan.options.actors, resources=wanted)
    pool.start()
    try:
        yield pool
    finally:
        pool.close()


def leased(plan: Plan, pool: Pool | None) -> Mapping[str | None, Connection]:
    """Provide the connections of a plan through its executor; models that are objects of this process stay here."""
    if pool is None:
        return plan.connections
    from assay.runner.ray_pool import LeasedClient

    places = {reference: place for place, reference in enumerate(dict.fromkeys(plan.references.values()))}
    shared: dict[int, Connection] = {}
    connections: dict[str | None, Connection] = {}
    for key, connection in plan.connections.items():
        if key not in plan.references:
            connections[key] = connection
            continue
        # keys that name the same model share one connection, and so its limits
        if id(connection) not in shared:
            client = LeasedClient(pool, places[plan.references[key]], connection.client)
            shared[id(connection)] = replace(connection, client=client)
        connections[key] = shared[id(connection)]
    return connections
