"""`huggingface`: a dataset of the hub, or of a folder in its layout, through the library `datasets`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from assay.datasets.batch import Batch, in_batches
from assay.datasets.filters import FilteredSource
from assay.errors import MissingExtra, Problem, SpecError
from assay.registry import SourceKind
from assay.spec.fields import Located

_REFUSED = ("trust_remote_code",)


class HuggingFaceSource(FilteredSource):
    """A split of a dataset by its name on the hub; `load_dataset_kwargs` go to `datasets.load_dataset`."""

    type: Literal["huggingface"]
    path: Located
    split: str
    load_dataset_kwargs: dict[str, Any] = Field(default_factory=dict)


def read_huggingface(settings: HuggingFaceSource, folder: Path, root: Path | None = None) -> Iterator[Batch]:
    """The rows of the split, in batches."""
    return in_batches(_rows(settings), str(settings.path))


def _rows(settings: HuggingFaceSource) -> Iterator[dict[str, Any]]:
    for name in _REFUSED:
        if settings.load_dataset_kwargs.get(name):
            raise _refused(settings, f"{name} would run code of the dataset: it is not allowed")
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise MissingExtra("hf", "a dataset of the Hugging Face hub") from error
    try:
        dataset = load_dataset(str(settings.path), split=settings.split, **settings.load_dataset_kwargs)
    # the library raises whatever its readers raise: this is the boundary to it
    except Exception as error:
        raise _refused(
            settings, f"cannot be loaded: {str(error).splitlines()[0] if str(error) else error!r}"
        ) from error
    yield from dataset


def _refused(settings: HuggingFaceSource, message: str) -> SpecError:
    return SpecError(Problem(message=f"{settings.path}: {message}", place=settings.path.place))


KIND = SourceKind(settings=HuggingFaceSource, read=read_huggingface)
