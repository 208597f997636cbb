from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.sandbox import linux


@pytest.fixture
def confined():
    """Run lines in a process that has confined itself as workers do."""
    reason = linux.unsupported()
    if reason is not None:
        pytest.skip(reason)

    def run(lines: str, *, version: int | None = None, parent: str = "os.getppid()", check: bool = True) -> str:
        older = f"linux._landlock_version = lambda: {version}" if version else ""
        head = f"import os, sys\nfrom assay.sandbox import linux\n{older}\n"
        head += f"linux.confine(linux.CodeLimits(), network=False, parent={parent})\n"
        environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", head + lines], capture_output=True, text=True, env=environment, timeout=60
        )
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout.strip() if check else done.stderr

    return run


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_every_version_of_landlock_keeps_files_from_being_read_and_written(confined, tmp_path, version):
    (tmp_path / "secret").write_text("secret")
    lines = f"""
for name, mode in (("secret", "r"), ("secret", "a"), ("new", "w")):
    try:
        open({str(tmp_path)!r} + "/" + name, mode)
        print("opened", name, mode)
    except PermissionError:
        print("refused")
"""
    assert confined(lines, version=version).split() == ["refused"] * 3
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_privileges_and_limits_cannot_be_had_back(confined):
    lines = """
import resource
try:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))
except (ValueError, OSError):
    print("refused")
try:
    os.setuid(0)
except PermissionError:
    print("refused")
"""
    assert confined(lines).split() == ["refused", "refused"]


def test_the_interpreter_and_its_packages_can_be_read(confined):
    assert confined("import sqlite3, ssl, numpy; print(numpy.ones(2).sum())") == "2.0"


def test_what_may_be_read_holds_neither_the_project_nor_a_home():
    paths = linux.readable(network=True)
    assert str(Path.cwd()) not in paths
    assert not {"/", "/home", "/root", "/tmp", "/etc", "/proc", sys.prefix} & set(paths)


def test_a_process_whose_parent_has_gone_does_not_start(confined):
    done = confined("print('started')", parent="-1", check=False)
    assert "the process that started the code has ended" in done


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"platform": "darwin"}, "has no Landlock"),
        ({"machine": "riscv64"}, "system calls of riscv64 are not known"),
        ({"landlock": -1}, "Landlock is not enabled in this kernel"),
        ({"seccomp": -1}, "does not filter system calls"),
    ],
)
def test_a_machine_that_cannot_confine_says_why(monkeypatch, changes, said):
    monkeypatch.setattr(linux.sys, "platform", changes.get("platform", "linux"))
    monkeypatch.setattr(linux.platform, "machine", lambda: changes.get("machine", "x86_64"))
    monkeypatch.setattr(linux, "_landlock_version", lambda: changes.get("landlock", 7))
    monkeypatch.setattr(linux, "_call", lambda *_: changes.get("seccomp", 0))
    assert said in linux.unsupported()
    with pytest.raises(linux.ConfinementError, match=said):
        linux.confine(linux.CodeLimits(), network=False, parent=os.getppid())
