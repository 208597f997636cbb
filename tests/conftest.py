"""What all tests share: running the command line as a user does, in a project folder of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import urllib.request
import warnings
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from tests.postgres import Cluster

ON_BOTH_DATABASES = ("store", "runner", "faults", "cli")
"""The folders whose tests run on PostgreSQL too, when asked for with --databases."""


def pytest_addoption(parser):
    parser.addoption("--databases", choices=("sqlite", "postgresql", "both"), default="sqlite")


def pytest_generate_tests(metafunc):
    """Run the tests that use a store on each database; those about SQLite's files only on SQLite."""
    chosen = metafunc.config.getoption("--databases")
    if "database" not in metafunc.fixturenames or chosen == "sqlite":
        return
    folder = metafunc.definition.path.relative_to(Path(__file__).parent).parts[0]
    fits = folder in ON_BOTH_DATABASES and metafunc.definition.get_closest_marker("sqlite") is None
    databases = ("sqlite", "postgresql") if chosen == "both" else ("postgresql",)
    metafunc.parametrize("database", databases if fits else databases[: chosen == "both"], indirect=True)


@pytest.fixture
def database(request):
    """The database under test."""
    return getattr(request, "param", "sqlite")


@pytest.fixture(scope="session")
def postgres():
    """Make URLs of a PostgreSQL server: ASSAY_TEST_POSTGRES, or one that is started here."""
    if "ASSAY_TEST_POSTGRES" in os.environ:
        yield os.environ["ASSAY_TEST_POSTGRES"]
        return
    cluster = Cluster()
    yield cluster.url()
    cluster.stop()


_PROJECTS = count(1)


@pytest.fixture
def new_location(database, request, tmp_path):
    """Make locations of stores that are not there yet, on the database under test."""

    def make() -> str:
        n = next(_PROJECTS)
        if database == "sqlite":
            return str(tmp_path / f"s{n}.db")
        url = request.getfixturevalue("postgres")
        return f"{url}{'&' if '?' in url else '?'}project=p{os.getpid()}_{n}"

    return make


@pytest.fixture
def location(new_location):
    """The location of a store that is not there yet, on the database under test."""
    return new_location()


@pytest.fixture
def store(location):
    """An empty store that is open for writing, on the database under test."""
    from assay.store.store import open_store

    opened = open_store(location)
    yield opened
    opened.close()


