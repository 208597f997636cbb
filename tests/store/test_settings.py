"""What a store remembers for all of its runs."""

from concurrent.futures import ThreadPoolExecutor

from assay.store.settings import shuffle_seed
from assay.store.store import open_for_reading, open_store


def test_the_seed_is_drawn_once_a_store_and_found_again(tmp_path):
    store = open_store(str(tmp_path / "s.db"))
    seed = shuffle_seed(store)
    store.close()
    again = open_store(str(tmp_path / "s.db"))
    assert shuffle_seed(again) == seed
    again.close()


def test_two_stores_draw_seeds_of_their_own(tmp_path):
    seeds = set()
    for name in ("a.db", "b.db", "c.db"):
        store = open_store(str(tmp_path / name))
        seeds.add(shuffle_seed(store))
        store.close()
    assert len(seeds) == 3


def test_who_draws_at_the_same_moment_gets_the_same_seed(tmp_path):
    open_store(str(tmp_path / "s.db")).close()

    def draw(_):
        store = open_store(str(tmp_path / "s.db"))
        try:
            return shuffle_seed(store)
        finally:
            store.close()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(draw, range(16)))) == 1


def test_a_seed_drawn_between_look_and_draw_is_the_stores(tmp_path, monkeypatch):
    from assay.store import settings

    store = open_store(str(tmp_path / "s.db"))
    seed = shuffle_seed(store)
    looks = iter([None])
    real = settings._value
    monkeypatch.setattr(settings, "_value", lambda *given: next(looks, real(*given)))
    assert shuffle_seed(store) == seed
    store.close()


def test_who_only_reads_draws_a_seed_for_the_moment(tmp_path):
    open_store(str(tmp_path / "s.db")).close()
    reader = open_for_reading(str(tmp_path / "s.db"))
    assert len({shuffle_seed(reader) for _ in range(3)}) == 3
    reader.close()
    store = open_store(str(tmp_path / "s.db"))
    seed = shuffle_seed(store)
    store.close()
    reader = open_for_reading(str(tmp_path / "s.db"))
    assert shuffle_seed(reader) == seed
    reader.close()
