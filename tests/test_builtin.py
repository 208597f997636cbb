"""What ships, and plug-ins by entry point."""

import pytest

from assay.builtin import registry
from assay.errors import SpecError
from assay.registry import KindTable, ScorerKind

PLUGIN = '''
from typing import Literal
from assay.registry import Kind
from assay.spec.fields import ScorerSpec, Template
from assay.templates import texts
from assay.types import ScoreColumns

class Shout(ScorerSpec):
    """Is the text all capitals?"""
    type: Literal["shout"]
    value: Template

    def default_metrics(self):
        return [{"type": "mean", "field": "loud"}]

def shout(settings, rows):
    column = texts(settings.value, rows)
    return ScoreColumns(values={"loud": [float(text.isupper()) for text in column.values]}, failures=column.failures)

def register(registry):
    registry.scorers.add(Kind(settings=Shout, function=shout, values=("loud",)))
'''

TASK = """
key: t
display_name: t
definition:
  dataset: {source: {type: inline_samples, samples: [{x: LOUD}, {x: quiet}]}}
  scorers: [{type: shout, value: "{{ sample.x }}"}]
"""


def installed(folder, module):
    """A package as pip would leave it: a module, and the metadata that names its entry point."""
    (folder / "loud.py").write_text(module)
    about = folder / "loud-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[assay.plugins]\nloud = loud:register\n")


def test_every_kind_has_a_name_and_a_sentence():
    known = registry(plugins=False)
    for shelf in (known.scorers, known.metrics, known.solvers, known.sources):
        assert len(shelf) > 0
        for name, kind in shelf.items():
            assert kind.name == name
            assert kind.summary.endswith((".", "?"))


def test_a_name_can_be_taken_only_once():
    shelf = KindTable(ScorerKind)
    kind = next(iter(registry(plugins=False).scorers.values()))
    shelf.add(kind)
    with pytest.raises(SpecError, match="already a scorer named"):
        shelf.add(kind)


def test_a_plug_in_adds_a_scorer_that_files_can_name(project, tmp_path):
    installed(tmp_path, PLUGIN)
    project.write("task.yaml", TASK)
    outcome = project.spawn("run", "task.yaml", "--json", PYTHONPATH=str(tmp_path))
    assert outcome.code == 0, outcome.err
    assert outcome.json["scorers"][0]["metrics"][0]["values"]["loud_mean"]["value"] == 0.5
    assert '"shout"' in project.spawn("schema", PYTHONPATH=str(tmp_path)).out
    without = project.spawn("run", "task.yaml")
    assert without.code == 2
    assert 'unknown scorer type "shout"' in without.err


def test_a_plug_in_that_breaks_is_named(project, tmp_path):
    installed(tmp_path, "def register(registry):\n    raise RuntimeError('no luck')\n")
    project.write("task.yaml", TASK)
    outcome = project.spawn("run", "task.yaml", PYTHONPATH=str(tmp_path))
    assert outcome.code == 2
    assert 'the plug-in "loud" (loud:register) could not be loaded: RuntimeError: no luck' in outcome.err
