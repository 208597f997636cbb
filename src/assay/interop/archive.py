"""Run archives: one zip file with everything that the store holds about a run; written, verified and restored here.

An archive comes from somewhere else and is not trusted: its members, sizes, rows and documents are checked before
any of it is committed to a store.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, get_args

import orjson
from sqlalchemy import Column, Float, Integer, LargeBinary, Table

from assay.errors import SpecError, StoreError
from assay.interop.new_file import new_file
from assay.results.document import metric_from, report_from
from assay.results.run import MetricReport, RunReport
from assay.store.row_address import MAX_POSITIONS
from assay.store.run_rows import EVIDENCE, MEMBERS, Row, insert_rows, insert_run, run_row, table_rows
from assay.store.run_spec import RunSpec
from assay.store.runs import RunRecord, Status, checked_name, find, runs_of, spec_of
from assay.store.schema import runs
from assay.store.store import Store, open_store
from assay.types import FailureKind
from assay.version import __version__

SUFFIX = ".assay"
FORMAT, VERSION = "assay-run", 1
MANIFEST, RUN = "manifest.json", "run.json"
REPLIES = "calls"
SMALL, LARGEST_RATIO = 1 << 30, 100
"""An archive may unpack to 1 GiB, a larger file to 100 times its size: real ones stay below 40 times."""
LONGEST_LINE = 256 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The timestamp of every member, so that a run always produces the same bytes."""
_JSON: Mapping[str, type] = {
    "input": dict,
    "trace": list,
    "calls": list,
    "values": dict,
    "metadata": dict,
    "extra": dict,
}
"""Columns whose text is JSON, and what it must be."""
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""The exceptions raised by reading a malformed document."""


class ArchiveContent(Protocol):
    """The row of a run and its rows in the tables, from a store or from an archive."""

    @property
    def run(self) -> Row: ...

    def rows(self, name: str) -> Iterator[Row]: ...


@dataclass(frozen=True, slots=True)
class StoredContent:
    """The stored content of a run."""

    store: Store
    record: RunRecord

    @property
    def run(self) -> Row:
        return run_row(self.store, self.record)

    def rows(self, name: str) -> Iterator[Row]:
        return table_rows(self.store, self.record, MEMBERS[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A run from an archive: its record, and the id that it had where it was written."""

    record: RunRecord
    original: str
    was_there: bool


