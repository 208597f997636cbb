"""Human labels of items, in a form that verdicts can be compared with."""

from __future__ import annotations

from collections import Counter

from assay.grading.dataset import RubricDataset
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.verdicts import Verdict, is_abstention, verdict_in_words


def labels_of(dataset: RubricDataset, index: int) -> list[str | None] | None:
    """Return the human label of each criterion of an item: its ground truth, else the annotators' majority."""
    item, criteria = dataset[index], dataset.get_item_rubric(index).criteria
    if item.ground_truth is not None:
        return [
            option_word(c, verdict_in_words(c, str(word))) for c, word in zip(criteria, item.ground_truth, strict=True)
        ]
    if not item.annotators:
        return None
    labels: list[str | None] = []
    for place, criterion in enumerate(criteria):
        words = [
            option_word(criterion, verdict_in_words(criterion, str(verdicts[place])))
            for verdicts in item.annotators.values()
        ]
        ranked = Counter(word for word in words if word is not None).most_common(2)
        tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
        labels.append(None if not ranked or tied else ranked[0][0])
    return labels


def option_word(criterion: Criterion, verdict: Verdict) -> str | None:
    """A verdict as a word that can be compared; None for an abstention."""
    if is_abstention(verdict):
        return None
    if isinstance(verdict, CriterionVerdict):
        return verdict.value
    assert verdict.selected_index is not None
    return criterion.choices[verdict.selected_index].label
