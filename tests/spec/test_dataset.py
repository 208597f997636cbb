from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import SpecError
from assay.registry import Registry
from assay.spec import LoadedTask, load_dataset

Load = Callable[..., LoadedTask]
DATASET = "key: answers\ndisplay_name: Answers\nsource: {type: local, file_path: a.csv}\n"


def test_a_dataset_is_found_by_its_key_and_paths_start_at_its_file(load: Load, project: Path) -> None:
    (project / "data").mkdir()
    (project / "data" / "set.yaml").write_text(DATASET)
    (project / "data" / "other.yaml").write_text("# answers\nkey: answers\nconfig: {}\n")
    (project / "data" / "broken.yaml").write_text("answers: [\n")
    loaded = load("dataset: {key: answers}")
    assert loaded.problems == ()
    assert loaded.dataset is not None
    assert (loaded.dataset.key, loaded.dataset.kind.name) == ("answers", "local")
    assert loaded.dataset.folder.resolve() == project / "data"


def test_an_unknown_key_offers_the_nearest(load: Load, project: Path) -> None:
    (project / "set.yaml").write_text(DATASET)
    (problem,) = load("dataset: {key: anwsers}").problems
    assert problem.message.startswith('no dataset has the key "anwsers"')
    assert problem.suggestion == "answers"
    assert str(problem.place) == "task.yaml:5:18"


def test_an_unknown_key_lists_what_there_is(load: Load, project: Path) -> None:
    (project / "set.yaml").write_text(DATASET)
    (problem,) = load("dataset: {key: zzz}").problems
    assert problem.message.endswith("; known: answers")


def test_a_file_that_may_hold_the_dataset_and_is_broken_is_told(load: Load, project: Path) -> None:
    (project / "set.yaml").write_text("key: answers\nsource: [\n")
    problems = load("dataset: {key: answers}").problems
    assert [problem.place.file for problem in problems if problem.place] == ["set.yaml", "task.yaml"]


def test_a_key_in_two_files_is_an_error_that_names_both(load: Load, project: Path) -> None:
    (project / "b.yaml").write_text(DATASET)
    (project / "c.yaml").write_text(DATASET)
    (problem,) = load("dataset: {key: answers}").problems
    assert "in more than one file: b.yaml and c.yaml" in problem.message


def test_the_problems_of_the_dataset_file_are_placed_there(load: Load, project: Path) -> None:
    (project / "set.yaml").write_text(
        "key: answers\ndisplay_name: 3\nsource: {type: local, file_pth: a.csv}\nkey: twice\n"
    )
    problems = [str(problem).split("\n")[0] for problem in load("dataset: {key: answers}").problems]
    assert problems == [
        'set.yaml:2:15: display_name: expected text, got a number (3); quote it: "3"',
        'set.yaml:3:23: unknown field "file_pth" in local; did you mean "file_path"?',
        'set.yaml:4:1: duplicate key "key"; it is already on line 1',
    ]


def test_the_key_may_come_from_a_parameter(load: Load, project: Path) -> None:
    (project / "set.yaml").write_text(DATASET)
    spec = "config_spec:\n  - {type: dataset, key: ds, display_name: D}\n"
    loaded = load("dataset: {key: << config.ds >>}", top=spec, config={"ds": "answers"})
    assert loaded.dataset is not None
    assert load("dataset: {key: << config.ds >>}", top=spec, strict=False).dataset is None


def test_a_dataset_file_loads_alone(project: Path, registry: Registry) -> None:
    (project / "set.yaml").write_text(DATASET)
    loaded = load_dataset(Path("set.yaml"), registry)
    assert loaded.settings.file_path == "a.csv"
    assert loaded.place is not None


def test_a_data_file_is_a_dataset_too(project: Path, registry: Registry) -> None:
    (project / "my data.csv").write_text("a\n1\n")
    loaded = load_dataset(project / "my data.csv", registry)
    assert (loaded.key, loaded.kind.name, loaded.settings.file_path) == ("my_data", "local", "my data.csv")
    assert loaded.folder == project
    with pytest.raises(SpecError, match="there is no file"):
        load_dataset(project / "none.csv", registry)
    with pytest.raises(SpecError, match='no dataset source "local"'):
        load_dataset(project / "my data.csv", Registry())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("definition: {}\n", "not a dataset"),
        ("key: a\ndisplay_name: A\nsource: {}\n", 'missing field "type" in the dataset source'),
        ("key: a\ndisplay_name: A\nsource: 3\n", "source: expected a mapping"),
        ("key: a\ndisplay_name: A\nsource: {type: inspect_ai}\n", "is not available in this version"),
        ("key: a\nkey: a\n", "duplicate key"),
        (
            "key: a\ndisplay_name: A\ngenerator_specification: {dataset_generator_key: g, num_samples: 2}\n",
            'no dataset generator has the key "g"',
        ),
        (
            "key: a\ndisplay_name: A\nsource: {type: local, file_path: x}\n"
            "generator_specification: {dataset_generator_key: g, num_samples: 2}\n",
            'either "source" or "generator_specification"',
        ),
    ],
)
def test_a_wrong_dataset_file_is_refused(project: Path, registry: Registry, text: str, words: str) -> None:
    (project / "set.yaml").write_text(text)
    with pytest.raises(SpecError, match=words):
        load_dataset(Path("set.yaml"), registry)


def test_variables_in_a_dataset_file_are_used_by_value_and_kept_by_name(project: Path, registry: Registry) -> None:
    (project / "set.yaml").write_text(DATASET.replace("a.csv", "$DATA"))
    loaded = load_dataset(Path("set.yaml"), registry, environment={"DATA": "b.csv"})
    assert loaded.settings.file_path == "b.csv"
    assert loaded.written["file_path"] == "$DATA"
