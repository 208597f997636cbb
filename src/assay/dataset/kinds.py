"""The dataset sources that ship with assay."""

from __future__ import annotations

from assay.dataset import absent, folder, inline, local

KINDS = (local.KIND, folder.KIND, inline.KIND, *absent.KINDS)
