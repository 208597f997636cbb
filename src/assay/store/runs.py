"""Runs: who works on them, how far they are, what came out."""

from __future__ import annotations

import os
import secrets
import socket
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson
from sqlalchemy import Connection, Row, and_, case, func, or_, select, update

from assay.errors import Problem, RunError, SpecError, StoreUnreachable
from assay.models import logs
from assay.spec.nearest import nearest
from assay.store.run_spec import STEPS, RunKind, RunSpec
from assay.store.schema import metrics, runs
from assay.store.store import Store
from assay.text import clean

Status = Literal["running", "completed", "partial", "failed", "interrupted"]
STALE_AFTER = timedelta(seconds=30)
LATEST, OF_TASK = "latest", "@latest"
"""The names of the newest run, and of the newest run of a task."""
UNFINISHED = ("running", "interrupted")
"""States of a run that has only some of its samples."""
LONGEST_NAME = 100
CANDIDATES_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run as stored."""

    no: int
    id: str
    identity: str
    status: Status
    task: str
    file: str
    model: str | None
    seed: int
    kind: RunKind
    spec: RunSpec
    started_at: str
    finished_at: str | None
    owner: str | None
    heartbeat_at: str | None
    cursor: int
    evidence: int | None
    summary: str | None
    name: str | None = None
    tags: tuple[str, ...] = ()
    evaluation: str | None = None
    specification: str | None = None
    repeat: int = 0

    @property
    def rows_of(self) -> int:
        """Return the number of the run whose rows this run shows."""
        return self.no if self.evidence is None else self.evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """The facts about a run before it starts."""

    spec: RunSpec
    file: str
    model: str | None
    task: str | None = None
    identity: str | None = None


def now() -> str:
    """The time as it is stored: UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def state(record: RunRecord) -> Status:
    """The status as it is: a run whose process is gone was interrupted, whatever it wrote down last."""
    return "interrupted" if record.status == "running" and not _alive(record) else record.status


def start(store: Store, new: NewRun, *, evidence: int | None = None, alone: bool = False) -> RunRecord:
    """Record a new run, owned by this process; with `alone`, refuse if another process works on the same content."""
    with store.begin() as connection:
        if alone and store.is_postgres:
            # two processes that begin in the same moment do not see each other's rows: the second waits here
            key = zlib.crc32(f"run:{new.identity or new.spec.identity()}".encode())
            connection.execute(select(func.pg_advisory_xact_lock(key)))
        record = insert(connection, new, evidence=evidence)
        if alone:
            same = (runs.c.identity == record.identity) & (runs.c.status == "running") & (runs.c.no != record.no)
            for row in connection.execute(select(runs).where(same)).all():
                _refuse_second(record_of(row))
        return record


def insert(connection: Connection, new: NewRun, *, evidence: int | None = None) -> RunRecord:
    """Write down a new run, owned by this process, in a transaction that does more than that."""
    result = connection.execute(
        runs.insert().values(
            id=secrets.token_hex(6),
            identity=new.identity or new.spec.identity(),
            status="running",
            kind=new.spec.kind,
            task=new.task or new.spec.task,
            file=new.file,
            model=new.model,
            seed=new.spec.seed,
            spec=new.spec.to_json(),
            started_at=now(),
            owner=_me(),
            heartbeat_at=now(),
            cursor=0,
            evidence=evidence,
            **_names(new.spec),
        )
    )
    assert result.inserted_primary_key is not None
    return _read_run(connection, result.inserted_primary_key[0])


def _names(spec: RunSpec) -> dict[str, object]:
    """Return the columns by which a run can be found, from its spec."""
    return {
        "name": None if spec.name is None else checked_name(spec.name),
        "tags": orjson.dumps([checked_name(tag, "tag") for tag in spec.tags]).decode() if spec.tags else None,
        "evaluation": spec.evaluation,
        "specification": spec.specification,
        "repeat": spec.repeat,
    }


def checked_name(name: str, role: str = "name") -> str:
    """Check that the name or tag of a run cannot be mistaken for something else."""
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise SpecError(f'"{clean(name, width=40)}" cannot be the {role} of a run: use 1 to {LONGEST_NAME} characters')
    if role == "name" and (name == LATEST or name.endswith(OF_TASK)):
        raise SpecError(f'"{name}" cannot be the name of a run: it means the newest one')
    return name


