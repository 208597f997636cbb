"""Connections to PostgreSQL that break while a run writes: the run goes on, nothing is lost, nothing is asked twice."""

from __future__ import annotations

import os
import random
import time

import psycopg
import pytest

N = 2_000
BREAKS = 10

pytestmark = [pytest.mark.deep, pytest.mark.sqlite]


def test_ten_broken_connections_cost_no_call(live, loopback, postgres):
    project = live(N)
    url = f"{postgres}{'&' if '?' in postgres else '?'}project=broken_{os.getpid()}"
    assert project.assay("run", "task.yaml", "--model", "stub", "--limit", "1", "--store", url).code == 0
    loopback.reset()
    loopback.configure(body="mcq", latency_ms=100)
    command = ["run", "task.yaml", "--model", "stub", "--json", "--max-concurrency", "30", "--store", url]
    process = project.start(*command)
    draw = random.Random(3)
    broken = 0
    with psycopg.connect(postgres, autocommit=True) as server:
        while broken < BREAKS and process.poll() is None:
            time.sleep(draw.uniform(0.1, 0.5))
            if loopback.stats()["arrived"] > 0:
                rows = server.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'assay'"
                ).fetchall()
                broken += bool(rows)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert broken == BREAKS, "the run ended before its connections were broken"
    assert "Traceback" not in err
    # the sample of the first run is in the store
    assert loopback.stats()["arrived"] == N - 1
    lines = project.assay("samples", "latest", "--json", "--limit", str(N + 1), "--store", url).lines
    assert len(lines) == N
    assert not any(line["failures"] for line in lines)
