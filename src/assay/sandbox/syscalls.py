"""System calls by name: their numbers on x86_64 and aarch64, and which of them confined code may make.

Only the standard library is used here: the worker loads this file.
"""

from __future__ import annotations

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column in the tables and the kernel's architecture number for each machine."""

NEWEST = 450
"""The highest call number in these tables; newer calls are answered with "no such call", which the C library accepts.
"""

Numbers = dict[str, tuple[int | None, int | None]]

# fmt: off
HARMLESS: Numbers = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "fstat": (5, 80), "lseek": (8, 62), "mmap": (9, 222),
    "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "pread64": (17, 67), "readv": (19, 65),
    "preadv": (295, 69), "writev": (20, 66), "pwrite64": (18, 68), "access": (21, None), "pipe": (22, None),
    "pipe2": (293, 59), "select": (23, None), "pselect6": (270, 72), "poll": (7, None), "ppoll": (271, 73),
    "sched_yield": (24, 124), "mremap": (25, 216), "msync": (26, 227), "mincore": (27, 232), "madvise": (28, 233),
    "munlock": (150, 229), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "pause": (34, None),
    "nanosleep": (35, 101), "getitimer": (36, 102), "setitimer": (38, 103), "alarm": (37, None),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
    "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153), "getpid": (39, 172), "getppid": (110, 173),
    "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getresuid": (118, 148), "getresgid": (120, 150), "getgroups": (115, 158), "getpgrp": (111, None),
    "getpgid": (121, 155), "getsid": (124, 156), "getcpu": (309, 168), "exit": (60, 93), "exit_group": (231, 94),
    "uname": (63, 160), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "getrlimit": (97, 163),
    "getrusage": (98, 165), "sysinfo": (99, 179), "umask": (95, 166), "sigaltstack": (131, 132),
    "arch_prctl": (158, None), "futex": (202, 98), "futex_waitv": (449, 449), "set_tid_address": (218, 96),
    "set_robust_list": (273, 99), "get_robust_list": (274, 100), "rseq": (334, 293), "membarrier": (324, 283),
    "restart_syscall": (219, 128), "sched_getaffinity": (204, 123), "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120), "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    "getpriority": (140, 141), "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_wait": (232, None), "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441), "eventfd": (284, None),
    "eventfd2": (290, 19), "timerfd_create": (283, 85), "timerfd_settime": (286, 86), "timerfd_gettime": (287, 87),
    "timer_create": (222, 107), "timer_settime": (223, 110), "timer_gettime": (224, 108),
    "timer_getoverrun": (225, 109), "timer_delete": (226, 111), "signalfd4": (289, 74), "stat": (4, None),
    "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291), "readlink": (89, None),
    "readlinkat": (267, 78), "getdents": (78, None), "getdents64": (217, 61), "faccessat": (269, 48),
    "faccessat2": (439, 439), "statfs": (137, 43), "fstatfs": (138, 44), "fadvise64": (221, 223),
    "getrandom": (318, 278), "recvfrom": (45, 207), "recvmsg": (47, 212), "sendto": (44, 206), "sendmsg": (46, 211),
    "shutdown": (48, 210), "getsockopt": (55, 209), "setsockopt": (54, 208), "getsockname": (51, 204),
    "getpeername": (52, 205),
}
"""Memory, time, threads, waiting, and reading what is open or may be opened; no more."""

GUARDED: Numbers = {
    "clone": (56, 220), "clone3": (435, 435), "fork": (57, None), "vfork": (58, None), "kill": (62, 129),
    "tgkill": (234, 131), "prlimit64": (302, 261), "ioctl": (16, 29), "fcntl": (72, 25), "prctl": (157, 167),
    "open": (2, None), "openat": (257, 56), "socket": (41, 198), "socketpair": (53, 199),
}
"""Calls allowed only for some arguments, or answered specially; see `guard.py`."""

FORKING: Numbers = {"wait4": (61, 260), "seccomp": (317, 277)}
"""Calls that a fork server needs in addition: to wait for its children and to confine them further."""

NETWORK: Numbers = {
    "connect": (42, 203), "recvmmsg": (299, 243), "sendmmsg": (307, 269),
}
"""Calls that an outgoing connection needs in addition to `socket`."""

SETTING_UP: Numbers = {
    "seccomp": (317, 277), "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446), "capset": (126, 91),
}
"""Calls needed to confine the process; denied afterwards."""
# fmt: on


def number_of(name: str, machine: str) -> int | None:
    """Return the number of a call on a machine; None if it does not exist there.

    >>> number_of("openat", "x86_64"), number_of("fork", "aarch64")
    (257, None)
    """
    column = ARCHITECTURES[machine][0]
    return next(table[name][column] for table in (HARMLESS, GUARDED, FORKING, NETWORK, SETTING_UP) if name in table)
