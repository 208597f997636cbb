"""Parse YAML into nodes with locations; syntax errors are described in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml
from yaml.resolver import Resolver

from assay.errors import Place, SpecError
from assay.spec.source import Source

MOST_NODES = 1_000_000
MOST_DEPTH = 100

_NOT_TEXT = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RESOLVER: Any = Resolver()
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KINDS = {"scalar": yaml.ScalarNode, "list": yaml.SequenceNode, "map": yaml.MappingNode}


@dataclass(slots=True)
class Node:
    """A YAML value before conversion: its kind, tag, location and size.

    A tag is `implied` where the file does not write it.
    """

    kind: Literal["scalar", "list", "map"]
    tag: str
    place: Place
    text: str = ""
    style: str | None = None
    children: list[Node] = field(default_factory=list)
    size: int = 1
    implied: bool = True

    @property
    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """Keys and values of a mapping."""
        return zip(self.children[::2], self.children[1::2], strict=True)


def parse(source: Source) -> Node | None:
    """The tree of the one document in a file, None when the file is empty; a SpecError when it is not YAML."""
    match = _NOT_TEXT.search(source.text)
    if match is not None:
        line = source.text.count("\n", 0, match.start()) + 1
        column = match.start() - source.text.rfind("\n", 0, match.start())
        message = f"the character U+{ord(match[0]):04X} is not allowed in YAML"
        raise SpecError(source.problem(message, line, column))
    try:
        return _Builder(source).tree()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        raise SpecError(source.problem(_in_words(error, source, line), line, column)) from None
    except SpecError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SpecError(source.problem(f"not valid YAML: {error}")) from None


class _Builder:
    """Builds the tree from parser events with an explicit stack, so that depth is limited without crashing."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.stack: list[Node] = []
        self.anchors: dict[str, Node] = {}
        self.root: Node | None = None
        self.count = 0

    def tree(self) -> Node | None:
        for event in yaml.parse(self.source.text, Loader=_LOADER):
            if isinstance(event, yaml.ScalarEvent):
                node = self._node("scalar", event, event.implicit, event.value)
                node.style = event.style
                self._add(node, event)
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                self._open(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close()
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
                raise self._refused("a second document begins here; a file holds one", event)
        return self.root

    def _open(self, event: Any) -> None:
        kind: Literal["list", "map"] = "list" if isinstance(event, yaml.SequenceStartEvent) else "map"
        node = self._node(kind, event, event.implicit, None)
        self._add(node, event)
        self.stack.append(node)
        if len(self.stack) > MOST_DEPTH:
            raise self._refused(f"nested more than {MOST_DEPTH} levels deep", event)

    def _close(self) -> None:
        """Count what aliases expand to, so that a bomb is detected before expansion."""
        node = self.stack.pop()
        node.size += sum(child.size for child in node.children)
        if node.size > MOST_NODES:
            message = f"more than {MOST_NODES:,} values once aliases are expanded"
            raise SpecError(self.source.problem(message, node.place.line, node.place.column))

    def _alias(self, event: Any) -> None:
        node = self.anchors.get(event.anchor)
        if node is None:
            raise self._refused(f'there is no anchor "&{event.anchor}" above this', event)
        if any(node is ancestor for ancestor in self.stack):
            raise self._refused(f'"*{event.anchor}" refers to a value that contains it', event)
        self._attach(node, event)

    def _node(self, kind: Literal["scalar", "list", "map"], event: Any, implicit: Any, value: Any) -> Node:
        tag = event.tag
        implied = tag is None or tag == "!"
        if implied:
            tag = _RESOLVER.resolve(_KINDS[kind], value, implicit)
        place = Place(self.source.file, event.start_mark.line + 1, event.start_mark.column + 1)
        return Node(kind, str(tag), place, value or "", implied=implied)

    def _add(self, node: Node, event: Any) -> None:
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        self._attach(node, event)

    def _attach(self, node: Node, event: Any) -> None:
        self.count += 1
        if self.count > MOST_NODES:
            raise self._refused(f"more than {MOST_NODES:,} values", event)
        if self.stack:
            self.stack[-1].children.append(node)
        else:
            self.root = node

    def _refused(self, message: str, event: Any) -> SpecError:
        mark = event.start_mark
        return SpecError(self.source.problem(message, mark.line + 1, mark.column + 1))


def _in_words(error: yaml.MarkedYAMLError, source: Source, line: int) -> str:
    text = source.lines[line - 1] if line <= len(source.lines) else ""
    problem = str(error.problem or error.context or "")
    if text.lstrip(" ").startswith("\t") and ("cannot start any token" in problem or "tab character" in problem):
        return "a tab cannot indent YAML: use spaces"
    if "{{" in text and not re.search(r"""["'|>]""", text.split("{{")[0]):
        return 'text with {{ }} must be quoted: "{{ ... }}"'
    if "mapping values are not allowed" in problem:
        return 'unexpected ":"; quote the text if the colon belongs to it, or mend the indentation'
    if "cannot start any token" in problem:
        return "text cannot begin with this character; quote it"
    if "unexpected end of stream" in problem:
        return "a quote that was opened is not closed"
    if "expected ',' or" in problem:
        return f"not valid YAML: expected {problem.split('expected ', 1)[1]} of the list or mapping opened before"
    return f"not valid YAML: {problem}"