def rename(store: Store, record: RunRecord, spec: RunSpec) -> RunRecord:
    """Give a run the names, tags and evaluation of another spec, if that has any."""
    names = {name: getattr(spec, name) for name in ("name", "tags", "evaluation", "specification")}
    changed = replace(record.spec, **{name: value for name, value in names.items() if value})
    if changed == record.spec:
        return record
    # a spec of an older form stays as it was written: only its columns change
    document = {"spec": changed.to_json()} if changed.version else {}
    with store.begin() as connection:
        connection.execute(update(runs).where(runs.c.no == record.no).values(**_names(changed), **document))
        return _read_run(connection, record.no)


def relabel(store: Store, record: RunRecord, *, name: str | None, tags: Sequence[str]) -> RunRecord:
    """Give a run exactly this name, or none, and exactly these tags."""
    changed = replace(record.spec, name=name, tags=tuple(dict.fromkeys(tags)))
    # a spec of an older form stays as it was written: only its columns change
    document = {"spec": changed.to_json()} if changed.version else {}
    columns = {column: value for column, value in _names(changed).items() if column in ("name", "tags")}
    with store.begin() as connection:
        connection.execute(update(runs).where(runs.c.no == record.no).values(**columns, **document))
        return _read_run(connection, record.no)


def claim(store: Store, record: RunRecord) -> RunRecord:
    """Take over an unfinished run; refused while another live process works on it."""
    _refuse_second(record)
    with store.begin() as connection:
        unchanged = and_(
            runs.c.no == record.no,
            runs.c.status == record.status,
            or_(runs.c.heartbeat_at == record.heartbeat_at, runs.c.heartbeat_at.is_(None)),
        )
        taken = connection.execute(
            update(runs).where(unchanged).values(status="running", owner=_me(), heartbeat_at=now())
        )
        if taken.rowcount != 1:
            raise RunError(f"run {record.id} was taken up by another process just now")
        return _read_run(connection, record.no)


def _refuse_second(record: RunRecord) -> None:
    """Raise an error if another live process works on a run."""
    if record.status != "running" or not _alive(record):
        return
    owner = _owner(record)
    since = f" since {owner.since}" if owner.since else ""
    raise RunError(
        f"run {record.id} is being worked on by process {owner.pid} on {owner.host}{since} "
        f"(last sign of life {record.heartbeat_at}); wait for it, stop it, or start another with --fresh"
    )


def advance(connection: Connection, run_no: int, cursor: int) -> None:
    """Note how many rows are finished, in the transaction that wrote them."""
    connection.execute(update(runs).where(runs.c.no == run_no).values(cursor=cursor, heartbeat_at=now()))


def beat(store: Store, run_no: int) -> None:
    """Give a sign of life, unless the database cannot be reached: the next group finds out whether it stays so."""
    with suppress(StoreUnreachable), store.begin() as connection:
        connection.execute(update(runs).where(runs.c.no == run_no).values(heartbeat_at=now()))


def finish(
    store: Store, run_no: int, *, status: Status, summary: str | None, documents: list[dict[str, object]]
) -> None:
    """Close a run with its summary and metrics."""
    with store.begin() as connection:
        connection.execute(metrics.delete().where(metrics.c.run_no == run_no))
        if documents:
            connection.execute(metrics.insert(), [{"run_no": run_no, **document} for document in documents])
        connection.execute(
            update(runs)
            .where(runs.c.no == run_no)
            .values(status=status, summary=summary, finished_at=now(), owner=None, heartbeat_at=None)
        )
    logs.event(logs.INFO, "run finished", status=status)


def latest_of(store: Store, identity: str) -> RunRecord | None:
    """The newest run with the same content, if any."""
    query = select(runs).where(runs.c.identity == identity).order_by(runs.c.no.desc()).limit(1)
    with store.connect() as connection:
        row = connection.execute(query).first()
    return None if row is None else record_of(row)


