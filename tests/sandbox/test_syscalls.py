from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.sandbox.syscalls import GUARDED, HARMLESS, NETWORK, NEWEST, SETTING_UP, number_of

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
EVERY = {**HARMLESS, **GUARDED, **NETWORK, **SETTING_UP}


def numbers_in(header: Path) -> dict[str, int]:
    text = header.read_text()
    found = {name: int(value) for name, value in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    aliases = re.findall(r"#define __NR_(\w+)\s+__NR3264_(\w+)", text)
    return {**found, **{name: found[other] for name, other in aliases if other in found}}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_are_those_of_the_kernel(machine):
    if not HEADERS[machine].is_file():
        pytest.skip("the kernel's headers are not installed")
    known = numbers_in(HEADERS[machine])
    assert {name: number_of(name, machine) for name in EVERY} == {name: known.get(name) for name in EVERY}


def test_no_call_is_in_two_tables():
    assert len(EVERY) == sum(len(table) for table in (HARMLESS, GUARDED, NETWORK, SETTING_UP))
    assert all(number is None or number <= NEWEST for pair in EVERY.values() for number in pair)


DANGEROUS = (
    "execve execveat ptrace process_vm_readv process_vm_writev io_uring_setup bpf mount unshare setns chroot keyctl "
    "memfd_create truncate ftruncate rename unlink mkdir pidfd_open pidfd_send_signal tkill rt_sigqueueinfo setrlimit "
    "setuid setpriority sched_setaffinity bind listen accept shmget mq_open userfaultfd perf_event_open openat2"
)


@pytest.mark.parametrize("name", DANGEROUS.split())
def test_what_could_do_harm_is_not_among_the_allowed(name):
    assert name not in EVERY
