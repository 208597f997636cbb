"""Load YAML into values with locations; follow `!include` and `$ref`, and collect all problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from assay.errors import Place, Problem, SpecError
from assay.spec.data_scalars import changed_text, is_text_in_data
from assay.spec.document import Document, Spot, Steps
from assay.spec.environment import Environment, environment_of, looks_secret, unset_variable, variable_of
from assay.spec.fields import Located
from assay.spec.include import Inclusion
from assay.spec.kind import kind_of
from assay.spec.nearest import nearest
from assay.spec.nodes import MOST_DEPTH, MOST_NODES, Node, parse
from assay.spec.placeholder import PLACEHOLDER
from assay.spec.project import project_folder
from assay.spec.source import Source, problem_in, read_source
from assay.spec.walk import strings

_TAG = "tag:yaml.org,2002:"
_SECRETS = frozenset({"api_key", "custom_headers", "environment", "secrets"})
"""The fields of a model file that a plan does not need, because it makes no calls."""
_SCALARS: SafeConstructor = SafeConstructor()
_READERS = {
    _TAG + "null": _SCALARS.construct_yaml_null,
    _TAG + "bool": _SCALARS.construct_yaml_bool,
    _TAG + "int": _SCALARS.construct_yaml_int,
    _TAG + "float": _SCALARS.construct_yaml_float,
    _TAG + "timestamp": _SCALARS.construct_yaml_timestamp,
}
_TYPES = {
    _TAG + "bool": "a boolean",
    _TAG + "int": "a number",
    _TAG + "float": "a number",
    _TAG + "timestamp": "a date",
}
_LARGEST = 2**63
_LONGEST_NUMBER = 200
"""The character limit of a number; YAML's `1:30:00...` takes time quadratic in its length."""
_MOST_REFERENCES = 2_000


