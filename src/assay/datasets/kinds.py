"""The dataset sources that ship with assay."""

from __future__ import annotations

from assay.datasets import absent, folder, huggingface, inline, inspect_ai, local, url

KINDS = (local.KIND, folder.KIND, inline.KIND, url.KIND, huggingface.KIND, inspect_ai.KIND, *absent.KINDS)
