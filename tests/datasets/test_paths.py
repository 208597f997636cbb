from __future__ import annotations

import pytest

from assay.datasets.paths import located_path
from assay.errors import Place, SpecError
from assay.spec.fields import Located


def test_a_path_is_relative_to_the_file_that_names_it(tmp_path, write):
    write("data/a.csv", "a\n")
    assert located_path(Located("data/a.csv"), tmp_path, tmp_path, expected="file") == tmp_path / "data/a.csv"


def test_a_missing_file_offers_the_nearest_name_at_its_place(tmp_path, write):
    write("data/answers.jsonl", "")
    given = Located("data/anwsers.jsonl", Place("task.yaml", 4, 7))
    with pytest.raises(SpecError, match=r'task\.yaml:4:7: there is no file .*did you mean "data/answers\.jsonl"'):
        located_path(given, tmp_path, tmp_path, expected="file")


def test_a_missing_folder_of_a_missing_folder_has_no_suggestion(tmp_path):
    with pytest.raises(SpecError) as caught:
        located_path(Located("gone/docs"), tmp_path, None, expected="folder")
    assert caught.value.problems[0].suggestion is None


@pytest.mark.parametrize("given", ["../secret.csv", "/etc/passwd", "link.csv", "inner/../../secret.csv"])
def test_a_path_out_of_the_project_is_refused_unless_it_is_allowed(tmp_path, given):
    project = tmp_path / "project"
    (project / "inner").mkdir(parents=True)
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (project / "link.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(SpecError, match="--allow-outside"):
        located_path(Located(given), project, project, expected="file")
    assert located_path(Located(given), project, None, expected="file").exists()


def test_a_file_where_a_folder_is_wanted_says_which_type_to_use(tmp_path, write):
    write("a.csv", "a\n")
    with pytest.raises(SpecError, match="use `type: local`"):
        located_path(Located("a.csv"), tmp_path, None, expected="folder")
    with pytest.raises(SpecError, match="use `type: folder`"):
        located_path(Located("."), tmp_path, None, expected="file")


def test_a_path_that_cannot_be_followed_is_an_error(tmp_path):
    with pytest.raises(SpecError, match="not a usable path"):
        located_path(Located("a\0b"), tmp_path, tmp_path, expected="file")
