from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.spec import LoadedTask

Load = Callable[..., LoadedTask]

SPEC = """\
config_spec:
  - {type: int, key: n, display_name: N, default_value: 3, min: 1, max: 9}
  - {type: boolean, key: flag, display_name: F, default_value: true}
  - {type: string, key: column, display_name: C, default_value: answer, string_kind: freeform}
  - {type: list, key: labels, display_name: L, dtype: string, default_value: [a, b]}
  - {type: float, key: nothing, display_name: Z, nullable: true}
"""
SCORER = "scorers:\n  - {type: equals, metrics: [], ground_truth: %s}\n"


def truth(loaded: LoadedTask) -> str:
    assert loaded.problems == ()
    return str(loaded.scorers[0].settings.ground_truth)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("'{{ sample.<< config.column >> }}'", "{{ sample.answer }}"),
        ("<< config.column >>", "answer"),
        ("<< config.n >>", "3"),
        ("<< config.flag >>", "true"),
        ("'<< config.labels >>'", '["a", "b"]'),
        (
            "'n=<< config.n >>, << config.flag >>, << config.labels >>, << config.nothing >>.'",
            'n=3, true, ["a", "b"], .',
        ),
        ("'<<config.n>> << conf.n >> 1 << 2'", "<<config.n>> << conf.n >> 1 << 2"),
    ],
)
def test_a_placeholder_becomes_its_value_and_text_where_text_is_wanted(load: Load, written: str, expected: str) -> None:
    assert truth(load(SCORER % written, top=SPEC)) == expected


def test_a_lone_placeholder_keeps_its_type(load: Load) -> None:
    loaded = load(
        "scorers:\n  - {type: equals, ground_truth: x, metrics: [], tolerance: << config.n >>,"
        " exact: << config.flag >>, choices: << config.labels >>}\n",
        top=SPEC,
    )
    assert loaded.problems == ()
    chosen = loaded.scorers[0].settings
    assert (chosen.tolerance, chosen.exact, chosen.choices) == (3.0, True, ["a", "b"])
    assert loaded.config == {"n": 3, "flag": True, "column": "answer", "labels": ["a", "b"], "nothing": None}
    assert loaded.resolved["definition"]["scorers"][0]["tolerance"] == 3


def test_values_from_the_command_line_are_read_by_the_parameters_type(load: Load) -> None:
    given = {"n": "5", "flag": "False", "column": "7", "labels": '["x"]', "nothing": "0.5"}
    loaded = load(SCORER % "x", top=SPEC, config=given)
    assert loaded.problems == ()
    assert loaded.config == {"n": 5, "flag": False, "column": "7", "labels": ["x"], "nothing": 0.5}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n": "many"}, 'config parameter "n": expected a whole number, got text ("many")'),
        ({"n": "12"}, 'config parameter "n": expected a number <= 9, got 12'),
        ({"flag": "yes"}, 'config parameter "flag": expected true or false'),
        ({"labels": "[1]"}, 'config parameter "labels": expected text, got a number (1)'),
        ({"colum": "x"}, 'the task has no config parameter "colum"; did you mean "column"?'),
        ({"zzz": "x"}, 'the task has no config parameter "zzz"; known: n, flag, column, labels, nothing'),
    ],
)
def test_a_wrong_value_is_told_with_the_parameters_name(load: Load, given: dict[str, str], words: str) -> None:
    (problem,) = load(SCORER % "x", top=SPEC, config=given).problems
    assert words in str(problem)


def test_a_parameter_without_a_value_stops_a_run_and_is_a_note_in_a_check(load: Load) -> None:
    spec = "config_spec:\n  - {type: int, key: n, display_name: N}\n"
    definition = (
        "dataset: {key: << config.n >>}\n"
        "scorers:\n"
        "  - {type: equals, ground_truth: '<< config.n >>', tolerance: << config.n >>}\n"
        "  - {type: pattern, pattern: '(<< config.n >>'}\n"
        "  - {type: << config.n >>}\n"
    )
    strict = load(definition, top=spec)
    assert [str(problem).split("\n")[0] for problem in strict.problems] == [
        'task.yaml:5:5: the config parameter "n" has no value: give --config n=VALUE'
    ]
    lenient = load(definition, top=spec, strict=False)
    assert lenient.problems == ()
    assert [note.message for note in lenient.notes] == [strict.problems[0].message]
    assert "<< config.n >>" in lenient.unresolved


def test_an_unknown_placeholder_is_told_at_its_place_with_the_nearest_name(load: Load) -> None:
    (problem,) = load(SCORER % "'a << config.colum >>'", top=SPEC).problems
    assert problem.message == 'there is no config parameter "colum"'
    assert problem.suggestion == "column"
    assert problem.place is not None
    assert problem.place.line == 12


def test_a_secret_has_no_place_in_a_task(load: Load) -> None:
    (problem,) = load(SCORER % "<< secrets.token >>").problems
    assert "secrets are allowed only in models and generators" in problem.message


def test_placeholders_are_replaced_in_included_files_and_never_in_data(load: Load, project: object) -> None:
    from pathlib import Path

    Path("prompt.txt").write_text("<< config.column >>?")
    loaded = load(
        "dataset: {source: {type: inline_samples, samples: [{q: << config.column >>}]}}\n"
        + SCORER % "!include prompt.txt",
        top=SPEC,
    )
    assert truth(loaded) == "answer?"
    assert loaded.dataset is not None
    assert loaded.dataset.settings.samples == [{"q": "<< config.column >>"}]
    assert loaded.scorers[0].settings.ground_truth.place.file == "prompt.txt"


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("{type: integer, key: n, display_name: N}", 'unknown parameter type "integer"'),
        ("{key: n, display_name: N}", 'missing field "type" in the parameter'),
        ("{type: int, key: n, display_name: N, default_value: x}", 'default of "n": expected a whole number'),
        ("{type: int, key: n, display_name: N, minn: 1}", 'unknown field "minn" in the int parameter'),
        ("{type: int, key: n}", 'missing field "display_name" in the int parameter'),
        ("{type: int, key: n, display_name: N, default_value: ~}", 'default of "n": expected a value, got nothing'),
        ("7", "expected a parameter, such as"),
        ("{type: int, display_name: N}", 'missing field "key" in the int parameter'),
    ],
)
def test_a_wrong_parameter_is_told_at_its_place(load: Load, parameter: str, words: str) -> None:
    (problem,) = load("scorers: []", top=f"config_spec:\n  - {parameter}\n").problems
    assert words in problem.message
    assert problem.place is not None
    assert problem.place.line == 5


def test_two_parameters_with_one_key_are_an_error(load: Load) -> None:
    one = "  - {type: int, key: n, display_name: N, default_value: 1}\n"
    (problem,) = load("scorers: []", top=f"config_spec:\n{one}{one}").problems
    assert 'there is already a parameter with the key "n"' in problem.message


def test_a_parameter_that_is_wrong_does_not_make_its_placeholders_unknown(load: Load) -> None:
    spec = "config_spec:\n  - {type: nope, key: n, display_name: N}\n"
    (problem,) = load(SCORER % "<< config.n >>", top=spec).problems
    assert 'unknown parameter type "nope"' in problem.message
