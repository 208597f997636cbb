"""The filter of system calls, as a program that the kernel runs: what confined code may ask of it.

Only the standard library is used here: the worker loads this file.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence

from assay.sandbox.syscalls import ARCHITECTURES, FORKING, GUARDED, HARMLESS, NETWORK, NEWEST, number_of

Instruction = tuple[int, int, int, int]

_LOAD, _EQUAL, _GREATER, _HAS_BITS, _MASK, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

_KILL: Instruction = (_RETURN, 0, 0, 0x80000000)
_ALLOW: Instruction = (_RETURN, 0, 0, 0x7FFF0000)

_CLONE_THREAD = 0x10000
# what fork() of the C library passes to clone(): SIGCHLD, with or without the two flags that keep thread ids right
_FORKS = (0x01200011, 0x11)
_SHARED_ANONYMOUS = 0x21  # MAP_SHARED | MAP_ANONYMOUS
_SET_DEATH_SIGNAL, _SIGKILL, _SET_FILTER = 1, 9, 1
_WRITE_FLAGS = 0o1 | 0o2 | 0o100 | 0o1000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC
_UNIX, _INET, _INET6, _STREAM = 1, 2, 10, 1
# isatty, window size, bytes waiting, blocking or not, closing on exec: no terminal can be typed into
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY: each can have the kernel signal another process
_SIGNALLING = (8, 10, 15, 1024, 1026)
# names of threads and of memory regions
_PRCTLS = (15, 16, 0x53564D41)


def _refuse(number: int) -> Instruction:
    return (_RETURN, 0, 0, 0x00050000 | number)


def _argument(place: int, *, high: bool = False) -> Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * place + (4 if high else 0))


def _one_of(place: int, values: Sequence[int], refusal: int) -> list[Instruction]:
    """Allowed where an argument is one of the values."""
    body = [_argument(place)]
    for value in values:
        body += [(_EQUAL, 0, 1, value), _ALLOW]
    return [*body, _refuse(refusal)]


def _none_of(place: int, values: Sequence[int], refusal: int) -> list[Instruction]:
    """Refused where an argument is one of the values."""
    body = [_argument(place)]
    for value in values:
        body += [(_EQUAL, 0, 1, value), _refuse(refusal)]
    return [*body, _ALLOW]


def _bits(place: int, mask: int, if_set: Instruction, otherwise: Instruction) -> list[Instruction]:
    return [_argument(place), (_HAS_BITS, 0, 1, mask), if_set, otherwise]


def _opening(place: int, *, may_write: bool) -> list[Instruction]:
    """Forbid opening files for writing where Landlock is too old to control truncation."""
    if may_write:
        return [_ALLOW]
    return _bits(place, _WRITE_FLAGS, _refuse(errno.EACCES), _ALLOW)


def _bodies(*, pid: int, network: bool, may_write: bool) -> dict[str, list[Instruction]]:
    """Build the rules for each guarded call."""
    denied = [_refuse(errno.EPERM)]
    return {
        "clone": _bits(0, _CLONE_THREAD, _ALLOW, denied[0]),
        # glibc falls back to clone() only on ENOSYS; EPERM breaks every thread
        "clone3": [_refuse(errno.ENOSYS)],
        "fork": denied,
        "vfork": denied,
        "kill": _one_of(0, (pid,), errno.EPERM),
        "tgkill": _one_of(0, (pid,), errno.EPERM),
        # limits may be read, not set: the new ones are the third argument, a pointer
        "prlimit64": [_argument(2), (_EQUAL, 0, 3, 0), _argument(2, high=True), (_EQUAL, 0, 1, 0), _ALLOW, *denied],
        "ioctl": _one_of(1, _IOCTLS, errno.ENOTTY),
        "fcntl": _none_of(1, _SIGNALLING, errno.EPERM),
        "prctl": _one_of(0, _PRCTLS, errno.EPERM),
        "open": _opening(1, may_write=may_write),
        "openat": _opening(2, may_write=may_write),
        "socket": _one_of(0, (_INET, _INET6), errno.EAFNOSUPPORT) if network else denied,
        # an event loop wakes itself by such a pair; a stream cannot be addressed to anyone else
        "socketpair": [
            _argument(0),
            (_EQUAL, 0, 4, _UNIX),
            _argument(1),
            (_MASK, 0, 0, 0xF),
            (_EQUAL, 0, 1, _STREAM),
            _ALLOW,
            *denied,
        ],
    }


def _forking_bodies() -> dict[str, list[Instruction]]:
    """Build the additional permissions of a fork server: fork, wait, and confine a child."""
    forked: list[Instruction] = [_argument(0)]
    for flags in _FORKS:
        forked += [(_EQUAL, 0, 1, flags), _ALLOW]
    return {
        "clone": [*forked, *_bits(0, _CLONE_THREAD, _ALLOW, _refuse(errno.EPERM))],
        "fork": [_ALLOW],
        "wait4": [_ALLOW],
        "seccomp": _one_of(0, (_SET_FILTER,), errno.EPERM),
        # a child asks to be killed when its server ends; no other signal may be asked for
        "prctl": [
            _argument(0),
            (_EQUAL, 0, 4, _SET_DEATH_SIGNAL),
            _argument(1),
            (_EQUAL, 0, 1, _SIGKILL),
            _ALLOW,
            _refuse(errno.EPERM),
            *_one_of(0, _PRCTLS, errno.EPERM),
        ],
        # memory shared by all children would let one call change what the next one reads
        "mmap": [
            _argument(3),
            (_MASK, 0, 0, _SHARED_ANONYMOUS),
            (_EQUAL, 0, 1, _SHARED_ANONYMOUS),
            _refuse(errno.EPERM),
            _ALLOW,
        ],
    }


def filter_program(machine: str, *, pid: int, network: bool, may_write: bool, forks: bool = False) -> bytes:
    """The filter for the process `pid`: a list of what is allowed; all else is refused.

    `network` lets it make outgoing connections; `may_write` leaves the opening of files to Landlock alone; `forks`
    lets it fork children, each of which adds the stricter filter without it.

    >>> len(filter_program("x86_64", pid=1, network=False, may_write=True)) % 8
    0
    """
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, ARCHITECTURES[machine][1]),
        _KILL,
        (_LOAD, 0, 0, _NUMBER),
        (_GREATER, 0, 1, NEWEST),
        _refuse(errno.ENOSYS),
    ]
    bodies = _bodies(pid=pid, network=network, may_write=may_write)
    if forks:
        bodies |= _forking_bodies()
    plain = {**HARMLESS, **(NETWORK if network else {}), **(FORKING if forks else {})}
    for name in (*plain, *GUARDED):
        number = number_of(name, machine)
        if number is not None:
            body = bodies.get(name, [_ALLOW])
            program += [(_EQUAL, 0, len(body), number), *body]
    program.append(_refuse(errno.EPERM))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def child_program(machine: str) -> bytes:
    """Build the additional filter of a fork server's child, which removes what only the server may do.

    Short, because the kernel compiles it anew for every child.
    """
    refused = [_refuse(errno.EPERM)]
    bodies = {
        "clone": _bits(0, _CLONE_THREAD, _ALLOW, refused[0]),
        "prctl": _none_of(0, (_SET_DEATH_SIGNAL,), errno.EPERM),
        **dict.fromkeys(("fork", "wait4", "seccomp", "kill", "tgkill"), refused),
    }
    program: list[Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, ARCHITECTURES[machine][1]), _KILL]
    program.append((_LOAD, 0, 0, _NUMBER))
    for name, body in bodies.items():
        number = number_of(name, machine)
        if number is not None:
            program += [(_EQUAL, 0, len(body), number), *body]
    program.append(_ALLOW)
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
