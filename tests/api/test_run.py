from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

import assay
from assay.api.run import Options, failed_share
from assay.results.run import RunReport, ScorerReport

REPORT = RunReport(
    run="r",
    status="completed",
    task="t",
    model=None,
    display_name="t",
    trials=1,
    n_samples=10,
    n_failed=3,
    n_cached=0,
    scorers=(),
    failures={},
    spending=(),
)


def scorer(n_failed):
    return ScorerReport(
        key="s",
        type="s",
        purpose="score",
        n_scored=0,
        n_failed=n_failed,
        n_excluded=0,
        metrics=(),
        display_name=None,
    )


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        ({"n_samples": 0, "n_failed": 0}, 0.0),
        ({}, 0.3),
        ({"scorers": (scorer(3), scorer(1))}, 0.2),
        ({"scorers": (scorer(3),), "trials": 3}, 0.1),
    ],
)
def test_the_share_that_failed_is_of_the_scores_asked_for(changes, share):
    assert failed_share(replace(REPORT, **changes)) == pytest.approx(share)


def test_checking_from_python(project):
    assert "there is no file" in assay.check(project.folder / "gone.yaml")[0].message


@pytest.mark.parametrize(
    ("name", "meant"), [("modle", "model"), ("max_costs", "max_cost"), ("tag", "tags"), ("cache_polcy", "cache_policy")]
)
def test_a_misspelled_option_names_the_nearest(name, meant):
    async def arun():
        await assay.arun("task.yaml", **{name: 1})

    calls = {
        "run": lambda: assay.run("task.yaml", **{name: 1}),
        "arun": lambda: asyncio.run(arun()),
        "run_evaluation": lambda: assay.run_evaluation("run.yaml", **{name: 1}),
        "Options": lambda: Options(**{name: 1}),
    }
    for callee, call in calls.items():
        with pytest.raises(TypeError, match=f'^{callee} has no option "{name}"; did you mean "{meant}"\\?$'):
            call()


def test_an_option_like_no_other_lists_those_there_are():
    with pytest.raises(TypeError, match='run has no option "zzz"; the options are actors, allow_code, .*, trust_code$'):
        assay.run("task.yaml", zzz=1)
    with pytest.raises(TypeError, match='did you mean "max_failures"'):
        assay.run_evaluation("run.yaml", max_failurs=1)


def test_one_tag_may_be_a_text():
    assert Options(tags="nightly").tags == ("nightly",)
    assert replace(Options(tags=["a", "b"]), limit=3).tags == ("a", "b")


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit):
    with pytest.raises(assay.SpecError, match=f"expected a whole number of at least 1, got {limit}"):
        assay.run("task.yaml", limit=limit)
