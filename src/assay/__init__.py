"""LLM evaluation whose numbers you can defend."""

from __future__ import annotations

__version__ = "0.1.0"