def ids_of(store: Store, numbers: Collection[int]) -> tuple[str, ...]:
    """Return the ids of the runs with these numbers, newest first; deleted ones have none."""
    query = select(runs.c.id).where(runs.c.no.in_(numbers)).order_by(runs.c.no.desc())
    with store.connect() as connection:
        return tuple(connection.execute(query).scalars()) if numbers else ()


def runs_of(store: Store, identity: str, *, run_id: str) -> list[RunRecord]:
    """The runs with this id or the same content, the one with the id first."""
    query = select(runs).where(or_(runs.c.identity == identity, runs.c.id == run_id))
    with store.connect() as connection:
        return [record_of(row) for row in connection.execute(query.order_by(runs.c.id != run_id, runs.c.no))]


def runs_of_evaluation(store: Store, key: str) -> list[RunRecord]:
    """The runs of an evaluation, newest first."""
    query = select(runs).where(runs.c.evaluation == key, runs.c.no > 0).order_by(runs.c.no.desc())
    with store.connect() as connection:
        return [record_of(row) for row in connection.execute(query)]


def latest_named(store: Store, task: str, *, model: str | None = None) -> RunRecord | None:
    """Return the newest run of a task, whatever its content, preferably of the same model."""
    same_model = case((runs.c.model == model, 1), else_=0)
    query = select(runs).where(runs.c.task == task).order_by(same_model.desc(), runs.c.no.desc()).limit(1)
    with store.connect() as connection:
        row = connection.execute(query).first()
    return None if row is None else record_of(row)


def find(store: Store, name: str) -> RunRecord:
    """Find a run by name, in the documented order of precedence.

    Its full id; its name, the newest of several; the specification of an evaluation, its newest run; `TASK@latest`, the
    newest run of a task; `latest`, the newest of all; a unique prefix of its id. Steps of something else, such as the
    probes of an audit, are found by id only.
    """
    every = select(runs).order_by(runs.c.no.desc())
    # the run of an attached archive has a negative number: only its full id means it
    newest = every.where(runs.c.no > 0)
    user_runs = newest.where(runs.c.kind.not_in(sorted(STEPS))).limit(1)
    queries = [every.where(runs.c.id == name), user_runs.where(runs.c.name == name)]
    # of a specification that is run several times, the first run is its result
    first = select(runs).order_by(case((runs.c.repeat == 0, 0), else_=1), runs.c.no.desc()).limit(1)
    queries.append(first.where(runs.c.specification == name, runs.c.no > 0))
    if name.endswith(OF_TASK):
        queries.append(user_runs.where(runs.c.task == name.removesuffix(OF_TASK)))
    if name == LATEST:
        queries.append(user_runs)
    with store.connect() as connection:
        for query in queries:
            row = connection.execute(query).first()
            if row is not None:
                return record_of(row)
        prefix = newest.where(runs.c.id.startswith(name, autoescape=True)).limit(CANDIDATES_SHOWN + 1)
        records = [record_of(row) for row in connection.execute(prefix)]
    if len(records) == 1:
        return records[0]
    raise _not_found(store, name) if not records else _ambiguous(name, records)


def newest_finished(store: Store) -> RunRecord:
    """Return the newest run that is neither running nor interrupted."""
    finished = runs.c.status.not_in(UNFINISHED) & runs.c.kind.not_in(sorted(STEPS)) & (runs.c.no > 0)
    with store.connect() as connection:
        row = connection.execute(select(runs).where(finished).order_by(runs.c.no.desc()).limit(1)).first()
    if row is None:
        raise _not_found(store, LATEST)
    return record_of(row)


def _ambiguous(name: str, records: Sequence[RunRecord]) -> SpecError:
    candidates = ", ".join(
        f"{record.id} ({clean(record.name or record.task, width=30)})" for record in records[:CANDIDATES_SHOWN]
    )
    more = ", and more" if len(records) > CANDIDATES_SHOWN else ""
    return SpecError(f'"{name}" could be any of these runs: {candidates}{more}')


def _not_found(store: Store, name: str) -> SpecError:
    if name == LATEST:
        return SpecError(f'no run "{name}" in {store.location}: there is none yet')
    columns = [runs.c.name, runs.c.specification, runs.c.task]
    with store.connect() as connection:
        names, specifications, tasks = (
            {text for (text,) in connection.execute(select(column).distinct()) if text} for column in columns
        )
    candidates = names | specifications | {f"{task}{OF_TASK}" for task in tasks}
    message = f'no run "{name}" in {store.location}: `assay runs` lists those there are'
    return SpecError(Problem(message=message, suggestion=nearest(name, sorted(candidates))))


