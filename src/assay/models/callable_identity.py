"""The identity of Python callables: their source, and the plain data that their answers may depend on."""

from __future__ import annotations

import functools
import hashlib
import inspect
import secrets
import sys
import sysconfig
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = "__assay_version__"
"""The attribute by which a user vouches for a callable: as long as it is the same, replies are reused."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_nonces: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class CallableIdentity:
    """The digest of a callable; `unknown` names the part of its state that is not plain data, if any."""

    digest: str
    unknown: str | None = None


def callable_identity(function: Callable[..., Any]) -> CallableIdentity:
    """Digest a callable with its closure, the globals it reads, its instance's attributes and its bound arguments.

    Where a part of that is an object whose content cannot be read, the digest is good for this object in this process
    only: nobody can tell whether another one answers alike.
    """
    version = getattr(function, VERSION, None)
    if version is not None:
        return CallableIdentity(_hashed(f"version {version}".encode()))
    parts: list[bytes] = []
    unknown: str | None = None
    for part in _State().of(function):
        if isinstance(part, _Unknown):
            unknown = unknown or part.name
        else:
            parts.append(part)
    if unknown is not None:
        parts.append(_nonce(function).encode())
    return CallableIdentity(_hashed(b"\0".join(parts)), unknown)


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A part of a callable's state that is not plain data."""

    name: str


def _hashed(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _nonce(function: Callable[..., Any]) -> str:
    """A value that only this object in this process has."""
    try:
        return _nonces.setdefault(function, secrets.token_hex(16))
    except TypeError:
        # neither hashable nor weakly referenced: asked anew every time
        return secrets.token_hex(16)


class _State:
    """Walks through everything that an answer may depend on, each object once."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def of(self, value: Any, name: str = "the callable") -> Iterator[bytes | _Unknown]:
        """The parts of a value as bytes; what cannot be read is named."""
        if isinstance(value, _PLAIN):
            yield f"{type(value).__name__} {value!r}".encode()
            return
        if id(value) in self._seen:
            yield b"again"
            return
        self._seen.add(id(value))
        if isinstance(value, dict | list | tuple | set | frozenset):
            yield from self._container(value, name)
        elif isinstance(value, functools.partial):
            yield b"partial"
            yield from self.of(value.func, "the function of the partial")
            yield from self.of([value.args, value.keywords], "an argument of the partial")
        elif isinstance(value, types.MethodType):
            yield from self.of(value.__func__, name)
            yield from self.of(value.__self__, "the object of the method")
        elif isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, types.BuiltinFunctionType | types.ModuleType | type):
            yield _source_of(value)
        else:
            yield from self._instance(value, name)

    def _container(self, value: Any, name: str) -> Iterator[bytes | _Unknown]:
        yield f"{type(value).__name__} of {len(value)}".encode()
        if isinstance(value, dict):
            for key, entry in value.items():
                yield from self.of(key, name)
                yield from self.of(entry, f"{name}[{key!r}]")
            return
        # sets have no order of their own
        for entry in sorted(value, key=repr) if isinstance(value, set | frozenset) else value:
            yield from self.of(entry, name)

    def _function(self, function: types.FunctionType) -> Iterator[bytes | _Unknown]:
        yield _source_of(function)
        yield from self.of(function.__defaults__, "a default argument")
        yield from self.of(function.__kwdefaults__, "a default argument")
        for cell_name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:
                continue
            yield cell_name.encode()
            yield from self.of(content, cell_name)
        for global_name in sorted(_global_names(function.__code__)):
            if global_name in function.__globals__:
                yield global_name.encode()
                yield from self.of(function.__globals__[global_name], global_name)

    def _instance(self, value: Any, name: str) -> Iterator[bytes | _Unknown]:
        """An object of a class that was written in Python: its class and its attributes."""
        kind = type(value)
        attributes = getattr(value, "__dict__", None)
        if attributes is None or kind.__module__ == "builtins" or not _is_own(kind):
            yield _Unknown(f"{name} ({kind.__module__}.{kind.__qualname__})")
            return
        yield _source_of(kind)
        for attribute, entry in sorted(attributes.items()):
            yield attribute.encode()
            yield from self.of(entry, f"{name}.{attribute}")


def _global_names(code: types.CodeType) -> set[str]:
    """The names that a function, or one inside it, may read from its module."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def _is_own(thing: Any) -> bool:
    """Return whether the source of a class or module is the user's rather than an installed package's."""
    module = thing if isinstance(thing, types.ModuleType) else sys.modules.get(getattr(thing, "__module__", ""))
    file = getattr(module, "__file__", None)
    return file is None or not str(Path(file).resolve()).startswith(_INSTALLED)


def _source_of(thing: Any) -> bytes:
    """The source of a function, class or module of the user's; the name of an installed one."""
    name = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', getattr(thing, '__name__', ''))}"
    if isinstance(thing, types.BuiltinFunctionType) or not _is_own(thing):
        return name.encode()
    try:
        return f"{name}\n{inspect.getsource(thing)}".encode()
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        if code is None:
            return name.encode()
        constants = repr([constant for constant in code.co_consts if not hasattr(constant, "co_code")])
        return b"\n".join((name.encode(), bytes(code.co_code), constants.encode()))
