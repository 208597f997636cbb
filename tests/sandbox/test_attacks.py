"""Hostile code fails, honest code works: as whoever runs the tests, and as an ordinary user where that is root."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.sandbox.linux import unsupported

SCRIPT = Path(__file__).parent / "attacks.py"
KNOWN = runpy.run_path(str(SCRIPT))
NOBODY = 65534
SRC = Path(__file__).parents[2] / "src"
NEEDED = (
    "annotated_types",
    "numpy",
    "numpy.libs",
    "orjson",
    "pydantic",
    "pydantic_core",
    "typing_extensions.py",
    "typing_inspection",
    "yaml",
)
"""What the sandbox and the honest code import."""


def outcomes(folder: Path, interpreter: str, script: Path, packages: list[str], **who) -> dict:
    secret = folder / "secret.txt"
    secret.write_text("secret")
    secret.chmod(0o666)
    environment = {"PYTHONPATH": os.pathsep.join(packages), "TOP_SECRET": "canary", "PATH": os.defpath}
    done = subprocess.run(
        [interpreter, str(script), str(secret)], capture_output=True, text=True, env=environment, timeout=120, **who
    )
    assert done.returncode == 0, done.stderr
    assert secret.read_text() == "secret"
    assert "canary" not in done.stdout
    return json.loads(done.stdout)


def an_interpreter_for_anyone(folder: Path) -> str:
    """One that an ordinary user may run, as a virtual environment in the folder with copies of what is needed.

    The interpreter, the packages and the checkout of the tests may all lie where only their owner may look.
    """
    for candidate in (sys.executable, shutil.which("python3", path=os.defpath)):
        if candidate is None or not _runs_for_anyone(candidate):
            continue
        subprocess.run([candidate, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
        (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
        ours = Path(next(path for path in sys.path if path.endswith("site-packages")))
        for name in NEEDED:
            source = ours / name
            if source.is_dir():
                shutil.copytree(source, packages / name)
            elif source.is_file():
                shutil.copyfile(source, packages / name)
        shutil.copytree(SRC / "assay", packages / "assay")
        shutil.copyfile(SCRIPT, folder / SCRIPT.name)
        subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
        return str(folder / "venv" / "bin" / "python")
    pytest.skip("no interpreter that an ordinary user may run")


def _runs_for_anyone(interpreter: str) -> bool:
    asked = [interpreter, "-c", "import sys; print(sys.version_info[:2])"]
    try:
        done = subprocess.run(asked, user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, text=True)
    except PermissionError:
        return False
    return done.stdout.strip() == str(tuple(sys.version_info[:2]))


@pytest.fixture(scope="module", params=["as the user of the tests", "as an ordinary user"])
def said(request, tmp_path_factory):
    reason = unsupported()
    if reason is not None:
        pytest.skip(reason)
    if request.param == "as the user of the tests":
        ours = [str(SRC), *(path for path in sys.path if path.endswith("site-packages"))]
        return outcomes(tmp_path_factory.mktemp("own"), sys.executable, SCRIPT, ours)
    if os.getuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    folder = Path("/tmp") / f"assay-attacks-{os.getpid()}"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    try:
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        interpreter = an_interpreter_for_anyone(folder)
        return outcomes(folder, interpreter, folder / SCRIPT.name, [], **who)
    finally:
        shutil.rmtree(folder)


WORDS = {
    "loop for ever": "took longer than 0.7 s",
    "sleep for ever": "took longer than 0.7 s",
    "allocate 10 GB": "MemoryError",
    "print 1 GB": "printed more than 1,000,000 characters",
    "print too much and hide it": "printed more than 1,000,000 characters",
    "crash": "crashed its process (SIGSEGV)",
    "leave": "ended its process (exit code 0)",
    "exit": "SystemExit",
    "return 20 MB": "gave more than 16,000,000 characters",
    "recurse for ever": "RecursionError",
    "raise the limits": "Error",
    "map 10 GB": "Cannot allocate memory",
    "truncate a file": "PermissionError",
}


@pytest.mark.parametrize("name", KNOWN["ATTACKS"])
def test_an_attack_ends_as_a_named_failure(said, name):
    assert "value" not in said[name], said[name]
    assert WORDS.get(name, "PermissionError") in said[name]["detail"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("standard library", [2024, 1]),
        ("dataclasses", {"x": 1, "y": 2}),
        ("threads", [1, 2]),
        ("async", [1, 2]),
        ("numpy", {"mean": 1.5, "inverse": [[1.0, 0.0], [0.0, 1.0]]}),
        ("shims", {"scores": {"a": 1}, "metadata": {}}),
        ("nowhere", 1),
        ("own environment", ["LANG", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]),
    ],
)
def test_honest_code_works(said, name, value):
    assert said[name] == {"value": value}


def test_every_attack_and_every_honest_use_was_tried(said):
    assert list(said) == [*KNOWN["ATTACKS"], *KNOWN["HONEST"]]
