"""The settings that a store keeps for all of its runs."""

from __future__ import annotations

import secrets

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from assay.errors import StoreError
from assay.store.schema import settings
from assay.store.store import Store

_SEED = "shuffle_seed"


def shuffle_seed(store: Store) -> int:
    """The seed of every shuffle that names none: drawn once per store, so that later runs ask the same questions."""
    seed = _value(store, _SEED)
    if seed is None and store.is_read_only:
        # nothing was ever asked under a seed of this store: whoever only plans may use any
        return secrets.randbits(32)
    if seed is None:
        try:
            with store.begin() as connection:
                connection.execute(settings.insert().values(name=_SEED, value=str(secrets.randbits(32))))
        except StoreError as error:
            # another process may have drawn it in the same moment: then its seed is the store's
            if not isinstance(error.__cause__, IntegrityError):
                raise
        seed = _value(store, _SEED)
    assert seed is not None
    return int(seed)


def _value(store: Store, name: str) -> str | None:
    with store.connect() as connection:
        return connection.execute(select(settings.c.value).where(settings.c.name == name)).scalar()
