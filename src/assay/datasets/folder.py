"""`folder`: every text file in a folder tree is a sample; YAML front matter becomes columns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import yaml

from assay.datasets.batch import Batch, in_batches
from assay.datasets.filters import FilteredSource
from assay.datasets.lines import LINE_BYTES, chunks, refused
from assay.datasets.paths import located_path, stay_inside
from assay.errors import SpecError
from assay.registry import SourceKind
from assay.spec.data_scalars import TAG, is_text_in_data
from assay.spec.fields import Located

_OWN_COLUMNS = ("sample_id", "file_name", "content")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class FolderSource(FilteredSource):
    """All files below a folder, sorted by path: columns sample_id (the path), file_name and content."""

    type: Literal["folder"]
    directory_path: Located
    extension: str | None = None

    def files(self, folder: Path, root: Path | None = None) -> Iterator[tuple[str, Path]]:
        """The files that are the samples, by their paths in the folder."""
        top = located_path(self.directory_path, folder, root, expected="folder")
        ending = None if self.extension is None else "." + self.extension.lower().removeprefix(".")
        paths = []
        for parent, folders, names in os.walk(top):
            folders[:] = [name for name in folders if not name.startswith(".")]
            paths += [Path(parent, name) for name in names if not name.startswith(".")]
        for name, path in sorted((path.relative_to(top).as_posix(), path) for path in paths):
            if ending is None or name.lower().endswith(ending):
                stay_inside(path, root, self.directory_path)
                yield name, path


def read_folder(settings: FolderSource, folder: Path, root: Path | None = None) -> Iterator[Batch]:
    """A sample for each file, in batches."""
    return in_batches(_samples(settings, folder, root), str(settings.directory_path))


def _samples(settings: FolderSource, folder: Path, root: Path | None) -> Iterator[dict[str, Any]]:
    for name, path in settings.files(folder, root):
        text = _text(path)
        front_matter = _FRONT_MATTER.match(text)
        columns = {} if front_matter is None else _columns(path, front_matter["yaml"])
        content = text if front_matter is None else text[front_matter.end() :]
        yield {"sample_id": name, "file_name": path.name, **columns, "content": content}


def _text(path: Path) -> str:
    parts, size = [], 0
    for chunk in chunks(path):
        parts.append(chunk)
        size += len(chunk)
        if size > LINE_BYTES:
            raise refused(path, f"longer than {LINE_BYTES // 2**20} MB, the limit of one file")
    try:
        return b"".join(parts).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refused(path, "not valid UTF-8; expected text files (`extension` chooses some of them)") from error


class _DataLoader(yaml.CSafeLoader):
    """Reads front matter as the data that it is: `no`, `12:30`, `010` and dates are text."""


def _data_scalar(loader: Any, node: Any) -> Any:
    if not node.style and is_text_in_data(node.tag, node.value):
        return node.value
    return yaml.CSafeLoader.yaml_constructors[node.tag](loader, node)


for _name in ("bool", "int", "float", "timestamp"):
    _DataLoader.add_constructor(TAG + _name, _data_scalar)


def _columns(path: Path, text: str) -> dict[str, Any]:
    try:
        # an alias can make a few bytes grow without end, and front matter has no use for it
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.CSafeLoader)):
            raise refused(path, "the front matter has a YAML alias (*name), which is not allowed there")
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
        columns = yaml.load(text, Loader=_DataLoader)  # noqa: S506 (it is a safe loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise refused(path, f"the front matter is not valid YAML: {error.problem}", line) from error
    except SpecError:
        raise
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise refused(path, f"the front matter is not valid YAML: {error}") from error
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise refused(path, "the front matter is not a mapping; expected `name: value` lines", 2)
    names = [str(key.value) for key, _ in node.value]
    for name, (key, _) in zip(names, node.value, strict=True):
        if names.count(name) > 1 or name in _OWN_COLUMNS:
            mistake = "appears twice" if names.count(name) > 1 else "is a column of its own already"
            raise refused(path, f'"{name}" in the front matter {mistake}', key.start_mark.line + 2)
    return {str(name): value for name, value in columns.items()}


KIND = SourceKind(settings=FolderSource, read=read_folder)
