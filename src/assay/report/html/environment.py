"""The Jinja environment of all pages: everything is escaped, and characters that hide or reorder text are visible."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from assay.report.charts import Chart
from assay.report.values import interval, remark
from assay.text import counted, number

# Controls but tab and line feed; marks and overrides of direction; invisible separators; halves of characters. The
# joiners U+200C and U+200D stay: Persian and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
FOLDED = 1_200
"""Characters of a text above which a page folds it."""
LONGEST = 100_000
"""Characters of a text above which a page that offers a download shows only the beginning."""


def visible(text: str) -> str:
    """Text whose control and direction-changing characters can be seen.

    >>> visible("a\\u202eb\\r\\n")
    'a⟦U+202E⟧b\\n'
    """
    text = text.replace("\r\n", "\n")
    return _HIDDEN.sub(lambda match: f"⟦U+{ord(match[0]):04X}⟧", text)


def _finalize(value: Any) -> Any:
    if value is None:
        return ""
    return value if isinstance(value, Markup) else visible(value if isinstance(value, str) else str(value))


def as_text(value: Any) -> str:
    """A value of a sample as people read it: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str).decode()
    except (orjson.JSONEncodeError, UnicodeError):
        return repr(value)


def _folded(value: Any, download: str | None = None) -> Markup:
    """A text in a box; a long one shows its beginning, the rest unfolds; a very long one is cut where it can be had."""
    text = visible(as_text(value))
    cut = Markup("")
    if download is not None and len(text) > LONGEST:
        cut = Markup(
            '<p class="small">The first {} of {} characters: <a href="{}" download>download all</a></p>'
        ).format(f"{LONGEST:,}", f"{len(text):,}", download)
        text = text[:LONGEST]
    if len(text) <= FOLDED:
        return Markup('<div class="answer" dir="auto">{}</div>').format(text)
    head = cut + Markup("<details><summary>{} characters: {}…</summary>").format(f"{len(text):,}", text[:200])
    return head + Markup('<div class="answer" dir="auto">{}</div></details>').format(text)


def _figure(chart: Chart) -> Markup:
    """A chart with its caption, and the table behind it."""
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(visible(column)) for column in chart.columns)
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            visible(first), Markup("").join(Markup('<td class="num">{}</td>').format(visible(cell)) for cell in rest)
        )
        for first, *rest in chart.rows
    )
    # the drawing is ours: every text in it was escaped when it was drawn
    return Markup(
        "<figure><figcaption>{title}</figcaption>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Chart: {title}">{svg}</div>'
        "<details><summary>Data of this chart</summary>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Data: {title}"><table><caption>{title}</caption>'
        "<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details></figure>"
    ).format(title=visible(chart.title), svg=Markup(chart.svg), head=head, rows=rows)  # noqa: S704


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The environment of all pages."""
    templates = Environment(
        loader=PackageLoader("assay.report.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "number": number,
        "interval": interval,
        "remark": remark,
        "folded": _folded,
        "as_text": as_text,
        "svg": lambda drawn: Markup(drawn),  # noqa: S704 - drawn by our own charts, which escape their texts
        "figure": _figure,
        "counted": counted,
        "excerpt": excerpt,
        "moment": lambda text: "" if not text else str(text)[:16].replace("T", " "),
    }
    return templates


def excerpt(value: Any, width: int = 160) -> str:
    """The beginning of a value on one line."""
    text = " ".join(as_text(value)[: width * 4].split())
    return text if len(text) <= width else text[: width - 1] + "…"


def page(template: str, **context: Any) -> str:
    """One page as text."""
    return environment().get_template(template).render(**context).encode("utf-8", "replace").decode()


@lru_cache(maxsize=1)
def stylesheet() -> str:
    """The one stylesheet."""
    return (files("assay.report.html") / "style.css").read_text(encoding="utf-8")


def inlined_stylesheet() -> tuple[Markup, str]:
    """The stylesheet as a file of its own carries it, and the digest by which its security policy allows it."""
    css = stylesheet()
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return Markup(css), digest  # noqa: S704 - the file of this package
