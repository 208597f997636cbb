"""Decide whether calls of a snippet may share a process, by inspecting the code, never by running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from assay.spec.code import Code

Isolation = Literal["process", "batch"]

# builtins that run text, or reach what surrounds the snippet
_NAMES = frozenset({"exec", "eval", "compile", "__import__", "__builtins__", "__loader__", "__spec__", "globals"})
# ways from any object to frames, modules and classes, and with them to the worker
_ATTRIBUTES = frozenset(
    {
        "__builtins__",
        "__bases__",
        "__class__",
        "__code__",
        "__closure__",
        "__dict__",
        "__func__",
        "__getattribute__",
        "__globals__",
        "__import__",
        "__loader__",
        "__mro__",
        "__self__",
        "__spec__",
        "__subclasses__",
        "_current_frames",
        "_getframe",
        "ag_frame",
        "cr_frame",
        "f_back",
        "f_builtins",
        "f_globals",
        "f_locals",
        "gi_frame",
        "tb_frame",
    }
)
_OF_SYS = frozenset({"argv", "byteorder", "float_info", "float_repr_style", "getsizeof", "hash_info", "int_info",
                     "intern", "maxsize", "maxunicode", "platform", "setrecursionlimit", "getrecursionlimit",
                     "set_int_max_str_digits", "stderr", "stdin", "stdout", "version", "version_info"})  # fmt: skip
HARMLESS_MODULES = frozenset(
    {
        "__future__", "abc", "array", "ast", "asyncio", "base64", "binascii", "bisect", "calendar", "cmath",
        "collections", "colorsys", "concurrent", "contextlib", "contextvars", "copy", "csv", "dataclasses", "datetime",
        "decimal", "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "hmac", "html", "io", "itertools",
        "json", "keyword", "latticeflow", "math", "numbers", "numpy", "operator", "os.path", "posixpath", "pprint",
        "queue", "random", "re", "regex", "secrets", "statistics", "string", "stringprep", "struct", "textwrap",
        "threading", "time", "tokenize", "token", "types", "typing", "typing_extensions", "unicodedata", "urllib.parse",
        "uuid", "warnings", "zlib", "zoneinfo",
    }
)  # fmt: skip
"""Modules that cannot run text passed to them or reach the worker."""


@dataclass(frozen=True, slots=True)
class Risk:
    """A part of a snippet that may run a sample's text or reach the worker; lines are counted from 1."""

    line: int
    what: str


def isolation_of(code: str, setting: Isolation | None) -> Isolation:
    """The isolation of a snippet: its setting, else `process` where the code is risky and `batch` where it is not.

    >>> isolation_of("def f(sample): return eval(sample.text)", None)
    'process'
    >>> isolation_of("import re\\ndef f(sample): return re.compile('a')", None)
    'batch'
    """
    if setting is not None:
        return setting
    return "batch" if first_risk(str(code)) is None else "process"


def isolation_note(code: Code, setting: Isolation | None) -> str:
    """Describe a snippet's isolation and the reason for it."""
    if setting is not None:
        return f"{code.function} runs with isolation: {setting}, as set"
    risk = first_risk(str(code))
    if risk is None:
        return f"{code.function} runs with isolation: batch: nothing in it can run the text of a sample"
    return (
        f"{code.function} runs with isolation: process, a new process for every sample: "
        f"line {risk.line} of the snippet {risk.what}"
    )


@lru_cache(maxsize=256)
def first_risk(code: str) -> Risk | None:
    """Return the first part of a snippet that may run a sample's text or reach the worker, or None."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Risk(1, "it cannot be read")
    return min(_risks(tree), key=lambda risk: risk.line, default=None)


def _risks(tree: ast.AST) -> Iterator[Risk]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from _of_modules(node, [name.name for name in node.names])
            # under another name its attributes could not be told from those of any object
            yield from (Risk(node.lineno, "imports sys") for name in node.names if name.name == "sys" and name.asname)
        elif isinstance(node, ast.ImportFrom):
            yield from _of_modules(node, [f"{node.module or '.'}.{name.name}" for name in node.names])
        elif isinstance(node, ast.Name) and node.id in _NAMES:
            yield Risk(node.lineno, f"uses {node.id}")
        elif isinstance(node, ast.Attribute):
            yield from _of_attribute(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _ATTRIBUTES | _NAMES:
            yield Risk(node.lineno, f'names "{node.value}"')
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            yield Risk(node.value.lineno, "may load pickled objects")
        elif isinstance(node, ast.Call) and _has_computed_name(node):
            yield Risk(node.lineno, "looks up an attribute by a computed name")


def _of_modules(node: ast.Import | ast.ImportFrom, names: list[str]) -> Iterator[Risk]:
    for name in names:
        parts = name.split(".")
        if isinstance(node, ast.ImportFrom) and parts[-1] in _ATTRIBUTES:
            yield Risk(node.lineno, f"imports {name}")
        if parts[0] == "sys" and (len(parts) == 1 or parts[1] in _OF_SYS):
            continue
        if not {parts[0], ".".join(parts[:2])} & HARMLESS_MODULES:
            yield Risk(node.lineno, f"imports {name if isinstance(node, ast.Import) else node.module}")


def _of_attribute(node: ast.Attribute) -> Iterator[Risk]:
    if node.attr in _ATTRIBUTES:
        yield Risk(node.lineno, f"uses {ast.unparse(node)[-60:]}")
    elif isinstance(node.value, ast.Name) and node.value.id == "sys" and node.attr not in _OF_SYS:
        yield Risk(node.lineno, f"uses sys.{node.attr}")


def _has_computed_name(node: ast.Call) -> bool:
    """Return whether the call is getattr or similar with a computed name."""
    if not (isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr", "delattr")):
        return False
    return len(node.args) < 2 or not isinstance(node.args[1], ast.Constant)
