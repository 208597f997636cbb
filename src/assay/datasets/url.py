"""`url`: a file of samples at a URL, downloaded within a size limit and cached in the project."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import orjson
from pydantic import Field

from assay.datasets.batch import Batch
from assay.datasets.filters import FilteredSource
from assay.datasets.local import read_file, suffix_of
from assay.errors import Problem, SpecError
from assay.registry import SourceKind
from assay.spec.fields import Located
from assay.spec.project import project_folder

MOST_BYTES = 2**30
CHUNK_BYTES = 2**20
TIMEOUT_S = 60.0
TRUSTED_S = 60.0
"""A copy that was compared with the server so lately is taken as it is: one run asks once."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]


class UrlSource(FilteredSource):
    """A CSV, JSONL, JSON or Parquet file at an address; with `sha256` its content is pinned."""

    type: Literal["url"]
    url: Located
    sha256: Sha256 | None = None

    def files(self, folder: Path, root: Path | None = None) -> Iterator[tuple[str, Path]]:
        """The copy whose bytes are the dataset."""
        yield str(self.url), fetched(self, folder, root)


def read_url(settings: UrlSource, folder: Path, root: Path | None = None) -> Iterator[Batch]:
    """The samples of the file, in batches."""
    return read_file(fetched(settings, folder, root), settings.url)


def fetched(settings: UrlSource, folder: Path, root: Path | None) -> Path:
    """The project's copy of the file, as new as the server's; a pinned one is fetched only once."""
    url = str(settings.url)
    if urlsplit(url).scheme not in ("http", "https"):
        raise _refused(settings, f'"{url}" is not an address: it begins with http:// or https://')
    downloads = (root or project_folder(folder / "_")) / ".assay" / "downloads"
    path = downloads / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}{suffix_of(Path(urlsplit(url).path))}"
    copy = _about(path)
    expected = settings.sha256.lower() if settings.sha256 else None
    if copy and (copy["sha256"] == expected or (not expected and time.time() - copy["checked_at"] < TRUSTED_S)):
        return path
    _download(settings, path, copy)
    actual = _about(path)["sha256"]
    if expected is not None and actual != expected:
        raise _refused(settings, f"the file has the sha256 {actual}, not the one that is expected")
    return path


def _download(settings: UrlSource, path: Path, copy: dict[str, Any]) -> None:
    """Download the file unless the server reports that our copy is current."""
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    headers = {"User-Agent": "assay"}
    if copy.get("etag"):
        headers["If-None-Match"] = copy["etag"]
    elif copy.get("last_modified"):
        headers["If-Modified-Since"] = copy["last_modified"]
    try:
        with urlopen(Request(str(settings.url), headers=headers), timeout=TIMEOUT_S) as answer:  # noqa: S310
            digest = _write(settings, answer, path)
            fresh = {"etag": answer.headers.get("ETag"), "last_modified": answer.headers.get("Last-Modified")}
            _note(path, {"url": str(settings.url), "sha256": digest, **fresh, "checked_at": time.time()})
    except HTTPError as error:
        if error.code != 304:
            raise _refused(settings, f"the server answered {error.code} {error.reason}") from error
        _note(path, {**copy, "checked_at": time.time()})
    except (URLError, OSError) as error:
        raise _refused(settings, f"cannot be fetched: {getattr(error, 'reason', None) or error}") from error


def _write(settings: UrlSource, answer: Any, path: Path) -> str:
    """Write the body to the file atomically and return its sha256."""
    # .assay, which will hold the store too, is for the user alone
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    digest, size = hashlib.sha256(), 0
    with part.open("wb") as file:
        while chunk := answer.read(CHUNK_BYTES):
            size += len(chunk)
            if size > MOST_BYTES:
                part.unlink()
                raise _refused(settings, f"larger than {MOST_BYTES // 2**30} GB, the limit of a download")
            digest.update(chunk)
            file.write(chunk)
    part.replace(path)
    return digest.hexdigest()


def _about(path: Path) -> dict[str, Any]:
    """Return the metadata of a cached copy; empty if there is none or it was modified."""
    note = path.with_name(f"{path.name}.about.json")
    if not path.is_file() or not note.is_file():
        return {}
    copy: dict[str, Any] = orjson.loads(note.read_bytes())
    return copy


def _note(path: Path, copy: dict[str, Any]) -> None:
    path.with_name(f"{path.name}.about.json").write_bytes(orjson.dumps(copy))


def _refused(settings: UrlSource, message: str) -> SpecError:
    return SpecError(Problem(message=f"{settings.url}: {message}", place=settings.url.place))


KIND = SourceKind(settings=UrlSource, read=read_url)
