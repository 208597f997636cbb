from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.spec import LoadedTask

Load = Callable[..., LoadedTask]


def test_keys_default_to_the_type_and_are_numbered_when_repeated(load: Load) -> None:
    loaded = load(
        "scorers:\n"
        "  - type: free\n"
        "    metrics: [{type: mean, field: a}, {type: mean, field: b}, {type: mean, field: c, key: mean_2}]\n"
        "  - {type: free}\n"
        "  - {type: free, key: free_2}\n"
        "  - {type: free}\n"
    )
    assert loaded.problems == ()
    assert [scorer.key for scorer in loaded.scorers] == ["free", "free_3", "free_2", "free_4"]
    assert [metric.key for metric in loaded.scorers[0].metrics] == ["mean", "mean_3", "mean_2"]


def test_a_key_given_twice_is_an_error(load: Load) -> None:
    loaded = load(
        "scorers:\n  - {type: free, key: a}\n  - type: free\n    key: a\n    metrics:\n"
        "      - {type: mean, field: x, key: m}\n      - {type: mean, field: x, key: m}\n"
    )
    assert [problem.message for problem in loaded.problems] == [
        'there is already a scorer with the key "a"',
        'there is already a metric with the key "m"',
    ]
    assert [problem.place.line for problem in loaded.problems if problem.place] == [8, 11]


def test_a_metric_field_that_the_scorer_does_not_give_is_told(load: Load) -> None:
    loaded = load(
        "scorers:\n"
        "  - type: equals\n"
        "    ground_truth: x\n"
        "    metrics:\n"
        "      - {type: mean, field: is_corect}\n"
        "      - {type: binary, field_gt: answer_gt, num_true_field: nope}\n"
        "      - {type: mean, field: answer_pred}\n"
    )
    first, second = loaded.problems
    assert first.message == 'equals produces no field "is_corect"; it produces is_correct, answer_gt, answer_pred'
    assert first.suggestion == "is_correct"
    assert 'equals produces no field "nope"' in second.message
    assert [metric.settings.field for metric in loaded.scorers[0].metrics] == ["answer_pred"]


def test_a_scorer_whose_values_are_its_own_takes_any_field(load: Load) -> None:
    assert load("scorers: [{type: free, metrics: [{type: mean, field: anything}]}]").problems == ()


def test_the_metrics_of_a_wrong_scorer_are_checked_all_the_same(load: Load) -> None:
    loaded = load("scorers:\n  - {type: nope, metrics: [{type: maen, field: a}, {type: mean}, 3]}\n")
    messages = [problem.message for problem in loaded.problems]
    assert len(messages) == 4
    assert messages[1].startswith('unknown metric type "maen"')
    assert messages[2] == 'missing field "field" in mean'
    assert messages[3].startswith("expected a metric")


def test_the_keys_of_mappings_may_look_like_yes_or_numbers(load: Load) -> None:
    loaded = load("scorers: [{type: free, metrics: [{type: binary, field_gt: x, weights: {yes: 1, 2: 0.5}}]}]")
    assert loaded.problems == ()
    assert loaded.scorers[0].metrics[0].settings.weights == {"yes": 1.0, "2": 0.5}


@pytest.mark.parametrize("metrics", ["", "metrics: ~"])
def test_omitted_metrics_are_the_default(load: Load, metrics: str) -> None:
    loaded = load(f"scorers:\n  - type: equals\n    ground_truth: x\n    {metrics}\n")
    assert [metric.settings.field for metric in loaded.scorers[0].metrics] == ["is_correct"]
