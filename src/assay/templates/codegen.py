"""Compile templates to Python without constant folding; joins, slices and loops are counted."""

from __future__ import annotations

from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.meta import TrackingCodeGenerator


class _Unfolded(CodeGenerator):
    """A generator that leaves constants to the rendering, where their size is bounded."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.optimizer = None

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)


class Generator(_Unfolded):
    """The generator of all templates."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:  # noqa: N802
        # the counter of loops is ours: it needs none of the checks that a call of a template's own goes through
        if not isinstance(node.node, nodes.EnvironmentAttribute):
            super().visit_Call(node, frame, forward_caller=forward_caller)
            return
        self.write("environment.looped(")
        self.visit(node.args[0], frame)
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.sliced(")
        self.visit(node.node, frame)
        self.write(", slice(")
        for part in (node.arg.start, node.arg.stop, node.arg.step):
            if part is None:
                self.write("None, ")
            else:
                self.visit(part, frame)
                self.write(", ")
        self.write("))")


class _Names(_Unfolded, TrackingCodeGenerator):
    """A generator whose code is thrown away: it only notes the names that the template does not set itself."""


def undeclared(tree: nodes.Template) -> set[str]:
    """The variables that a template expects from outside."""
    assert tree.environment is not None
    names = _Names(tree.environment)
    names.visit(tree)
    return names.undeclared_identifiers


def with_counted_loops(tree: nodes.Template) -> nodes.Template:
    """The tree with every loop announcing how often it will run."""
    for loop in list(tree.find_all(nodes.For)):
        counter = nodes.EnvironmentAttribute("looped", lineno=loop.lineno)
        loop.iter = nodes.Call(counter, [loop.iter], [], None, None, lineno=loop.lineno)
    return tree
