from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.registry import Registry
from assay.spec import LoadedTask, load_dataset
from assay.spec.deprecated import modernized
from assay.spec.load import read_document

Load = Callable[..., LoadedTask]


def notes(path: str) -> list[str]:
    document = modernized(read_document(Path(path), strict=True, environment={}))
    return [str(note).split("\n")[0] for note in document.notes]


def test_a_dataset_with_its_path_at_the_top_is_a_local_source(project: Path, registry: Registry) -> None:
    (project / "set.yaml").write_text("key: a\ndisplay_name: A\nmodalities: [text]\nfile_path: a.csv\n")
    assert load_dataset(Path("set.yaml"), registry).settings.file_path == "a.csv"
    assert notes("set.yaml") == [
        'set.yaml:3:1: deprecated: "modalities" is ignored',
        'set.yaml:4:1: deprecated: "file_path" is now "source: {type: local, file_path: ...}"',
    ]


def test_the_old_name_of_a_source_is_taken(project: Path, registry: Registry) -> None:
    (project / "set.yaml").write_text("key: a\ndisplay_name: A\ndata_source: {type: local, file_path: a.csv}\n")
    assert load_dataset(Path("set.yaml"), registry).settings.file_path == "a.csv"
    assert notes("set.yaml") == ['set.yaml:3:1: deprecated: "data_source" is now "source"']


def test_the_notes_of_a_dataset_reach_the_task(load: Load, project: Path) -> None:
    (project / "set.yaml").write_text("key: answers\ndisplay_name: A\nfile_path: a.csv\n")
    assert [note.place.file for note in load("dataset: {key: answers}").notes if note.place] == ["set.yaml"]


def test_the_old_fields_of_multiple_choice_are_left_to_the_scorer_with_a_note(load: Load) -> None:
    loaded = load("scorers: [{type: free, ground_truth_choice_field: a, choices_field: b}, 3]")
    assert [note.message for note in loaded.notes] == [
        f'deprecated: "{old}_field" is now "{old}", a template such as "{{{{ sample.column }}}}"'
        for old in ("ground_truth_choice", "choices")
    ]


def test_a_file_without_mappings_has_no_old_spellings(project: Path) -> None:
    (project / "list.yaml").write_text("[1]\n")
    assert notes("list.yaml") == []
    (project / "task.yaml").write_text("definition: 3\n")
    assert notes("task.yaml") == []
