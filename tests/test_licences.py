"""Every package that is installed with assay has a licence that permits using and passing it on."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

EXTRAS = ("hf", "local", "otel", "parquet", "postgres", "ray")
PERMISSIVE = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0", "PSF-2.0",
    "Python-2.0", "Unlicense", "Zlib",
}  # fmt: skip
FILE_COPYLEFT = {"orjson": {"MPL-2.0"}, "tqdm": {"MPL-2.0"}, "certifi": {"MPL-2.0"}}
FILE_COPYLEFT |= {"psycopg": {"LGPL-3.0-only"}, "psycopg-binary": {"LGPL-3.0-only"}}
"""Packages under a licence that covers changes to their own files or library; used here unchanged."""
WORDS = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd license": "BSD-3-Clause",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}
"""Older ways to write a licence, as packages still do."""


def installed() -> dict[str, Distribution]:
    """The closure of what assay and its extras need, as far as it is installed here."""
    closure: dict[str, Distribution] = {}
    waiting = [("assay", EXTRAS)]
    seen = set()
    while waiting:
        name, extras = waiting.pop()
        name = re.sub(r"[-_.]+", "-", name).lower()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            closure[name] = distribution(name)
        except PackageNotFoundError:
            continue  # an extra that is not installed
        for line in closure[name].requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append((needed.name, tuple(sorted(needed.extras))))
    return closure


def licences(package: Distribution) -> set[str]:
    """The identifiers in the licence expression; without one, those in the field or the classifiers."""
    about = package.metadata
    written = about.get("License-Expression")
    if written is None:
        field = (about.get("License") or "").strip()
        # some packages put the whole text of the licence into the field
        written = field if 0 < len(field) < 60 and "\n" not in field else None
    if written is None:
        classifiers = [entry for entry in about.get_all("Classifier") or () if entry.startswith("License ::")]
        return {word(entry.rsplit(" :: ", 1)[-1]) for entry in classifiers}
    parts = re.split(r"\s+(?:AND|OR|WITH)\s+|[()]", written)
    return {word(part) for part in parts if part.strip()}


def word(text: str) -> str:
    return WORDS.get(text.strip().lower(), text.strip())


@pytest.mark.parametrize("name", sorted(installed()))
def test_a_dependency_has_a_licence_that_is_permitted(name):
    allowed = PERMISSIVE | FILE_COPYLEFT.get(name, set())
    stated = licences(installed()[name])
    assert stated, f"{name} states no licence"
    assert stated <= allowed, f"{name}: {stated - allowed}"


def test_the_closure_is_not_empty():
    assert {"orjson", "pydantic", "pydantic-core", "aiohttp", "multidict"} <= set(installed())


def test_the_documentation_has_the_licences_that_the_packages_state():
    page = (Path(__file__).parents[1] / "docs" / "dependencies.md").read_text()
    rows = dict(re.findall(r"^\| ([A-Za-z0-9.-]+)(?: \(`\[\w+\]`\))? \|.*\| ([^|]+) \|$", page, re.MULTILINE))
    closure = installed()
    for name, written in rows.items():
        package = closure.get(re.sub(r"[-_.]+", "-", name).lower())
        if package is not None:
            shown = {word(part) for part in re.split(r"\s+(?:AND|OR|/)\s+|[()]", written) if part.strip()}
            extra = {"0BSD", "Zlib", "CC0-1.0"}  # of files bundled with numpy
            assert shown | extra >= licences(package) - ({"MIT"} if name in ("numpy", "aiohttp") else set()), name
