from __future__ import annotations

from assay.builtin import registry
from assay.prepare.model_references import model_keys
from assay.spec import load_task

TASK = """
key: t
display_name: t
definition:
  dataset: {source: {type: inline_samples, samples: [{a: x}]}}
  solver:
    type: multi_turn_solver
    message_builders:
      - type: loop
        max_iterations: 2
        message_builders:
          - {type: generate_message, model_key: customer, extra_input_messages: [{role: system, content: Buy.}]}
          - {type: generate}
  scorers:
    - {type: contains, substring: x}
    - {type: labeler_via_model, model_key: judge, user_prompt: "Label.", valid_labels: [a, b]}
"""


def test_models_named_anywhere_in_a_task_are_found(project):
    loaded = load_task(project.write("task.yaml", TASK), registry(), strict=True)
    assert loaded.problems == ()
    assert list(model_keys(loaded)) == ["customer", "judge"]


def test_a_task_without_models_names_none(project):
    path = project.write("task.yaml", TASK[: TASK.index("  solver")] + "  scorers: []\n")
    assert list(model_keys(load_task(path, registry(), strict=True))) == []