def all_runs(store: Store, limit: int | None, *, steps: bool = False) -> list[RunRecord]:
    """The newest runs, newest first; those that are a step of something else only when `steps` is set."""
    query = select(runs).order_by(runs.c.no.desc()).limit(limit)
    if not steps:
        query = query.where(runs.c.kind.not_in(sorted(STEPS)))
    with store.connect() as connection:
        return [record_of(row) for row in connection.execute(query)]


def differing(records: Sequence[RunRecord]) -> list[dict[str, object]]:
    """Return for each run the settings that distinguish it from other runs of its task in the list.

    These are the parameters of its task, limit, seed, repeat, and for rescored runs the run that was answered.
    """
    settings = [
        {
            **record.spec.config,
            "limit": record.spec.limit,
            "seed": record.spec.seed,
            "repeat": record.spec.repeat,
            "rescored": record.spec.provenance.source_run,
        }
        for record in records
    ]
    seen: dict[tuple[str, str], set[str]] = {}
    keys = {key for run_settings in settings for key in run_settings}
    for record, run_settings in zip(records, settings, strict=True):
        for key in keys:
            seen.setdefault((record.task, key), set()).add(repr(run_settings.get(key)))
    return [
        {key: value for key, value in run_settings.items() if value is not None and len(seen[record.task, key]) > 1}
        for record, run_settings in zip(records, settings, strict=True)
    ]


def metric_documents(store: Store, run_no: int) -> list[tuple[str, str, str, str]]:
    """The metrics of a run in the order of its file."""
    query = (
        select(metrics.c.scorer, metrics.c.metric, metrics.c.type, metrics.c.document)
        .where(metrics.c.run_no == run_no)
        .order_by(metrics.c.place)
    )
    with store.connect() as connection:
        return [(row.scorer, row.metric, row.type, row.document) for row in connection.execute(query)]


def _read_run(connection: Connection, run_no: int) -> RunRecord:
    return record_of(connection.execute(select(runs).where(runs.c.no == run_no)).one())


def record_of(row: Row[tuple[object, ...]]) -> RunRecord:
    """Build the run of a table row."""
    tags = row._mapping["tags"]
    return RunRecord(
        **{
            **row._mapping,
            "spec": RunSpec.from_json(row._mapping["spec"]),
            "tags": () if tags is None else tuple(orjson.loads(tags)),
        }
    )


def spec_of(row: Mapping[str, Any]) -> RunSpec:
    """Build the spec of a table row."""
    return RunSpec.from_json(row["spec"])


_SINCE = f"{now()[:19]}Z"
"""The time when this process started to work with runs, as messages state it."""


class _Owner(NamedTuple):
    """The process that works on a run; `ticks` is when it started, as its machine counts."""

    host: str
    pid: str
    ticks: str
    since: str = ""


def _owner(record: RunRecord) -> _Owner:
    host, pid, ticks, since, *_ = [*(record.owner or "").split(":", 3), "", "", "", ""]
    return _Owner(host, pid, ticks, since)


def _me() -> str:
    """Identify this process; its start time distinguishes it from a later process with the same number."""
    return ":".join((socket.gethostname(), str(os.getpid()), _started(os.getpid()), _SINCE))


def _started(pid: int) -> str:
    try:
        # field 22 of /proc/PID/stat; the name in field 2 may hold blanks, so count from its closing bracket
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _alive(record: RunRecord) -> bool:
    """Return whether the owner is alive: certain on this machine, judged by its heartbeat elsewhere."""
    owner = _owner(record)
    if owner.host == socket.gethostname() and owner.pid.isdigit():
        if int(owner.pid) == os.getpid():
            return False
        try:
            os.kill(int(owner.pid), 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return owner.ticks == _started(int(owner.pid))
    if record.heartbeat_at is None:
        return False
    return datetime.now(UTC) - datetime.fromisoformat(record.heartbeat_at) < STALE_AFTER
