"""Confining this process for good: Landlock for files, a filter for system calls, limits, no privileges.

Only the standard library is used here: the worker loads this file.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import site
import struct
import sys
import sysconfig
from dataclasses import dataclass
from functools import lru_cache

from assay.sandbox.seccomp_filter import child_program, filter_program
from assay.sandbox.syscalls import ARCHITECTURES, number_of

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_SECCOMP_SET_MODE_FILTER, _SECCOMP_GET_ACTION_AVAIL = 1, 2
_LANDLOCK_VERSION = 1
_RULE_PATH_BENEATH = 1
_READ_FILE, _READ_DIR, _WRITE_FILE, _TRUNCATE, _IOCTL_DEV = 1 << 2, 1 << 3, 1 << 1, 1 << 14, 1 << 15
_SCOPED = 0b11  # no signals to processes outside, no abstract sockets of theirs
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}
_MOST_RIGHTS = 16
_KNOWS_TRUNCATION, _KNOWS_IOCTL, _KNOWS_SCOPES = 3, 5, 6
_CAPABILITY_VERSION = 0x20080522
_O_PATH = 0o10000000

_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/nix/store")
_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/random", "/dev/zero")
_FOR_NETWORK = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/services",
    "/etc/protocols",
    # certificates and no more: private keys lie beside them
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/openssl.cnf",
    "/usr/share/ca-certificates",
    "/var/lib/ca-certificates",
    "/run/systemd/resolve",
)


class ConfinementError(Exception):
    """This machine cannot confine code; nothing may be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLimits:
    """The resources that code may use: memory of its process, CPU seconds of a process, seconds per call."""

    memory_bytes: int = 2 << 30
    cpu_s: int = 600
    call_s: float = 30.0
    open_files: int = 256


def unsupported() -> str | None:
    """Explain why this machine cannot confine code; None if it can."""
    if not sys.platform.startswith("linux"):
        return f"{platform.system()} has no Landlock; Linux 5.13 or newer has"
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        return f"the system calls of {machine} are not known; those of {' and '.join(ARCHITECTURES)} are"
    if _landlock_version() < 1:
        return f"Landlock is not enabled in this kernel ({platform.release()}); Linux 5.13 or newer can enable it"
    action = ctypes.c_uint32(0x00050000)
    if _call("seccomp", _SECCOMP_GET_ACTION_AVAIL, 0, ctypes.byref(action)) != 0:
        return f"this kernel ({platform.release()}) does not filter system calls"
    return None


def confine(limits: CodeLimits, *, network: bool, parent: int, forks: bool = False) -> None:
    """Give up all that code does not need, for good; a ConfinementError where that is not possible.

    With `forks` the process keeps the right to fork, which its children give up in `confine_child`.
    """
    reason = unsupported()
    if reason is not None:
        raise ConfinementError(reason)
    version = _landlock_version()
    bound(limits, file_bytes=0)
    _drop_capabilities()
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # a parent that died before the line above would never send its signal
    if os.getppid() != parent:
        raise ConfinementError("the process that started the code has ended")
    # the kernel lets an unprivileged process restrict itself only after this
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _restrict_files(version, network=network)
    # before Landlock could stop truncation, the filter has to refuse every opening for writing
    may_write = version >= _KNOWS_TRUNCATION
    _install(filter_program(platform.machine(), pid=os.getpid(), network=network, may_write=may_write, forks=forks))


def confine_child(*, server: int) -> None:
    """Confine the child of a fork server further: it ends with its server, and can neither fork nor signal."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        raise ConfinementError("the fork server has ended")
    _install(child_filter())


@lru_cache(maxsize=1)
def child_filter() -> bytes:
    """The filter that the children of a fork server add; the server builds it, so that no child has to."""
    return child_program(platform.machine())


def bound(limits: CodeLimits, *, file_bytes: int | None = None) -> None:
    """Set the limits that any process can set for itself; they apply to trusted code too."""
    # not every system has it, and this file is loaded to say so
    import resource

    kinds = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    if file_bytes is not None:
        kinds[resource.RLIMIT_FSIZE] = file_bytes
    for kind, most in kinds.items():
        hard = resource.getrlimit(kind)[1]
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (allowed, allowed))


def readable(*, network: bool) -> list[str]:
    """Return what code may read: the interpreter, installed packages, system libraries."""
    paths = sysconfig.get_paths()
    packages = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    libraries = [os.path.join(prefix, "lib") for prefix in (sys.base_prefix, sys.base_exec_prefix)]  # noqa: PTH118
    paths_read = [*packages, *site.getsitepackages(), *libraries, *_SYSTEM, *_FILES, *(_FOR_NETWORK if network else ())]
    return list(dict.fromkeys(paths_read))


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def _call(name: str, *arguments: object) -> int:
    """A system call by name; -1 when it failed."""
    number = number_of(name, platform.machine())
    converted = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return int(_libc().syscall(ctypes.c_long(-1 if number is None else number), *converted))


def _landlock_version() -> int:
    return _call("landlock_create_ruleset", None, 0, _LANDLOCK_VERSION)


def _expect(done: bool, operation: str) -> None:
    if not done:
        raise ConfinementError(f"{operation}: {os.strerror(ctypes.get_errno())}")


def _prctl(option: int, value: int) -> None:
    _expect(_libc().prctl(option, *(ctypes.c_ulong(argument) for argument in (value, 0, 0, 0))) == 0, f"prctl {option}")


def _drop_capabilities() -> None:
    """Root keeps its name and loses its powers: it reads and signals what any user may."""
    head = struct.pack("<Ii", _CAPABILITY_VERSION, 0)
    _expect(_call("capset", head, bytes(24)) == 0, "giving up privileges")


def _restrict_files(version: int, *, network: bool) -> None:
    rights = (1 << _RIGHTS_BY_VERSION.get(version, _MOST_RIGHTS)) - 1
    # rights over files, then over ports (none are handled), then scopes
    scopes = _SCOPED if version >= _KNOWS_SCOPES else 0
    ruleset = struct.pack("<QQQ", rights, 0, scopes)
    size = 8 if version < 4 else 16 if version < _KNOWS_SCOPES else 24
    ruleset_fd = _call("landlock_create_ruleset", ruleset, size, 0)
    _expect(ruleset_fd >= 0, "Landlock")
    for path in readable(network=network):
        _allow_beneath(ruleset_fd, path, (_READ_FILE | _READ_DIR) & rights)
    _allow_beneath(ruleset_fd, "/dev/null", (_READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV) & rights)
    _expect(_call("landlock_restrict_self", ruleset_fd, 0) == 0, "Landlock")
    os.close(ruleset_fd)


def _allow_beneath(ruleset: int, path: str, rights: int) -> None:
    try:
        opened = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there need not be allowed
    try:
        if not os.path.isdir(path):  # noqa: PTH112
            rights &= ~_READ_DIR
        rule = struct.pack("<Qi", rights, opened)
        _expect(_call("landlock_add_rule", ruleset, _RULE_PATH_BENEATH, rule, 0) == 0, f"Landlock: {path}")
    finally:
        os.close(opened)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _install(code: bytes) -> None:
    program = _Program(len(code) // 8, code)
    _expect(_call("seccomp", _SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(program)) == 0, "the filter of system calls")
