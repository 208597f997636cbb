"""A store in PostgreSQL: its URL, who may do what, what its errors say, and what happens when connections break."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import create_engine, inspect, select, text

from assay.errors import RejectedValue, RunError, SpecError, StoreError, StoreUnreachable
from assay.store import postgres as pg
from assay.store import runs, schema
from assay.store import sample_rows as evidence
from assay.store.info import store_info
from assay.store.migrate import configuration
from assay.store.run_spec import RunSpec
from assay.store.store import (
    bring_up_to_date,
    open_for_planning,
    open_for_reading,
    open_store,
    store_exists,
)
from assay.store.stored_text import escaped, unescaped
from assay.types import Failure

# these say themselves which database they are about
pytestmark = pytest.mark.sqlite
deep = pytest.mark.deep

NEW = runs.NewRun(identity="abc", file="t.yaml", model=None, spec=RunSpec(kind="run", task="t"))


@pytest.fixture
def url(postgres, request):
    """The URL of a project of its own on the server."""
    name = "".join(c for c in request.node.name if c.isalnum())[:50].lower()
    return f"{postgres}{'&' if '?' in postgres else '?'}project=t_{name}"


@pytest.fixture
def server(postgres):
    """A connection with all rights."""
    engine = create_engine("postgresql+psycopg://", creator=lambda: _connect(postgres), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def _connect(location):
    import psycopg

    return psycopg.connect(location)


def project_of(url):
    return pg.address_of(url).project


def test_smoke_a_run_on_postgres_has_the_numbers_of_a_run_on_sqlite(project, url):
    rows = [{"q": f"q{n}\x00", "answer": "AB"[n % 2], "output": "A"} for n in range(40)]
    project.write("data.jsonl", rows)
    project.write(
        "task.yaml",
        "key: t\ndisplay_name: T\ndefinition:\n  dataset: {source: {type: local, file_path: data.jsonl}}\n"
        "  scorers:\n    - {type: string_equals, value: '{{ sample.output }}', ground_truth: '{{ sample.answer }}'}\n",
    )
    documents, exports = [], []
    for store in (project.store or str(project.folder / "s.db"), url):
        outcome = project.assay("run", "task.yaml", "--json", ASSAY_STORE=store)
        assert outcome.code == 0, outcome.err
        documents.append({**outcome.json, "run": None})
        samples = project.assay("samples", "latest", "--json", "--limit", "100", ASSAY_STORE=store)
        assert samples.code == 0, samples.err
        exports.append(samples.out)
        assert project.assay("show", ASSAY_STORE=store).code == 0
    assert documents[0] == documents[1]
    assert exports[0] == exports[1]
    assert len(exports[0].splitlines()) == 40


@deep
@pytest.mark.parametrize(
    ("location", "conninfo", "shown", "project"),
    [
        ("postgresql://h/d", "postgresql://h/d?connect_timeout=10", "postgresql://h/d", "assay"),
        (
            "postgres://u:p%40w@h:1/d?sslmode=require&project=x&connect_timeout=3",
            "postgresql://u:p%40w@h:1/d?sslmode=require&connect_timeout=3",
            "postgresql://u@h:1/d?sslmode=require&project=x&connect_timeout=3",
            "x",
        ),
        (
            "postgresql://u@h1:1,h2:2/d?password=secret",
            "postgresql://u@h1:1,h2:2/d?password=secret&connect_timeout=10",
            "postgresql://u@h1:1,h2:2/d",
            "assay",
        ),
        (
            "postgresql:///?service=team",
            "postgresql:///?service=team&connect_timeout=10",
            "postgresql:///?service=team",
            "assay",
        ),
    ],
)
def test_a_url_is_left_to_libpq_and_shown_without_its_password(location, conninfo, shown, project):
    address = pg.address_of(location)
    assert (address.conninfo, address.shown, address.project) == (conninfo, shown, project)
    assert "p%40w" not in repr(address)
    assert "secret" not in repr(address)


@deep
@pytest.mark.parametrize(
    "location", ["postgresql://u:pw/x@host/x", "postgresql://u:pw@h/d?project=a-b", "postgresql://u:pw@h/d?x"]
)
def test_a_malformed_url_is_an_error_without_the_password(location):
    with pytest.raises(SpecError) as raised:
        open_store(location)
    assert "pw" not in str(raised.value)


@deep
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"password": "wrong"}, "password authentication failed.*PGPASSWORD"),
        ({"password": None}, "no password supplied.*PGPASSWORD"),
        ({"user": "stranger", "password": "x"}, "authentication failed"),
        ({"database": "nowhere"}, 'database "nowhere" does not exist: create the database'),
    ],
)
def test_a_refused_connection_is_one_line_without_the_password(cluster, changes, words):
    with pytest.raises(StoreError, match=words) as raised:
        open_store(cluster.url(**changes))
    assert "\n" not in str(raised.value)
    assert "sesame" not in str(raised.value)


@pytest.fixture(scope="module")
def cluster(postgres):
    """The server that the tests started, whose password is known."""
    from tests.postgres import STARTED

    if not STARTED:
        pytest.skip("ASSAY_TEST_POSTGRES is a server of somebody else")
    return STARTED[0]


@deep
@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("postgresql://u:secret@localhost:1/d", "cannot be reached: Connection refused"),
        ("postgresql://u:secret@no-such-host.invalid/d", "cannot be reached: failed to resolve host"),
        ("postgresql://u:secret@localhost/d?nonsense=1", 'invalid URI query parameter: "nonsense"'),
        ("postgresql:///?service=nowhere", 'service "nowhere" not found'),
    ],
)
def test_an_unreachable_database_is_one_line(location, words, project):
    outcome = project.assay("runs", "--store", location)
    assert outcome.code == 3
    assert words in " ".join(outcome.err.split())
    assert "secret" not in outcome.err


@deep
def test_reading_where_there_is_no_store_creates_nothing(url, server):
    for opening in (open_for_reading, lambda location: open_store(location, create=False), store_info):
        with pytest.raises(SpecError, match="no store at .* yet"):
            opening(url)
    open_for_planning(url).close()
    assert not store_exists(url)
    names = server.execute(text("SELECT nspname FROM pg_namespace")).scalars().all()
    assert project_of(url) not in names


@deep
def test_a_store_that_is_open_for_reading_refuses_every_write(url):
    open_store(url).close()
    store = open_for_reading(url)
    with pytest.raises(StoreError, match="read-only transaction"):
        runs.start(store, NEW)
    store.close()


@deep
def test_a_role_that_may_only_read_can_use_every_reading_command(project, url, server, cluster):
    project.write("d.jsonl", [{"answer": "A", "output": "A"}])
    project.write(
        "t.yaml",
        "key: t\ndisplay_name: T\ndefinition:\n  dataset: {source: {type: local, file_path: d.jsonl}}\n"
        "  scorers:\n    - {type: string_equals, value: '{{ sample.output }}', ground_truth: '{{ sample.answer }}'}\n",
    )
    assert project.assay("run", "t.yaml", "--store", url).code == 0
    assert project.assay("run", "t.yaml", "--store", url, "--fresh").code == 0
    server.execute(text("CREATE ROLE reader LOGIN PASSWORD 'look'"))
    server.execute(text(f'GRANT USAGE ON SCHEMA "{project_of(url)}" TO reader'))
    reading = cluster.url(user="reader", password="look") + f"&project={project_of(url)}"
    refused = project.assay("runs", "--store", reading)
    assert refused.code == 3
    assert "permission denied" in refused.err
    assert "ask the owner" in refused.err
    server.execute(text(f'GRANT SELECT ON ALL TABLES IN SCHEMA "{project_of(url)}" TO reader'))
    commands = [
        ["runs"],
        ["runs", "--costs"],
        ["show"],
        ["samples", "latest"],
        ["export", "latest", "--to", "x.jsonl"],
        ["export", "latest", "--to", "run.assay"],
        ["show", "run.assay"],
        ["compare", "t@latest", "run.assay"],
        ["gate", "latest", "--require", "accuracy >= 0"],
        ["report", "latest", "--output", "r.html"],
        ["plan", "t.yaml"],
        ["store", "info"],
    ]
    for command in commands:
        outcome = project.assay(*command, "--store", reading)
        assert outcome.code == 0, (command, outcome.err)
    refused = project.assay("run", "t.yaml", "--store", reading)
    assert refused.code == 3
    assert "permission denied" in refused.err
    server.execute(text("DROP OWNED BY reader"))
    server.execute(text("DROP ROLE reader"))


HOSTILE = [
    "a\x00b",
    "\x00",
    "\u24000",
    "\u2400\u2400",
    "a\tb\nc\\d\\N",
    "\\.",
    "'; DROP TABLE runs; --",
    "%s %(x)s",
    "é𝕏\u202e",
    "",
]


@deep
@pytest.mark.parametrize("hostile", HOSTILE)
def test_any_text_round_trips(url, hostile):
    assert unescaped(escaped(hostile)) == hostile
    store = open_store(url)
    columns = evidence.SampleColumns(
        positions=[0], ids=[hostile], trials=[0], inputs=["{}"], outputs=[hostile], traces=[None], calls=[None]
    )
    record = runs.start(store, NEW)
    with store.begin() as connection:
        evidence.write_samples(connection, record.no, columns)
        failure = Failure(stage="score", kind="parse", detail=hostile, retryable=False)
        evidence.write_failures(connection, record.no, 1, [(0, failure)])
    (sample,) = evidence.stored_samples(store, record.no, sample_id=hostile)
    assert (sample.sample_id, sample.output, sample.failures[1].detail) == (hostile, hostile, hostile)
    assert evidence.first_failure(store, record.no) == hostile
    store.close()


@deep
def test_half_a_character_and_a_number_beyond_64_bits_are_rejected(url):
    store = open_store(url)
    for position, output in ((0, "\ud800"), (1 << 70, "x")):
        columns = evidence.SampleColumns(
            positions=[position], ids=["s"], trials=[0], inputs=["{}"], outputs=[output], traces=[None], calls=[None]
        )
        with pytest.raises(RejectedValue, match="rejects a value"), store.begin() as connection:
            evidence.write_samples(connection, 1, columns)
    assert evidence.count_samples(store, 1) == 0
    store.close()


def _shape(engine):
    inspector = inspect(engine)
    return {
        table: (
            [(c["name"], str(c["type"]), c["nullable"]) for c in inspector.get_columns(table)],
            inspector.get_pk_constraint(table)["constrained_columns"],
            sorted((tuple(i["column_names"]), i["unique"]) for i in inspector.get_indexes(table)),
            sorted(tuple(u["column_names"]) for u in inspector.get_unique_constraints(table)),
        )
        for table in inspector.get_table_names()
    }


@deep
def test_migrations_make_the_same_tables_as_the_schema(url):
    from alembic import command

    fresh = open_store(f"{url}_a")
    address = pg.address_of(f"{url}_b")
    engine = pg.open_engine(address, read_only=False)
    config = configuration()
    with engine.begin() as connection:
        connection.execute(text(f'CREATE SCHEMA "{address.project}"'))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    assert _shape(engine) == _shape(fresh.engine)
    with engine.connect() as connection:
        assert connection.execute(select(schema.version.c.version_num)).scalar() == schema.SCHEMA_VERSION
    engine.dispose()
    fresh.close()


@deep
def test_an_older_store_is_migrated_only_when_asked(url):
    from alembic import command

    address = pg.address_of(url)
    engine = pg.open_engine(address, read_only=False)
    config = configuration()
    with engine.begin() as connection:
        connection.execute(text(f'CREATE SCHEMA "{address.project}"'))
        config.attributes["connection"] = connection
        command.upgrade(config, "0003")
        connection.execute(
            text(
                "INSERT INTO runs (id, identity, status, task, file, seed, spec, started_at, cursor) "
                "VALUES ('abc', 'i', 'completed', 't', 't.yaml', 0, '{}', '2026-01-02T03:04:05+00:00', 0)"
            )
        )
    engine.dispose()
    for opening in (open_store, open_for_reading):
        with pytest.raises(StoreError, match="older schema 0003.*assay store migrate"):
            opening(url)
    assert store_info(url).state == "older"
    migration = bring_up_to_date(url)
    assert (migration.before, migration.after, migration.backup) == ("0003", schema.SCHEMA_VERSION, None)
    store = open_for_reading(url)
    assert runs.find(store, "abc").kind == "run"
    store.close()
    assert bring_up_to_date(url) is None


@deep
def test_a_newer_store_is_refused(url, server):
    open_store(url).close()
    server.execute(text(f"UPDATE {project_of(url)}.alembic_version SET version_num = '9999'"))
    for opening in (open_store, open_for_reading, bring_up_to_date):
        with pytest.raises(StoreError, match=r"newer assay \(schema 9999.*upgrade assay"):
            opening(url)


@deep
def test_a_schema_of_another_application_is_refused_untouched(url, server):
    server.execute(text(f"CREATE SCHEMA {project_of(url)}"))
    server.execute(text(f"CREATE TABLE {project_of(url)}.invoices (x int)"))
    for opening in (open_store, open_for_reading):
        with pytest.raises(StoreError, match="belongs to another application .it holds invoices.*project"):
            opening(url)


def _open_and_start(url, barrier, outcomes):
    barrier.wait()
    try:
        store = open_store(url)
        runs.start(store, NEW)
        store.close()
        outcomes.append("ok")
    except Exception as error:
        outcomes.append(repr(error))


@deep
def test_of_eight_that_create_a_store_at_once_none_fails(url):
    # the lock belongs to a connection: threads with connections of their own are as good as processes
    barrier, outcomes = threading.Barrier(8), []
    threads = [threading.Thread(target=_open_and_start, args=(url, barrier, outcomes)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert outcomes == ["ok"] * 8
    assert store_info(url).counts["runs"] == 8


@deep
def test_projects_in_one_database_do_not_see_each_other(url):
    one, two = open_store(f"{url}_1"), open_store(f"{url}_2")
    runs.start(one, NEW)
    assert len(runs.all_runs(one, 10)) == 1
    assert runs.all_runs(two, 10) == []
    one.close()
    two.close()


@deep
def test_of_two_processes_that_begin_the_same_run_one_is_refused(url, monkeypatch):
    stores = [open_store(url), open_store(url)]
    barrier, outcomes = threading.Barrier(2), []
    # both threads are one process: let each look like another machine to the other
    monkeypatch.setattr(runs, "_me", lambda: f"host-{threading.get_ident()}:1:2:2026-11-18T20:00:00Z")

    def begin(store):
        barrier.wait()
        try:
            outcomes.append(runs.start(store, NEW, alone=True).id)
        except RunError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=begin, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [outcome for outcome in outcomes if "being worked on" in outcome]
    assert len(refused) == 1
    assert "on host-" in refused[0]
    assert "since 2026-11-18T20:00:00Z" in refused[0]
    assert len(runs.all_runs(stores[0], 10)) == 1
    for store in stores:
        store.close()


@deep
def test_a_transaction_whose_connection_is_killed_is_done_again_once(url, server):
    store = open_store(url)
    attempts = []

    def work(connection):
        evidence.write_unsettled(connection, 1, 1, [len(attempts)])
        attempts.append(1)
        if len(attempts) == 1:
            pid = connection.execute(text("SELECT pg_backend_pid()")).scalar()
            server.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})
            connection.execute(text("SELECT 1"))
        return "done"

    assert store.commit(work, is_done=lambda _: False) == "done"
    assert len(attempts) == 2
    assert evidence.retryable_positions(store, 1) == {1}
    store.close()


@deep
def test_work_that_was_committed_before_its_connection_broke_is_not_done_twice(url):
    store = open_store(url)
    calls = []

    def work(connection):
        calls.append(1)
        raise StoreUnreachable("the server committed, and its answer was lost")

    assert store.commit(work, is_done=lambda _: True) is None
    assert calls == [1]
    store.close()


@pytest.mark.parametrize(
    ("name", "server_words", "words"),
    [
        ("DiskFull", 'could not extend file "base/1": No space left on device', "make room on the server"),
        ("InsufficientPrivilege", "permission denied for table runs", "ask the owner of the database"),
        ("AdminShutdown", "terminating connection due to administrator command", "cannot be reached"),
    ],
)
def test_an_error_of_the_server_says_what_to_do(name, server_words, words):
    import psycopg

    error = pg.translated(
        getattr(psycopg.errors, name)(f"{server_words}\nCONTEXT:  COPY samples, line 3"), "postgresql://h/d"
    )
    assert words in str(error)
    assert server_words in str(error)
    assert "\n" not in str(error)
    assert isinstance(error, StoreUnreachable) == (name == "AdminShutdown")
