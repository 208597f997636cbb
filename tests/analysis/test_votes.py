"""Tables of votes and labels are read as written, or refused with what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from assay.analysis.scale import ABSENT, Scale
from assay.analysis.votes import Ballot, add_labels, ballots_from_table, scale_from_votes
from assay.errors import SpecError


@pytest.fixture
def write(tmp_path):
    def written(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def test_a_missing_row_is_nothing_and_an_empty_label_an_abstention(write):
    path = write("item,judge,label\n1,a,x\n1,b,\n2,a,y\n")
    (ballot,) = ballots_from_table(path)
    votes = ballot.votes(scale_from_votes(ballot, "nominal"))
    assert votes.name == "label"
    assert votes.scale.labels == ("x", "y")
    assert {name: codes.tolist() for name, codes in votes.judges.items()} == {"a": [0, 1], "b": [-1, ABSENT]}
    assert votes.truth.tolist() == [ABSENT, ABSENT]


def test_numbers_are_on_a_scale_in_their_order(write):
    path = write('{"item": 1, "judge": "a", "label": 10}\n{"item": 2, "judge": "a", "label": 9}\n', "v.jsonl")
    (ballot,) = ballots_from_table(path)
    scale = scale_from_votes(ballot, "ordinal")
    assert (scale.labels, scale.values) == (("9", "10"), (9.0, 10.0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,judge,label\n1,a,x\n1,a,x\n", "table.csv:3:1: the vote of .* appears twice"),
        ("item,judge,lable\n1,a,x\n", 'no column "label".*did you mean "lable"'),
        ("item,judge,label\n,a,x\n", 'table.csv:2:1: there is no "item"'),
        ("item,judge,label\n", "no rows"),
    ],
)
def test_a_wrong_table_is_refused(write, text, said):
    with pytest.raises(SpecError, match=said):
        ballots_from_table(write(text))


def test_one_of_the_judges_may_be_the_truth(write):
    path = write("item,judge,label\n1,a,x\n1,expert,y\n")
    (ballot,) = ballots_from_table(path, "expert")
    assert (list(ballot.judges), ballot.truth) == (["a"], {"1": "y"})
    with pytest.raises(SpecError, match='unknown judge "export"'):
        ballots_from_table(path, "export")


def test_labels_of_people_stand_beside_the_votes(write):
    ballots = ballots_from_table(write("item,criterion,judge,label\n1,c,a,x\n1,d,a,y\n2,c,a,x\n"))
    labels = write("sample_id,criterion,annotator,label\n1,c,p,x\n1,c,q,y\n9,c,p,x\n", "labels.csv")
    assert add_labels(ballots, labels, failed={"9"}) == ["1 labelled items have no vote: 9"]
    votes = ballots[0].votes(scale_from_votes(ballots[0]))
    assert votes.truth.tolist() == [ABSENT, ABSENT]
    assert set(votes.people) == {"p", "q"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sample_id,label\n1,x\n", 'labels.csv:2:1: there is no "criterion", but there are 2: c, dd'),
        ("sample_id,criterion,label\n1,d,x\n", 'unknown criterion "d"'),
        ("sample_id,criterion,label\n1,c,x\n1,c,x\n", "labels.csv:3:1: the label of item 1 appears twice"),
        ("sample_id,criterion,label\n1,c,x\n7,c,x\n8,d,x\n", 'csv:3:1: unknown item "7"(.|\n)*csv:4:1: unknown crit'),
        ("sample_id,criterion,label\n2,dd,x\n", "no label of an item that was judged"),
    ],
)
def test_wrong_labels_are_refused(write, text, said):
    ballots = ballots_from_table(write("item,criterion,judge,label\n1,c,a,x\n1,dd,a,y\n2,c,a,x\n"))
    with pytest.raises(SpecError, match=said):
        add_labels(ballots, write(text, "labels.csv"))


def test_a_label_that_is_not_on_the_declared_scale_is_refused():
    ballot = Ballot("c", rows={"1": "1"}, judges={"a": {"1": "ugly"}})
    with pytest.raises(SpecError, match='criterion "c", item 1: "ugly" is not one of the labels'):
        ballot.votes(Scale(kind="nominal", labels=("good", "bad")))
    with pytest.raises(SpecError, match='an ordinal scale needs numbers as labels, not "ugly"'):
        scale_from_votes(ballot, "ordinal")


def test_a_scale_from_votes_has_their_values():
    ballot = Ballot("c", rows={"1": "1"}, judges={"a": {"1": "good"}}, truth={"1": "bad"}, values={"good": 1.0})
    assert scale_from_votes(ballot).kind == "nominal"
    ballot.values["bad"] = 0.0
    assert scale_from_votes(ballot).values == (0.0, 1.0)
    assert scale_from_votes(ballot).kind == "ordinal"
    assert scale_from_votes(Ballot("c", binary=True)).labels == ("UNMET", "MET")


def test_of_several_looks_the_first_that_was_cast_counts_and_all_are_kept():
    ballot = Ballot("c", rows={"1": "1", "2": "2"})
    for repeat, label in enumerate([None, "good", "bad"]):
        ballot.hear("a", "1", label, repeat=repeat)
    ballot.hear("a", "2", "good")
    scale = Scale(kind="ordinal", labels=("bad", "good"), values=(0.0, 1.0))
    votes = ballot.votes(scale)
    assert votes.judges["a"].tolist() == [1, 1]
    assert np.array_equal(votes.repeats["a"], [[np.nan, 1, 0], [1, np.nan, np.nan]], equal_nan=True)
    assert ballot.labels() == ["bad", "good"]


def test_a_judge_that_was_asked_once_has_no_repeats():
    ballot = Ballot("c", rows={"1": "1"})
    ballot.hear("a", "1", "good")
    assert ballot.votes(Scale(kind="nominal", labels=("good", "bad"))).repeats == {}
