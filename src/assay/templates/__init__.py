"""Sandboxed templates: `{{ sample.x }}` over batches of rows, where a bad row fails alone."""

from __future__ import annotations

from assay.errors import TemplateFailure
from assay.spec.placeholder import has_placeholder
from assay.templates.columns import ColumnUse, check_syntax, columns_read, names_read
from assay.templates.render import as_texts, lists, objects, render_text, render_value, row_text, texts, values
from assay.templates.shape import is_constant
from assay.templates.variables import row_variables

__all__ = [
    "ColumnUse",
    "TemplateFailure",
    "as_texts",
    "check_syntax",
    "columns_read",
    "has_placeholder",
    "is_constant",
    "lists",
    "names_read",
    "objects",
    "render_text",
    "render_value",
    "row_text",
    "row_variables",
    "texts",
    "values",
]
