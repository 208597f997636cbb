"""Templates compiled once: the names they use, and their evaluation to a value or text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import Template as JinjaTemplate
from jinja2 import nodes
from jinja2.exceptions import TemplateRuntimeError, TemplateSyntaxError, UndefinedError
from jinja2.runtime import Undefined

from assay.errors import TemplateFailure
from assay.spec.nearest import listing, nearest
from assay.templates.budget import MOST_SECONDS, TimeUp, budget, printable_size
from assay.templates.codegen import undeclared, with_counted_loops
from assay.templates.environment import MissingFieldError, environment
from assay.templates.messages import MOST_TEXT, failure_at, too_long

_RESULT = "assay_result"
_UNKNOWN = re.compile(r"No (filter|test) named '(\w+)'")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A template that Jinja read; `names` are the variables it uses."""

    jinja: JinjaTemplate
    is_expression: bool
    names: frozenset[str]

    def value(self, variables: Mapping[str, Any]) -> Any:
        """The value of a template that is one expression, else its text."""
        inputs = {name: variables[name] for name in self.names if name in variables}
        context = self.jinja.new_context(inputs)
        limits = budget()
        try:
            limits.enter()
            try:
                pieces = self.jinja.root_render_func(context)
                if not self.is_expression:
                    return _joined(pieces)
                for _ in pieces:
                    pass
                value = context.vars[_RESULT]
                if isinstance(value, Undefined):
                    value._fail_with_undefined_error()
                if not isinstance(value, str):
                    # a list that holds another one many times would be written out later
                    printable_size(value)
                return value
            finally:
                limits.leave()
        except TimeUp:
            limits.abandon()
            raise TemplateRuntimeError(f"the template takes more than {MOST_SECONDS:g} seconds") from None


def _joined(pieces: Any) -> str:
    parts: list[str] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MOST_TEXT:
            raise too_long()
        parts.append(piece)
    return "".join(parts)


def one_expression(tree: nodes.Template) -> nodes.Expr | None:
    """The expression of a template that is nothing but `{{ expression }}`."""
    if len(tree.body) == 1 and isinstance(tree.body[0], nodes.Output):
        output = tree.body[0].nodes
        if len(output) == 1 and not isinstance(output[0], nodes.TemplateData):
            return output[0]
    return None


@lru_cache(maxsize=4096)
def compiled(source: str) -> Compiled:
    """Compile a template; raise a Jinja error if its syntax is invalid."""
    jinja = environment()
    tree = jinja.parse(source)
    names = frozenset(undeclared(tree))
    tree = with_counted_loops(tree)
    expression = one_expression(tree)
    if expression is not None:
        keep = nodes.Assign(nodes.Name(_RESULT, "store"), expression, lineno=expression.lineno)
        tree = nodes.Template([keep], lineno=1)
        tree.set_environment(jinja)
    return Compiled(jinja.from_string(tree), expression is not None, names)


def failure(template: str, error: Exception, variables: Mapping[str, Any]) -> TemplateFailure:
    """Any error inside a template as a failure of that sample, with file, line and cause."""
    line = _line(str(template), error)
    return failure_at(template, line, cause(error, variables), missing=isinstance(error, MissingFieldError))


def cause(error: Exception, variables: Mapping[str, Any]) -> str:
    """Describe an error in one line."""
    if isinstance(error, RecursionError):
        return "the template or its value is nested too deeply"
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    if type(error) is UndefinedError and text.endswith("is undefined"):
        name = text.split("'")[1] if text.startswith("'") else ""
        suggestion = nearest(name, variables)
        hint = f'did you mean "{suggestion}"?' if suggestion else f"there is {listing(variables)}"
        return f"{text}; {hint}"
    unknown = _UNKNOWN.match(text) if isinstance(error, TemplateSyntaxError) else None
    if unknown is not None:
        kind, name = unknown.groups()
        jinja = environment()
        suggestion = nearest(name, jinja.filters if kind == "filter" else jinja.tests)
        return f'{text} Did you mean "{suggestion}"?' if suggestion else text
    return text


def _line(source: str, error: Exception) -> int:
    """The template's line that failed, from the traceback or from a syntax error."""
    line = getattr(error, "lineno", None)
    if isinstance(line, int):
        return line
    try:
        jinja = compiled(source).jinja
    except Exception:
        return 1
    number, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            number = jinja.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return number
