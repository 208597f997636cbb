"""What hostile code tries, and what honest code does; run as a script it prints what came of each as JSON.

Each entry is the body of `f(secret)`, where `secret` is a file that the parent can read and write.
"""

from __future__ import annotations

import json
import sys

ATTACKS = {
    "read a file outside": "return open(secret).read()",
    "read the password file": "return open('/etc/passwd').read()",
    "list a folder": "import os; return os.listdir(os.path.dirname(secret))",
    "read the parent's environment": "import os; return open(f'/proc/{os.getppid()}/environ').read()",
    "read the parent's memory": "import os; return open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "open a socket": "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)",
    "open a local socket": "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect('/dev/log')",
    "fork 300 processes": "import os\n    for _ in range(300):\n        os.fork()",
    "allocate 10 GB": "return len([0] * (10**10 // 8))",
    "map 10 GB": "import mmap; return len(mmap.mmap(-1, 10**10))",
    "write 10 GB": (
        "with open('/tmp/assay-attack', 'wb') as out:\n        for _ in range(10):\n            out.write(b'x' * 10**9)"
    ),
    "loop for ever": "while True:\n        pass",
    "sleep for ever": "import time\n    while True:\n        time.sleep(1000)",
    "kill the parent": "import os; os.kill(os.getppid(), 9)",
    "signal the parent by a pipe": "import fcntl, os; fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid())",
    "exec a shell": "import os; os.execv('/bin/sh', ['sh', '-c', 'echo hello'])",
    "start a shell": "import subprocess; return subprocess.run(['/bin/sh', '-c', 'id'])",
    "write into the project": "open(secret, 'a').write('changed')",
    "truncate a file": "import os; os.truncate(secret, 0)",
    "remove a file": "import os; os.remove(secret)",
    "print 1 GB": "for _ in range(1000):\n        print('x' * 10**6)",
    "print too much and hide it": "try:\n        print('x' * 10**7)\n    except BaseException:\n        return 1",
    "crash": "import ctypes; ctypes.string_at(0)",
    "leave": "import os; os._exit(0)",
    "exit": "import sys; sys.exit(0)",
    "raise the limits": "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))",
    "recurse for ever": "return f(secret)",
    "return 20 MB": "return 'x' * 2 * 10**7",
}

HONEST = {
    "standard library": (
        "import datetime, decimal, hashlib, re, sqlite3, statistics, zoneinfo\n"
        "    when = datetime.datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo('UTC'))\n"
        "    return [when.year, sqlite3.connect(':memory:').execute('select 1').fetchone()[0]]"
    ),
    "dataclasses": "return Point(1, 2)",
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "    with ThreadPoolExecutor(4) as pool:\n        return list(pool.map(abs, [-1, -2]))"
    ),
    "async": "import asyncio; return asyncio.run(later())",
    "numpy": "import numpy; return {'mean': numpy.mean([1, 2]), 'inverse': numpy.linalg.inv(numpy.eye(2))}",
    "shims": "from latticeflow.core.dtypes import SampleScore; return SampleScore({'a': 1})",
    "nowhere": "import os\n    with open(os.devnull, 'w') as out:\n        out.write('x')\n    return 1",
    "own environment": "import os; return sorted(os.environ)",
}

HEAD = """
import asyncio
from dataclasses import dataclass

@dataclass
class Point:
    x: int
    y: int

async def later():
    await asyncio.sleep(0.001)
    return await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))

def f(secret):
    """


def main(secret: str) -> None:
    from assay.sandbox.linux import CodeLimits
    from assay.sandbox.pool import Sandbox
    from assay.sandbox.program import Program, Returned

    said = {}
    with Sandbox(limits=CodeLimits(call_s=0.7)) as sandbox:
        for name, body in {**ATTACKS, **HONEST}.items():
            program = Program(source=HEAD + body + "\n", function="f", shape="plain")
            (result,) = sandbox.map(program, [[secret]])
            said[name] = {"value": result.value} if isinstance(result, Returned) else {"detail": result.detail}
    print(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1])
