"""The columns that a template reads, from its syntax tree."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes

from assay.templates.codegen import undeclared
from assay.templates.environment import environment

_METHODS = frozenset({"items", "keys", "values", "get"})


def surely_read(source: str) -> Iterator[tuple[str, int]]:
    """Return the columns that the template reads unconditionally, with their lines."""
    tree = environment().parse(source)
    if any(name.name == "sample" and name.ctx != "load" for name in tree.find_all(nodes.Name)):
        return
    optional = set(_optional(tree))
    methods = {
        id(call.node)
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Getattr) and call.node.attr in _METHODS
    }
    for node in tree.find_all((nodes.Getattr, nodes.Getitem)):
        name = _column(node)
        if name is not None and name not in optional and id(node) not in methods:
            yield name, node.lineno


def names_used(source: str) -> set[str]:
    """The variables that the template expects from outside, without those it may do without."""
    tree = environment().parse(source)
    optional = {
        name.name
        for test in tree.find_all(nodes.Test)
        if test.name in ("defined", "undefined")
        for name in test.find_all(nodes.Name)
    }
    return undeclared(tree) - set(environment().globals) - optional


def _optional(tree: nodes.Template) -> Iterator[str]:
    """The columns that the template itself expects to be absent at times."""
    for test in tree.find_all(nodes.Test):
        if test.name in ("defined", "undefined"):
            yield from _columns_in(test)
    for filtered in tree.find_all(nodes.Filter):
        if filtered.name in ("default", "d") and filtered.node is not None:
            yield from _columns_in(filtered.node)
    for call in tree.find_all(nodes.Call):
        if _is_get(call) and isinstance(call.args[0], nodes.Const):
            yield str(call.args[0].value)
    for compare in tree.find_all(nodes.Compare):
        inside = [op.expr for op in compare.ops if op.op in ("in", "notin")]
        if isinstance(compare.expr, nodes.Const) and any(_is_sample(expr) for expr in inside):
            yield str(compare.expr.value)


def _is_sample(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "sample"


def _is_get(call: nodes.Call) -> bool:
    method = call.node
    is_method = isinstance(method, nodes.Getattr) and method.attr == "get" and _is_sample(method.node)
    return is_method and bool(call.args)


def _columns_in(node: nodes.Node) -> Iterator[str]:
    outermost = [node] if isinstance(node, nodes.Getattr | nodes.Getitem) else []
    for lookup in [*outermost, *node.find_all((nodes.Getattr, nodes.Getitem))]:
        name = _column(lookup)
        if name is not None:
            yield name


def _column(node: nodes.Node) -> str | None:
    if isinstance(node, nodes.Getattr) and _is_sample(node.node):
        return node.attr
    if isinstance(node, nodes.Getitem) and _is_sample(node.node) and isinstance(node.arg, nodes.Const):
        return node.arg.value if isinstance(node.arg.value, str) else None
    return None
