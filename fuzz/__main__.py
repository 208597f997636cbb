"""Fuzz one reader, guided by coverage: `python -m fuzz yaml 600` for ten minutes.

What it finds is written to `fuzz/found/` and ends the run with exit code 77.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

FOLDER = Path(__file__).parent
NAMES = ("yaml", "reply", "judge")


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in NAMES or not sys.argv[2].isdigit():
        sys.exit(f"usage: python -m fuzz {{{','.join(NAMES)}}} SECONDS")
    name, seconds = sys.argv[1:]
    # only what is imported here is instrumented, and so guides the search
    with atheris.instrument_imports(include=["assay"]):
        from fuzz.targets import SEEDS, TARGETS
    corpus = FOLDER / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    (FOLDER / "found").mkdir(exist_ok=True)
    for number, seed in enumerate(SEEDS[name]):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1024", "-max_len=20000"]
    artifacts = f"-artifact_prefix={FOLDER / 'found'}/{name}-"
    atheris.Setup([sys.argv[0], *options, artifacts, str(corpus)], TARGETS[name])
    atheris.Fuzz()


main()
