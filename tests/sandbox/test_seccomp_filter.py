"""The filter is run here by a small machine of our own, so that both architectures are tested on either."""

from __future__ import annotations

import errno
import struct

import pytest

from assay.sandbox.seccomp_filter import filter_program
from assay.sandbox.syscalls import ARCHITECTURES, HARMLESS, NETWORK, number_of

ALLOW, KILL = "allow", "kill"
PID = 4242
MACHINES = ["x86_64", "aarch64"]


def decide(program: bytes, machine: str, name: str | int, *arguments: int):
    """What the kernel would answer: allowed, killed, or the number of an error."""
    number = number_of(name, machine) if isinstance(name, str) else name
    arch = ARCHITECTURES[machine][1]
    data = struct.pack("<iIQ6Q", number, arch, 0, *arguments, *([0] * (6 - len(arguments))))
    value, at = 0, 0
    while True:
        code, yes, no, constant = struct.unpack_from("<HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            value = struct.unpack_from("<I", data, constant)[0]
        elif code == 0x54:
            value &= constant
        elif code == 0x06:
            kind = constant & 0xFFFF0000
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(kind) or constant & 0xFFFF
        else:
            holds = {0x15: value == constant, 0x25: value > constant, 0x45: bool(value & constant)}[code]
            at += yes if holds else no


def program(machine: str, **changes) -> bytes:
    return filter_program(machine, **{"pid": PID, "network": False, "may_write": True, **changes})


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("read", (3,), ALLOW),
        ("futex", (), ALLOW),
        ("clone", (0x10000 | 0x100,), ALLOW),
        ("clone", (17,), errno.EPERM),
        ("clone3", (), errno.ENOSYS),
        ("kill", (PID, 9), ALLOW),
        ("kill", (1, 9), errno.EPERM),
        ("kill", (0xFFFFFFFF, 9), errno.EPERM),
        ("tgkill", (PID, PID, 6), ALLOW),
        ("tgkill", (PID + 1, PID + 1, 9), errno.EPERM),
        ("prlimit64", (0, 9, 0), ALLOW),
        ("prlimit64", (0, 9, 0x1000), errno.EPERM),
        ("prlimit64", (0, 9, 0x100000000), errno.EPERM),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), errno.ENOTTY),
        ("fcntl", (3, 3), ALLOW),
        ("fcntl", (3, 8, 1), errno.EPERM),
        ("prctl", (15,), ALLOW),
        ("prctl", (1, 0), errno.EPERM),
        ("openat", (0, 0, 0o1101), ALLOW),
        ("socket", (2, 1), errno.EPERM),
        ("socketpair", (1, 0o2000001), ALLOW),
        ("socketpair", (1, 2), errno.EPERM),
        ("socketpair", (2, 1), errno.EPERM),
        ("connect", (), errno.EPERM),
        (440, (), errno.EPERM),
        (451, (), errno.ENOSYS),
        (0x40000000, (), errno.ENOSYS),
    ],
)
def test_the_filter_answers(machine, name, arguments, answer):
    assert decide(program(machine), machine, name, *arguments) == answer


@pytest.mark.parametrize("machine", MACHINES)
def test_every_harmless_call_is_allowed(machine):
    made = program(machine)
    for name in HARMLESS:
        if number_of(name, machine) is not None:
            assert decide(made, machine, name) == ALLOW, name


def test_another_architecture_ends_the_process():
    assert decide(program("x86_64"), "aarch64", "read") == KILL


def test_forks_are_refused():
    assert [decide(program("x86_64"), "x86_64", name) for name in ("fork", "vfork")] == [errno.EPERM] * 2


@pytest.mark.parametrize("machine", MACHINES)
def test_with_the_network_addresses_can_be_reached_and_nothing_else(machine):
    made = program(machine, network=True)
    assert [decide(made, machine, "socket", family) for family in (2, 10)] == [ALLOW, ALLOW]
    assert decide(made, machine, "socket", 1) == errno.EAFNOSUPPORT
    assert {decide(made, machine, name) for name in NETWORK} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("flags", [0o1, 0o2, 0o100, 0o1000, 0o2000000 | 0o1101])
def test_where_landlock_knows_nothing_of_truncation_nothing_is_opened_for_writing(machine, flags):
    made = program(machine, may_write=False)
    assert decide(made, machine, "openat", 0, 0, flags) == errno.EACCES
    assert decide(made, machine, "openat", 0, 0, 0o2000000) == ALLOW
