from __future__ import annotations

import dataclasses

from assay.builtin import registry
from assay.prepare.describe import stored_scorers
from assay.spec import load_task

TASK = """
key: t
display_name: t
definition:
  dataset: {source: {type: inline_samples, samples: [{answer: x}]}}
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.answer }}", value: x}
    - {type: regex, pattern: x, value: x}
"""


def test_the_version_of_a_kind_stands_for_its_code(project):
    loaded = load_task(project.write("task.yaml", TASK), registry(), strict=True)
    equals, regex = stored_scorers(loaded)
    # a first version says nothing, so that runs of kinds that never changed keep their identity
    assert (equals.code, regex.code) == ("2", None)
    raised = dataclasses.replace(loaded.scorers[0].kind, version=3)
    changed = dataclasses.replace(
        loaded, scorers=(dataclasses.replace(loaded.scorers[0], kind=raised), loaded.scorers[1])
    )
    assert stored_scorers(changed)[0].code == "3"