def is_archive(path: Path) -> bool:
    """Return whether a file is a run archive, by its name or its members."""
    if path.suffix.lower() == SUFFIX:
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            return {MANIFEST, RUN} <= set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def write_archive(store: Store, record: RunRecord, path: Path, *, replies: bool = False, force: bool = False) -> int:
    """Write a finished run to one file and return its number of samples."""
    if record.summary is None:
        raise SpecError(f"run {record.id} is not finished: run its file again to finish it, then export it")
    content = StoredContent(store, record)
    counts: dict[str, int] = {}
    with new_file(path, force=force) as scratch, zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_member(RUN), orjson.dumps(content.run, option=orjson.OPT_INDENT_2))
        for name in MEMBERS:
            if name == REPLIES and not replies:
                continue
            counts[name] = 0
            with archive.open(_member(f"{name}.jsonl"), "w", force_zip64=True) as member:
                for row in content.rows(name):
                    member.write(orjson.dumps(row) + b"\n")
                    counts[name] += 1
        manifest = {"format": FORMAT, "version": VERSION, "assay": __version__, "rows": counts}
        archive.writestr(_member(MANIFEST), orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
    return counts["samples"]


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


@dataclass(frozen=True, slots=True)
class ArchiveReader:
    """An open archive whose members, sizes and documents have been checked; rows are checked as they are read."""

    path: Path
    archive: zipfile.ZipFile
    counts: Mapping[str, int]
    run: Row
    spec: RunSpec
    metrics: list[Row] = field(default_factory=list)

    def rows(self, name: str) -> Iterator[Row]:
        """The rows of one table; none where the archive leaves the table out."""
        if name not in self.counts:
            return
        table, member = MEMBERS[name], f"{name}.jsonl"
        number = 0
        with self.archive.open(member) as lines:
            while line := lines.readline(LONGEST_LINE):
                number += 1
                try:
                    row = orjson.loads(line)
                    _check_row(table, row, n_scorers=len(self.spec.scorers))
                except (orjson.JSONDecodeError, _WrongRow) as error:
                    raise SpecError(f"{self.path}: {member}, line {number}: {error}") from error
                yield row
        if number != self.counts[name]:
            raise SpecError(f"{self.path}: {member} has {number:,} rows, {self.counts[name]:,} were written")

    def report(self) -> RunReport:
        """The metrics of the run, as a store would read them."""
        metrics: dict[str, tuple[MetricReport, ...]] = {}
        for row in self.rows("metrics"):
            result = metric_from(orjson.loads(row["document"]))
            report = MetricReport(key=row["metric"], type=row["type"], result=result)
            metrics[row["scorer"]] = (*metrics.get(row["scorer"], ()), report)
        head = {"run": self.run["id"], **{name: self.run.get(name) for name in ("status", "task", "model")}}
        return report_from(head, orjson.loads(self.run["summary"]), metrics)


@contextmanager
def open_archive(path: Path) -> Iterator[ArchiveReader]:
    """Open an archive and check everything about it but its rows; any damage is a SpecError that names the file."""
    if not path.is_file():
        raise SpecError(f'there is no archive "{path}"')
    try:
        with zipfile.ZipFile(path) as archive:
            yield _reader(path, archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError) as error:
        if isinstance(error, SpecError | StoreError):
            raise
        raise SpecError(f"{path} cannot be read: it is damaged or not a run archive ({error})") from error


def _reader(path: Path, archive: zipfile.ZipFile) -> ArchiveReader:
    _check_members(path, archive)
    manifest = _document(path, archive, MANIFEST)
    if manifest.get("format") != FORMAT or not isinstance(manifest.get("version"), int):
        raise SpecError(f"{path} is not a run archive: its manifest does not say so")
    if manifest["version"] > VERSION:
        raise SpecError(f"{path} was written by a newer assay ({manifest.get('assay')}): upgrade assay to read it")
    counts = manifest.get("rows")
    names = {info.filename for info in archive.infolist()} - {MANIFEST, RUN}
    if not isinstance(counts, dict) or {f"{name}.jsonl" for name in counts} != names:
        raise SpecError(f"{path}: the members are not those that the manifest lists")
    run = _document(path, archive, RUN)
    try:
        _check_run(run)
        reader = ArchiveReader(path, archive, counts, run, spec_of(run))
        reader.report()
    except (*_MALFORMED, _WrongRow) as error:
        raise SpecError(f"{path}: {RUN} or metrics.jsonl does not describe a finished run ({error})") from error
    return reader


def _check_members(path: Path, archive: zipfile.ZipFile) -> None:
    """Reject unexpected or duplicate members, and more data than the file can honestly contain."""
    names = [info.filename for info in archive.infolist()]
    expected = {MANIFEST, RUN, *(f"{name}.jsonl" for name in MEMBERS)}
    strange = next((name for name in names if name not in expected), None)
    if strange is not None:
        raise SpecError(f'{path} is not a run archive: it holds "{strange[:100]}"')
    if len(set(names)) != len(names) or not {MANIFEST, RUN} <= set(names):
        raise SpecError(f"{path} is not a run archive: {MANIFEST} or {RUN} is missing, or a member appears twice")
    size = sum(info.file_size for info in archive.infolist())
    if size > max(SMALL, LARGEST_RATIO * path.stat().st_size):
        raise SpecError(f"{path} would unpack to {size:,} bytes, far more than a run archive of its size holds")


def _document(path: Path, archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    if archive.getinfo(name).file_size > LONGEST_LINE:
        raise SpecError(f"{path}: {name} is larger than {LONGEST_LINE >> 20} MiB")
    try:
        document = orjson.loads(archive.read(name))
    except orjson.JSONDecodeError as error:
        raise SpecError(f"{path}: {name} is not valid JSON ({error})") from error
    if not isinstance(document, dict):
        raise SpecError(f"{path}: {name} must be a JSON object")
    return document


class _WrongRow(Exception):
    """A row that does not fit its table."""


def _check_run(run: Row) -> None:
    columns = {column.name: column for column in runs.c if column.name in run}
    if set(run) != set(columns):
        raise _WrongRow(f"unknown field {sorted(set(run) - set(columns))[0]!r}")
    for name, value in run.items():
        _check_value(columns[name], value)
    if not (run["id"].isalnum() and len(run["id"]) <= 40):
        raise _WrongRow(f"{run['id'][:40]!r} is not an id")
    if run["status"] not in get_args(Status) or run["status"] == "running" or run.get("summary") is None:
        raise _WrongRow("the run is not finished")
    if run.get("name") is not None:
        checked_name(run["name"])
    if run.get("tags") is not None:
        for tag in orjson.loads(run["tags"]):
            checked_name(tag, "tag")


def _check_row(table: Table, row: Any, *, n_scorers: int) -> None:
    if not isinstance(row, dict):
        raise _WrongRow("expected a JSON object")
    columns = list(table.c)
    if table in EVIDENCE:
        columns = columns[1:]
        position, slot = row.get("position"), row.get("slot")
        slots = {"samples": range(1), "failures": range(n_scorers + 1)}.get(table.name, range(1, n_scorers + 1))
        if not isinstance(position, int) or not 0 <= position < MAX_POSITIONS or slot not in slots:
            raise _WrongRow(f"position {position!r} and slot {slot!r} are not those of a sample or a score of this run")
    names = {column.name for column in columns} - {"run_no"}
    strange = set(row) - names - ({"position", "slot"} if table in EVIDENCE else set())
    if strange:
        raise _WrongRow(f"unknown field {sorted(strange)[0]!r}")
    for column in columns:
        if column.name in names:
            _check_value(column, row.get(column.name))
    if table.name == "failures" and row["kind"] not in get_args(FailureKind):
        raise _WrongRow(f"unknown kind of failure {row['kind']!r}")


def _check_value(column: Column[Any], value: Any) -> None:
    if value is None and column.nullable:
        return
    types: tuple[type, ...] = (str,)
    if isinstance(column.type, Float):
        types = (int, float)
    elif isinstance(column.type, Integer):
        types = (int,)
    if isinstance(value, bool) or not isinstance(value, types):
        raise _WrongRow(f"{column.name} is missing or has the wrong type")
    try:
        if isinstance(column.type, LargeBinary):
            bytes.fromhex(str(value))
        elif column.name in _JSON and not isinstance(orjson.loads(str(value)), _JSON[column.name]):
            raise _WrongRow(f"{column.name} is not the JSON that it should be")
    except ValueError as error:
        raise _WrongRow(f"{column.name} cannot be read ({error})") from None


def content_digest(content: ArchiveContent) -> str:
    """The digest of a run's content: everything but its id, name and tags, labels and replies."""
    run = {name: value for name, value in content.run.items() if name not in ("id", "name", "tags")}
    run["spec"] = spec_of(run).unnamed()
    total = hashlib.sha256(orjson.dumps(run, option=orjson.OPT_SORT_KEYS))
    for name in MEMBERS:
        if name not in ("labels", REPLIES):
            for row in content.rows(name):
                total.update(orjson.dumps({"member": name, **row}, option=orjson.OPT_SORT_KEYS))
    return total.hexdigest()


def restore_archive(store: Store, path: Path) -> Restored:
    """Restore the run of an archive into a store, under its own id or, if that is taken, a new one.

    A run that the store has already is not written again; labels and replies that it lacks are added.
    """
    with open_archive(path) as archive:
        return _restore(store, archive)


def copy_run(store: Store, record: RunRecord, target: Store) -> Restored:
    """Copy a finished run with its replies and labels into another store, and verify the copy by its digest."""
    if record.summary is None:
        raise SpecError(f"run {record.id} is not finished: run its file again to finish it, then copy it")
    content = StoredContent(store, record)
    copied = _restore(target, content)
    if content_digest(StoredContent(target, copied.record)) != content_digest(content):
        raise StoreError(f"the copy of run {record.id} in {target.location} differs from the run in {store.location}")
    return copied


def _restore(store: Store, content: ArchiveContent) -> Restored:
    row = content.run
    original = str(row["id"])
    candidates = runs_of(store, str(row["identity"]), run_id=original)
    digest = content_digest(content)
    for record in candidates:
        if record.summary is not None and content_digest(StoredContent(store, record)) == digest:
            with store.begin() as connection:
                for name in ("labels", REPLIES):
                    insert_rows(connection, record.no, MEMBERS[name], content.rows(name))
            return Restored(record=record, original=original, was_there=True)
    # a run whose own id is taken gets one from its content: restoring it twice gives one id
    run_id = original if all(record.id != original for record in candidates) else digest[:12]
    return Restored(record=_write(store, content, run_id), original=original, was_there=False)


def attach_archive(store: Store, path: Path) -> RunRecord:
    """Show the run of an archive in a store that is open for reading, without writing to it.

    The run has a negative number there: it is found by its id only, and never is the latest.
    """
    if not store.is_read_only:
        raise SpecError(f"{path} is an archive: `assay import {path}` makes it a run of the store")
    folder = TemporaryDirectory(prefix="assay-")
    store.own(folder)
    scratch = open_store(str(Path(folder.name) / "archive.db"))
    try:
        with open_archive(path) as archive:
            taken = runs_of(store, "", run_id=str(archive.run["id"]))
            run_id = f"{archive.run['id']}{SUFFIX}" if taken else str(archive.run["id"])
            _write(scratch, archive, run_id, no=-1 - len(store.attached))
    finally:
        scratch.close()
    store.attach(Path(folder.name) / "archive.db")
    return find(store, run_id)


def _write(store: Store, content: ArchiveContent, run_id: str, *, no: int | None = None) -> RunRecord:
    with store.begin() as connection:
        number = insert_run(connection, {**content.run, "id": run_id}, no=no)
        for name, table in MEMBERS.items():
            insert_rows(connection, number, table, content.rows(name))
    return find(store, run_id)