def load_document(
    path: Path,
    *,
    strict: bool,
    allow_outside: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Document:
    """Load a YAML file as values with locations; raise a SpecError with all its problems.

    `strict` makes an unset `$VAR` an error (as `run` wants) instead of a note (as `check` wants).
    """
    document = read_document(path, strict=strict, allow_outside=allow_outside, environment=environment)
    document.raise_problems()
    return document


def read_document(
    path: Path,
    *,
    strict: bool,
    allow_outside: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Document:
    """Load a YAML file as values with locations; problems are stored in the document unless nothing can be read."""
    root = project_folder(path)
    return document_of(read_source(path), root, strict=strict, allow_outside=allow_outside, environment=environment)


def document_of(
    source: Source,
    root: Path,
    *,
    strict: bool,
    allow_outside: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Document:
    """A document from a text that was read elsewhere; files that it includes lie in `root`."""
    reader = _Reader(source, None if allow_outside else root)
    node = parse(source)
    if node is None or (node.kind == "scalar" and node.tag == _TAG + "null"):
        raise SpecError(source.problem("the file is empty"))
    data = reader.value(node, (), 0)
    variables = environment_of(root) if environment is None else environment
    reader.check_strings(data, variables, strict=strict)
    return Document(
        path=source.path,
        root=root,
        data=data,
        positions=reader.positions,
        sources=reader.inclusion.sources,
        environment=variables,
        # a run has no use for them: it reads what `check` has shown
        notes=(*reader.notes, *(() if strict else reader.typed.values())),
        problems=tuple(sorted(reader.problems, key=lambda problem: problem.place or Place(""))),
    )


class _Reader:
    """Converts nodes to values, recording locations and problems."""

    def __init__(self, source: Source, jail: Path | None) -> None:
        self.source = source
        self.inclusion = Inclusion(source, jail)
        self.positions: dict[Steps, Spot] = {}
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        self.count = 0
        self.references = 0
        self.in_data = False
        self.typed: dict[tuple[str | int | None, str], Problem] = {}

    def value(self, node: Node, steps: Steps, depth: int) -> Any:
        # aliases share nodes, so a small file can stand for billions of values: count what is expanded
        self.count += 1
        if self.count > MOST_NODES:
            raise SpecError(self._problem(f"more than {MOST_NODES:,} values once aliases are expanded", node))
        if depth > MOST_DEPTH:
            raise SpecError(self._problem(f"nested more than {MOST_DEPTH} levels deep", node))
        old = self.positions.get(steps)
        text = node.text if node.kind == "scalar" else None
        self.positions[steps] = Spot(node.place, old.key if old is not None else None, text)
        if node.kind == "scalar":
            return self._data_scalar(node, steps) if self.in_data and node.implied else self._scalar(node)
        if not node.tag.startswith(_TAG) or node.tag[len(_TAG) :] not in ("map", "seq"):
            self.problems.append(self._problem(f'unknown tag "{_short(node.tag)}"', node))
            return None
        if node.kind == "list":
            return [self.value(child, (*steps, i), depth + 1) for i, child in enumerate(node.children)]
        return self._mapping(node, steps, depth)

    def _scalar(self, node: Node) -> Any:
        if node.tag == "!include":
            return self._attempt(node, lambda: self.inclusion.text(node.text, node.place))
        if node.tag in (_TAG + "str", _TAG + "merge", _TAG + "value"):
            return _located(node)
        if node.tag in (_TAG + "int", _TAG + "float") and len(node.text) > _LONGEST_NUMBER:
            message = f"a number with {len(node.text):,} characters; at most {_LONGEST_NUMBER} are read; quote text"
            self.problems.append(self._problem(message, node))
            return None
        reader = _READERS.get(node.tag)
        if reader is None:
            self.problems.append(self._problem(f'unknown tag "{_short(node.tag)}"', node))
            return None
        try:
            value = reader(yaml.ScalarNode(node.tag, node.text))
        except (ValueError, OverflowError, IndexError, KeyError, AttributeError):
            return self._unreadable(node)
        if isinstance(value, int) and not -_LARGEST <= value < 2 * _LARGEST:
            self.problems.append(self._problem("the number has more than 64 bits; quote it if it is text", node))
            return None
        return value

    def _data_scalar(self, node: Node, steps: Steps) -> Any:
        """A plain value of a sample, and a note where it is not what YAML or its reader would take it for."""
        column = steps[-1] if steps else None
        if is_text_in_data(node.tag, node.text):
            message = f'"{node.text}" is kept as text, though YAML 1.1 reads {_TYPES[node.tag]}; quote it to be sure'
            self.typed.setdefault((column, node.text), self._problem(message, node))
            return _located(node)
        value = self._scalar(node)
        changed = changed_text(node.text, value)
        if changed is not None:
            kind = "a boolean" if isinstance(value, bool) else "a number"
            message = f'{node.text} is {kind} whose text is "{changed}"; quote it if it is compared as text'
            self.typed.setdefault((column, node.text), self._problem(message, node))
        return value

    def _unreadable(self, node: Node) -> Any:
        """A date such as 2024-13-45 is text; anything else was tagged wrongly."""
        if node.tag == _TAG + "timestamp":
            return _located(node)
        self.problems.append(self._problem(f'"{node.text[:80]}" is not a value of type {_short(node.tag)}', node))
        return None

    def _mapping(self, node: Node, steps: Steps, depth: int) -> Any:
        pairs: dict[str, tuple[Node, Node]] = {}
        for key, child in node.pairs:
            if key.tag == _TAG + "merge":
                continue
            name = self._key(key)
            if name is None:
                continue
            if name in pairs:
                first = pairs[name][0].place
                self.problems.append(self._problem(f'duplicate key "{name}"; it is already on line {first.line}', key))
                continue
            pairs[name] = (key, child)
        for name, pair in self._merged(node, depth).items():
            pairs.setdefault(name, pair)
        if "$ref" in pairs and not _is_inside_a_schema(pairs["$ref"][1]):
            return self._referenced(pairs, steps, depth)
        return self._entries(pairs, steps, depth)

    def _entries(self, pairs: Mapping[str, tuple[Node, Node]], steps: Steps, depth: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        # samples written into a file are data, not settings
        inline = "type" in pairs and pairs["type"][1].text == "inline_samples"
        for name, (key, child) in pairs.items():
            self.positions[(*steps, name)] = Spot(child.place, key.place)
            outside, self.in_data = self.in_data, self.in_data or (name == "samples" and inline)
            try:
                entries[name] = self.value(child, (*steps, name), depth + 1)
            finally:
                self.in_data = outside
        return entries

    def _key(self, node: Node) -> str | None:
        """A key is its text as written: `yes:` and `1:` are "yes" and "1"."""
        if node.kind == "scalar":
            return node.text
        hint = '; text with {{ }} must be quoted: "{{ ... }}"' if node.kind == "map" else ""
        self.problems.append(self._problem(f"a key must be text{hint}", node))
        return None

    def _merged(self, node: Node, depth: int) -> dict[str, tuple[Node, Node]]:
        """Return the content of `<<: *anchor`; earlier entries take precedence."""
        if depth > MOST_DEPTH:
            raise SpecError(self._problem(f"nested more than {MOST_DEPTH} levels deep", node))
        inherited: dict[str, tuple[Node, Node]] = {}
        for key, child in node.pairs:
            if key.tag != _TAG + "merge":
                continue
            for mapping in child.children if child.kind == "list" else [child]:
                if mapping.kind != "map":
                    self.problems.append(self._problem("<< takes a mapping, such as *anchor", mapping))
                    continue
                self.count += len(mapping.children)
                pairs = {k.text: (k, v) for k, v in mapping.pairs if k.kind == "scalar" and k.tag != _TAG + "merge"}
                inherited = {**self._merged(mapping, depth + 1), **pairs} | inherited
        return inherited

    def _referenced(self, pairs: dict[str, tuple[Node, Node]], steps: Steps, depth: int) -> Any:
        key, target = pairs.pop("$ref")
        if target.kind != "scalar" or target.tag != _TAG + "str":
            self.problems.append(self._problem("$ref takes the path of a YAML file", target))
            return None
        self.references += 1
        if self.references > _MOST_REFERENCES:
            # one problem, not one for each of the rest
            if self.references == _MOST_REFERENCES + 1:
                self.problems.append(self._problem(f"more than {_MOST_REFERENCES:,} $ref to follow", target))
            return None
        siblings = self._entries(pairs, steps, depth)

        def load() -> Any:
            with self.inclusion.opened(target.text, target.place) as source:
                node = parse(source)
                if node is None:
                    raise SpecError(self._problem(f"{source.file} is empty", target))
                return self._joined(node, siblings, steps, depth, key)

        return self._attempt(target, load)

    def _joined(self, node: Node, siblings: dict[str, Any], steps: Steps, depth: int, key: Node) -> Any:
        """The referenced value with the siblings of `$ref` laid over it."""
        # reading the referenced value overwrites their positions, which are put back below
        sibling_spots = {at: self.positions[at] for at in _steps_of(siblings, steps) if at in self.positions}
        loaded = self.value(node, steps, depth + 1)
        if not siblings:
            return loaded
        if not isinstance(loaded, dict):
            raise SpecError(self._problem("$ref beside other keys must lead to a mapping", key))
        for name in siblings:
            if name in loaded:
                spot = sibling_spots[(*steps, name)]
                self.notes.append(self._at(f'"{name}" hides the value of the same name from $ref', spot.key))
        self.positions.update(sibling_spots)
        return {**loaded, **siblings}

    def _attempt(self, node: Node, load: Any) -> Any:
        try:
            return load()
        except SpecError as error:
            self.problems += [
                problem if problem.place is not None else self._problem(problem.message, node, problem.suggestion)
                for problem in error.problems
            ]
            return None

    def check_strings(self, data: Any, environment: Mapping[str, str], *, strict: bool) -> None:
        """Check for `((TODO))` and unset variables in all strings."""
        for steps, text in strings(data):
            if "((TODO))" in text:
                self.problems.append(self._at("((TODO)) is not filled in yet", self.positions[steps].value))
            for secret in _unknown_secrets(text, data, steps, environment):
                if isinstance(environment, Environment) and environment.keyless:
                    continue
                message = (
                    f'no "secrets" block has "{secret}", and {unset_variable(secret, environment, self.source.path)}'
                )
                (self.problems if strict else self.notes).append(self._at(message, self.positions[steps].value))
            name = variable_of(text)
            if name is not None and name not in environment:
                if isinstance(environment, Environment) and environment.keyless and _SECRETS.intersection(steps):
                    continue
                message = unset_variable(name, environment, self.source.path)
                (self.problems if strict else self.notes).append(self._at(message, self.positions[steps].value))
            elif name is not None:
                self._check_exposed(name, data, steps)

    def _check_exposed(self, name: str, data: Any, steps: Steps) -> None:
        """Note a variable whose value reaches models or the store; one that looks secret must be declared."""
        owner = _owner_of_prompts(data, steps)
        if owner is None:
            return
        declared = [*_names(data.get("env")), *_names(owner.get("env"))]
        place = self.positions[steps].value
        if name in declared:
            return
        if looks_secret(name):
            message = (
                f"the environment variable {name} looks like a secret, and its value would be sent to models and "
                f"stored here; if that is intended, declare it in this file: `env: [{name}]`"
            )
            self.problems.append(self._at(message, place, nearest(name, declared)))
        else:
            message = f"the value of the environment variable {name} is used here: it may be sent to models and stored"
            self.notes.append(self._at(message, place))

    def _problem(self, message: str, node: Node, suggestion: str | None = None) -> Problem:
        return self._at(message, node.place, suggestion)

    def _at(self, message: str, place: Place | None, suggestion: str | None = None) -> Problem:
        return problem_in(self.inclusion.sources, message, place, suggestion)


def _unknown_secrets(text: str, data: Any, steps: Steps, environment: Mapping[str, str]) -> list[str]:
    """Return the names in `<< secrets.NAME >>` without a variable or an entry in a secrets block."""
    names = [name for kind, name in PLACEHOLDER.findall(text) if kind == "secrets" and name not in environment]
    if not names or kind_of(data) not in ("model", "dataset generator", "run"):
        return []
    part: Any = data
    for step in steps[:2] if kind_of(data) == "run" else ():
        part = part[step]
    return [] if any(isinstance(block, dict) and "secrets" in block for block in (data, part)) else names


def _is_inside_a_schema(target: Node) -> bool:
    """Return whether the value of a `$ref` points into the surrounding JSON Schema (`#/$defs/name`) rather than to a
    file.
    """
    return target.kind == "scalar" and target.text.startswith("#")


def _steps_of(value: Any, steps: Steps) -> Iterator[Steps]:
    """Return the paths to everything inside a mapping or list."""
    inside: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for step, part in inside:
        yield (*steps, step)
        yield from _steps_of(part, (*steps, step))


def _owner_of_prompts(data: Any, steps: Steps) -> Mapping[str, Any] | None:
    """Return the task or generator whose prompts, templates or settings contain the value, or None.

    Where rows come from is no prompt: addresses and paths of sources may be variables.
    """
    owner, inside = data, steps
    if kind_of(data) == "run" and len(steps) > 2 and steps[0] in ("tasks", "dataset_generators"):
        owner, inside = data[steps[0]][steps[1]], steps[2:]
    if not isinstance(owner, dict) or inside[:1] != ("definition",) or inside[1:2] == ("dataset",):
        return None
    return owner if kind_of(owner) in ("task", "dataset generator") else None


def _names(declared: Any) -> list[str]:
    return [str(name) for name in declared if isinstance(name, str)] if isinstance(declared, list) else []


def _located(node: Node) -> Located:
    """Return text with its location; the text of a `|` block begins one line below its `|`."""
    if node.style != "|":
        return Located(node.text, node.place)
    return Located(node.text, Place(node.place.file, node.place.line + 1, 1), literal=True)


def _short(tag: str) -> str:
    return "!!" + tag[len(_TAG) :] if tag.startswith(_TAG) else tag
