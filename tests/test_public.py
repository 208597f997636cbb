"""The public names: few, documented, lazy, and all there."""

import subprocess
import sys

import pytest

import assay


def test_every_public_name_exists_and_has_a_sentence():
    assert len(assay.__all__) <= 30
    for name in assay.__all__:
        value = getattr(assay, name)
        if name != "__version__":
            assert value.__doc__, name


def test_the_lists_of_names_agree():
    assert sorted(assay._HOMES) == sorted(set(assay.__all__) - {"__version__"})
    assert dir(assay) == assay.__all__
    assert not hasattr(assay, "no_such_name")


def test_importing_assay_or_asking_for_help_imports_nothing_heavy():
    code = "import sys, assay, assay.cli.main; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "sqlalchemy", "aiohttp", "pydantic", "jinja2", "yaml", "rich", "orjson"}
    assert not heavy & set(loaded)


def test_running_a_task_from_python(project):
    project.write("data.jsonl", [{"answer": "yes", "said": "yes"}, {"answer": "no", "said": "yes"}])
    path = project.write(
        "task.yaml",
        """
key: t
display_name: t
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.answer }}", value: "{{ sample.said }}"}
    - {type: contains, substring: "y", value: "{{ sample.said }}"}
""",
    )
    result = assay.run(path)
    assert result.metrics["string_equals/mean/accuracy"].value == 0.5
    assert result.metrics["contains/mean/accuracy"].interval.method == "wilson"
    assert len(result.metrics) == 2
    with pytest.raises(assay.SpecError, match="string_equals/mean/accuracy"):
        result.metrics["accuracy"]
    assert [row["scores"]["string_equals"]["values"]["is_correct"] for row in result.to_dicts()] == [1.0, 0.0]
    assert result.to_json()["run"] == result.run
    assert assay.run(path, limit=1).report.n_samples == 1
    assert assay.check(path) == ()