@dataclass(frozen=True)
class Outcome:
    """What a user sees of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


class Project:
    """A folder with `.assay/` in it, and the `assay` command run there."""

    def __init__(self, folder: Path, store: str | None = None) -> None:
        self.folder = folder
        self.store = store
        (folder / ".assay").mkdir(parents=True, exist_ok=True)

    def write(self, name: str, text: str | list[dict]) -> Path:
        """Write a file; a list of objects becomes JSONL."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(text, str):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in text)
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_") and k != "COLUMNS"}
        store = {} if self.store is None else {"ASSAY_STORE": self.store}
        return {**kept, "COLUMNS": "80", **store, **extra}

    def start(self, *arguments: str, **extra: str) -> subprocess.Popen:
        """Begin `assay ...` in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "assay", *arguments],
            cwd=self.folder,
            env=self.environment(**extra),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def assay(self, *arguments: str, **extra: str) -> Outcome:
        """Run `assay ...` to its end in this process, which is much faster than one of its own."""
        from assay.cli.main import main

        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with (
            self._as_in_a_shell(*arguments, **extra),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            # pytest makes warnings errors; a user sees them
            warnings.resetwarnings()
            try:
                main()
                code = 0
            except SystemExit as leave:
                code = leave.code or 0
        out_text, err_text = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err))
        assert "Traceback" not in err_text, err_text
        assert "assay crashed" not in err_text, err_text
        return Outcome(code, out_text, err_text)

    def spawn(self, *arguments: str, **extra: str) -> Outcome:
        """Run `assay ...` to its end, as a process of its own."""
        process = self.start(*arguments, **extra)
        out, err = process.communicate(timeout=300)
        assert "Traceback" not in err, err
        return Outcome(process.returncode, out, err)

    def peak_mb(self, *arguments: str) -> tuple[Outcome, int]:
        """Run `assay ...` as a process of its own and measure the most memory that it had.

        A small process starts it: Linux counts the memory of whoever starts a process as that of the process.
        """
        watch = (
            "import resource, subprocess, sys; "
            "code = subprocess.run([sys.executable, '-m', 'assay', *sys.argv[1:]]).returncode; "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr); "
            "sys.exit(code)"
        )
        command = [sys.executable, "-c", watch, *arguments]
        watched = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        *lines, peak = watched.stderr.splitlines()
        return Outcome(watched.returncode, watched.stdout, "\n".join(lines)), int(peak)

    @contextlib.contextmanager
    def _as_in_a_shell(self, *arguments: str, **extra: str):
        """The folder, variables and arguments of a command; what it leaves behind in the process is undone."""
        folder, variables, argv, path = Path.cwd(), dict(os.environ), sys.argv, list(sys.path)
        modules = set(sys.modules)
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.environment(**extra))
        sys.argv = ["assay", *arguments]
        try:
            yield
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(variables)
            sys.argv, sys.path[:] = argv, path
            # plug-ins of another test may have the same name
            for name in set(sys.modules) - modules:
                file = getattr(sys.modules[name], "__file__", None)
                if file is not None and Path(file).is_relative_to(self.folder):
                    del sys.modules[name]


@pytest.fixture
def project(tmp_path, database, new_location):
    """A project folder; its store is in the folder, or on the database under test."""
    return Project(tmp_path / "project", None if database == "sqlite" else new_location())


@pytest.fixture(scope="session")
def new_project(tmp_path_factory):
    """Make a project that several tests share."""
    return lambda: Project(tmp_path_factory.mktemp("shared") / "project")


@pytest.fixture(scope="session")
def real_data():
    folder = os.environ.get("ASSAY_REAL_DATA")
    if not folder:
        pytest.skip("ASSAY_REAL_DATA is not set")
    return Path(folder)


class Loopback:
    """A model server on this machine, in a process of its own; see tests/loopback/server.py for its settings."""

    defaults = {"track_bodies": True, "keep_requests": 200}  # noqa: RUF012

    def __init__(self, url: str) -> None:
        self.url = url
        self.root = url.removesuffix("/v1")
        self._initial = self._call("/config", {})

    def _call(self, path: str, content=None):
        data = None if content is None else json.dumps(content).encode()
        with urllib.request.urlopen(urllib.request.Request(self.root + path, data=data), timeout=30) as answer:
            return json.load(answer)

    def configure(self, **settings) -> None:
        """Change settings; they hold until `reset`."""
        self._call("/config", settings)

    def reset(self) -> None:
        """Back to the initial settings, counters at zero."""
        self._call("/config", {**self._initial, **self.defaults})
        self._call("/reset", {})

    def stats(self) -> dict:
        return self._call("/stats")

    def requests(self) -> list[dict]:
        """What was asked lately: path, headers and body of each request."""
        return self._call("/requests")


@pytest.fixture(scope="session")
def loopback_process():
    server = Path(__file__).parent / "loopback" / "server.py"
    process = subprocess.Popen([sys.executable, str(server), "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        yield Loopback(process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait(timeout=10)
        process.stdout.close()


@pytest.fixture
def loopback(loopback_process):
    """The model server with its initial settings; each test starts from zero."""
    loopback_process.reset()
    return loopback_process


LIVE_TASK = """
key: live
display_name: Live
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages:
        - {role: system, content: "Answer with one letter."}
        - {role: user, content: "{{ sample.question }}"}
    sampling: {temperature: 0, max_tokens: 10}
  scorers:
    - type: string_equals_mcqa
      ground_truth_choice: "{{ sample.answer }}"
      choices: [A, B, C, D]
"""


@pytest.fixture
def read_only(tmp_path):
    """Show a folder at another place, mounted read-only."""
    mounted = []

    def mount(folder: Path) -> Path:
        place = tmp_path / f"mounted-{len(mounted)}"
        place.mkdir()
        for arguments in (["--bind", folder, place], ["-o", "remount,ro,bind", place]):
            if os.getuid() != 0 or subprocess.run(["mount", *arguments], capture_output=True).returncode:
                pytest.skip("this user may not mount")
            if not mounted or mounted[-1] != place:
                mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", place], check=True)


@pytest.fixture
def live(project, loopback):
    """A project whose model `stub` is the loopback server, answering A to D by the question."""

    def make(n: int, *, task: str = LIVE_TASK, **fields) -> Project:
        loopback.configure(body="mcq")
        model = {"key": "stub", "display_name": "Stub", "prices": {"input_per_million": 1.0, "output_per_million": 2.0}}
        config = {"url": f"{loopback.url}/chat/completions", "api_key": "$STUB_KEY", "model_key": "stub"}
        project.write("model.yaml", json.dumps({**model, **fields, "config": config}))
        rows = [{"question": f"Question {i}?", "answer": "ABCD"[i % 4]} for i in range(n)]
        project.write("data.jsonl", rows)
        project.write("task.yaml", task)
        project.write(".env", "STUB_KEY=sk-loopback\n")
        return project

    return make
