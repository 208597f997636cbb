from __future__ import annotations

import pytest
import sacrebleu

from assay.scorers.bleu import KIND, Bleu

SETTINGS = Bleu(type="bleu", ground_truth="{{ sample.gt }}")


@pytest.mark.parametrize("text", ["the cat sat on the mat", "a", "  ", "Ünïcode 漢字", "!"])
def test_identical_text_is_exactly_one(make_rows, text):
    assert KIND.score(SETTINGS, make_rows([text], {"gt": [text]})).values == {"bleu_score": [1.0]}


@pytest.mark.parametrize(
    ("truth", "reply"),
    [("the cat sat on the mat", "the cat sat on a mat"), ("hello there", "hello"), ("a b c", "x y z"), ("a b", "")],
)
def test_the_score_is_sacrebleu_with_effective_order(make_rows, truth, reply):
    expected = sacrebleu.sentence_bleu(reply, [truth], use_effective_order=True).score / 100
    scored = KIND.score(SETTINGS, make_rows([reply], {"gt": [truth]}))
    assert scored.values["bleu_score"] == [pytest.approx(expected)]
    assert 0.0 <= scored.values["bleu_score"][0] < 1.0
    assert scored.metadata == {"answer_gt": [truth], "answer_pred": [reply]}


def test_the_default_metric_is_the_mean():
    assert SETTINGS.default_metrics() == [{"type": "mean", "field": "bleu_score"}]
