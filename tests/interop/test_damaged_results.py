"""Results of other tools in which one value is replaced by another: an error that names the file, or a run."""

from __future__ import annotations

import copy
import json
import random
import shutil
from pathlib import Path

import pytest

from assay.errors import SpecError
from assay.interop.autorubric import read_autorubric
from assay.interop.deepeval import read_deepeval
from assay.interop.inspect_log import read_inspect
from assay.interop.lm_eval import read_lm_eval
from assay.interop.promptfoo import read_promptfoo

FIXTURES = Path(__file__).parents[1] / "import_fixtures"
ODD = [None, 5, -1.5, "x", "", [], {}, True, [None], {"a": None}]
TIMES = 60


def steps(value, above=()):
    """The ways to all values of a document; of long lists the first three entries stand for the others."""
    yield above
    entries = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in entries:
        # what happened in a sample of Inspect is not read
        if key != "events":
            yield from steps(inner, (*above, key))


def damaged(document, way, value):
    if not way:
        return value
    changed = copy.deepcopy(document)
    part = changed
    for key in way[:-1]:
        part = part[key]
    part[way[-1]] = value
    return changed


def lines(document):
    return "\n".join(json.dumps(row) for row in (document if isinstance(document, list) else [document]))


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("folder", "name", "read"),
    [
        ("inspect", "all_reducers.json", lambda folder: read_inspect(folder / "all_reducers.json")),
        ("promptfoo", "errors.json", lambda folder: read_promptfoo(folder / "errors.json")),
        ("deepeval", "test_run.json", lambda folder: read_deepeval(folder / "test_run.json")),
        ("lm_eval", "samples_colors*", lambda folder: read_lm_eval(next(folder.glob("samples_colors*")))),
        ("lm_eval", "samples_words*", lambda folder: read_lm_eval(next(folder.glob("samples_words*")))),
        ("lm_eval", "results_*", lambda folder: read_lm_eval(next(folder.glob("samples_words*")))),
        ("autorubric", "experiment/items.jsonl", None),
        ("autorubric", "experiment/manifest.json", None),
        ("autorubric", "experiment/metrics.json", None),
        ("autorubric", "dataset.json", None),
    ],
)
def test_a_damaged_result_is_an_error_with_a_place_or_is_read(tmp_path, folder, name, read):
    here = tmp_path / folder
    shutil.copytree(FIXTURES / folder, here)
    path = sorted(here.glob(name))[-1]
    as_rows = path.suffix == ".jsonl"
    document = rows(path) if as_rows else json.loads(path.read_bytes())
    rng = random.Random(name)
    ways = list(steps(document))
    refused = []
    for _ in range(TIMES):
        changed = damaged(document, rng.choice(ways), rng.choice(ODD))
        path.write_text(lines(changed) if as_rows else json.dumps(changed))
        try:
            read(here) if read is not None else read_autorubric(here / "experiment", here / "dataset.json")
        except SpecError as error:
            refused.append(str(error))
    assert all(str(here) in message for message in refused)
    assert len(refused) < TIMES
