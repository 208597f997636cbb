"""The models behind a panel."""

from __future__ import annotations

import asyncio
import json

import pytest

from assay.errors import RunError, SpecError
from assay.grading.judge_models import Clients, connection_of
from assay.judging.reports import TokenUsage
from assay.rubric import (
    CriterionGrader,
    JudgeSpec,
    LLMConfig,
    Rubric,
    RubricDataset,
    RubricWarning,
    evaluate_sync,
)
from assay.types import Request


def test_a_config_brings_its_own_key_address_limits_and_retries(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SpecError, match="OPENAI_API_KEY"):
        connection_of(LLMConfig("openai/gpt-5-mini"))
    config = LLMConfig(
        "openai/gpt-5-mini",
        api_key="sk-1",
        api_base="http://localhost:1/v1",
        max_parallel_requests=3,
        max_retries=0,
        timeout=5.0,
    )
    made = connection_of(config)
    assert (made.limits.concurrent, made.retry.max_retries) == (3, 0)
    assert made.identity["endpoint"].startswith("http://localhost:1/v1")


def test_a_key_or_a_timeout_needs_a_provider(judge):
    with pytest.raises(SpecError, match="api_key and api_base"):
        connection_of(LLMConfig(judge("MET"), api_key="sk-1"))
    with pytest.raises(SpecError, match="timeout"):
        connection_of(LLMConfig(judge("MET"), timeout=3.0))


def test_calls_at_the_same_time_share_their_connections(judge):
    clients = Clients({"a": LLMConfig(judge("MET"))})

    async def use():
        async with clients.asking() as one, clients.asking() as other:
            question = Request(messages=({"role": "user", "content": "?"},))
            replies = await asyncio.gather(one(question, "a"), other(question, "a"))
            assert len(clients._open) == 1
        assert not clients._open
        return [reply.text for reply in replies]

    assert len(asyncio.run(use())) == 2


def test_a_cost_is_known_only_where_every_price_is(monkeypatch, judge):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    clients = Clients({"gpt": LLMConfig("openai/gpt-4.1-mini"), "own": LLMConfig(judge("MET"))})
    usage = TokenUsage(prompt_tokens=1_000_000)
    assert clients.cost_usd({"gpt": usage}) > 0
    assert clients.cost_usd({"gpt": usage, "own": usage}) is None


def _beside(loopback, **extras):
    return LLMConfig("openai/m", api_key="sk-1", api_base=loopback.url, **extras)


def test_extra_headers_and_parameters_are_sent(loopback):
    config = _beside(
        loopback, extra_headers={"X-Team": "judges", "authorization": "Bearer mine"}, extra_params={"top_k": 3}
    )
    grader = CriterionGrader(llm_config=config)
    assert Rubric.from_dict([{"requirement": "Polite."}]).grade_sync("Hello", grader).score == 1.0
    (request,) = loopback.requests()
    sent = {name.lower(): value for name, value in request["headers"].items()}
    assert (sent["x-team"], sent["authorization"]) == ("judges", "Bearer mine")
    body = request["body"] if isinstance(request["body"], dict) else json.loads(request["body"])
    assert (body["top_k"], body["model"]) == (3, "m")


def test_extra_headers_and_parameters_are_part_of_the_key_of_a_call(loopback):
    dataset = RubricDataset(rubric=Rubric.from_dict([{"requirement": "Polite."}]))
    dataset.add_item("Hello", "one")
    ways = [
        {},
        {"extra_headers": {"x-team": "a"}},
        {"extra_headers": {"x-team": "b"}},
        {"extra_params": {"top_k": 1}},
        {"extra_params": {"top_k": 2}},
    ]
    for _ in range(2):
        for way in ways:
            evaluate_sync(dataset, CriterionGrader(llm_config=_beside(loopback, **way), seed=1))
    assert loopback.stats()["arrived"] == len(ways)


def test_secrets_in_headers_and_parameters_are_never_stored(loopback, folder):
    secret = "canary-7c1f"
    config = _beside(
        loopback,
        extra_headers={"x-api-key": secret, "x-plain": secret},
        extra_params={"metadata": {"token": secret}},
        max_retries=0,
    )
    dataset = RubricDataset(rubric=Rubric.from_dict([{"requirement": "Polite."}]))
    dataset.add_item("Hello", "one")
    dataset.add_item("[[status: 400]]", "two")
    loopback.configure(error_text=secret)
    evaluate_sync(dataset, CriterionGrader(llm_config=config, seed=1))
    for file in (folder / ".assay").iterdir():
        assert secret.encode() not in file.read_bytes()


def test_extra_headers_need_a_provider(judge):
    for extras in ({"extra_headers": {"a": "b"}}, {"extra_params": {"a": 1}}):
        with pytest.raises(SpecError, match=f"{next(iter(extras))}=.*models of a provider"):
            connection_of(LLMConfig(judge("MET"), **extras))


def test_a_judge_whose_model_is_unknown_leaves_the_panel_to_the_others(loopback):
    loopback.configure(models="known,other")
    rubric = Rubric.from_dict([{"requirement": f"Criterion {n}."} for n in range(30)])
    names = ("known", "gone", "other")
    specs = [JudgeSpec(LLMConfig(f"openai/{name}", api_key="sk-1", api_base=loopback.url), name) for name in names]
    with pytest.warns(RubricWarning, match='all 30 calls to judge "gone" failed'):
        report = rubric.grade_sync("Hello", CriterionGrader(judges=specs))
    assert (report.score, report.judge_scores["gone"]) == (1.0, None)
    assert loopback.stats()["by_status"]["404"] <= 10


def test_a_panel_of_unknown_models_is_an_error_that_names_one(loopback):
    loopback.configure(models="known")
    specs = [JudgeSpec(LLMConfig(f"openai/{name}", api_key="sk-1", api_base=loopback.url), name) for name in "abc"]
    with pytest.raises(RunError, match="openai/[abc] refuses all calls"):
        Rubric.from_dict([{"requirement": "Polite."}]).grade_sync("Hello", CriterionGrader(judges=specs))
