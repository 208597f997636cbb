from __future__ import annotations

from assay.stats.random import generator


def test_the_same_seed_and_address_give_the_same_numbers() -> None:
    assert generator(3, "a/b").random(5).tolist() == generator(3, "a/b").random(5).tolist()


def test_another_seed_or_address_gives_other_numbers() -> None:
    first = generator(3, "a/b").random()
    assert first != generator(4, "a/b").random()
    assert first != generator(3, "a/c").random()


def test_the_stream_is_pcg64_seeded_with_the_seed_and_the_checksum_of_the_address() -> None:
    # Written down so that a change of the recipe, which changes every stored interval, does not go unseen.
    assert generator(0, "scorer/metric/name").integers(0, 1_000_000, 3).tolist() == [554558, 112194, 871662]
