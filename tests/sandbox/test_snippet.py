from __future__ import annotations

import json
import sys

import pytest

from assay.sandbox.snippet import KEPT_PRINT, MODULE, LoadedSnippet, Printed, PrintedTooMuch


@pytest.fixture
def snippet(monkeypatch):
    """A snippet loaded in this process, its prints caught as a worker does."""
    printed = Printed()

    def make(source: str, *, shape: str = "plain", line: int = 1, load: bool = True) -> LoadedSnippet:
        program = {"source": source, "function": "f", "shape": shape, "file": "task.yaml", "line": line}
        made = LoadedSnippet(program, printed, confined=True)
        if load:
            assert made.load() is None
        monkeypatch.setattr(sys, "stdout", printed)
        return made

    yield make
    sys.modules.pop(MODULE, None)


def said(snippet: LoadedSnippet, row) -> list:
    return json.loads(snippet.run(row))


def test_a_call_gives_what_the_function_returns(snippet):
    assert said(snippet("def f(a, b=2): return a + b"), [1]) == [True, 3]


def test_arguments_that_the_function_does_not_take_are_left_out(snippet):
    row = [{"x": 1}, "7", "answer", None]
    assert said(snippet("def f(sample): return sample.sample_id", shape="sample"), row) == [True, "7"]
    assert said(snippet("def f(*both): return str(both[1].output)", shape="sample"), row) == [True, "answer"]


def test_a_task_without_a_solver_has_no_output(snippet):
    assert said(snippet("def f(s, o): return o", shape="sample"), [{}, "0", None, None]) == [True, None]


def test_all_samples_come_together_and_know_their_outputs(snippet):
    source = "def f(samples): return [[s.x, s.sample.x, s['solver_output'].output, s.sample_id] for s in samples]"
    rows = [[{"x": 1}, "a", "A", None], [{"x": 2}, "b", "B", None]]
    assert said(snippet(source, shape="samples"), rows) == [True, [[1, 1, "A", "a"], [2, 2, "B", "b"]]]
    assert said(snippet("def f(s, o): return [x.output for x in o]", shape="samples"), rows) == [True, ["A", "B"]]


def test_scores_have_values_and_metadata(snippet):
    source = "def f(scores): return [s['a'] + s.metadata['b'] for s in scores]"
    assert said(snippet(source, shape="scores"), [[{"a": 1}, {"b": 2}]]) == [True, [3]]


def test_coroutines_are_awaited_on_one_loop(snippet):
    made = snippet("import asyncio\nasync def f(x):\n  await asyncio.sleep(0)\n  return id(asyncio.get_running_loop())")
    assert said(made, [1]) == said(made, [2])
    made._runner.close()


def test_an_error_shows_the_users_lines_and_no_others(snippet):
    source = "import json\n\ndef g(x):\n    return json.loads(x)\n\ndef f(x):\n    return g(x)\n"
    done, detail = said(snippet(source, line=20), ["{"])
    assert not done
    assert detail.splitlines() == [
        "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        "  task.yaml:23 in g",
        "    return json.loads(x)",
        "  task.yaml:26 in f",
        "    return g(x)",
    ]


def test_a_deep_error_shows_the_last_lines_only(snippet):
    _, detail = said(snippet("def f(x): return f(x)"), [1])
    assert detail.count("task.yaml:1 in f") == 5


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise MemoryError", "MemoryError: more memory than code may use"),
        ("raise PermissionError('no')", "PermissionError: no (code may not read or write files"),
        ("return {1}", "TypeError: a value of type set is not plain data"),
        ("return object", "TypeError: a value of type type is not plain data"),
        ("a = []; a.append(a); return a", "ValueError: Circular reference detected"),
        ("return {(1, 2): 3}", "TypeError: keys must be str"),
        ("raise Odd", "Odd: (its text cannot be read)"),
    ],
)
def test_whatever_is_raised_is_a_failure_of_the_row(snippet, body, words):
    source = f"class Odd(Exception):\n    def __str__(self): raise ValueError\ndef f(x):\n    {body}\n"
    done, detail = said(snippet(source), [1])
    assert not done
    assert detail.startswith(words)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import nothing_of_the_kind", "ModuleNotFoundError: No module named"),
        ("g = 1", "AttributeError: module '__snippet__' has no attribute 'f'"),
        ("def f(", "SyntaxError"),
    ],
)
def test_a_snippet_that_cannot_be_loaded_says_why(snippet, source, words):
    broken = snippet(source, load=False).load()
    assert broken.startswith(words)
    assert broken.endswith("(while the snippet was loaded)")
    assert said(snippet(source, load=False), [1])[0] is False


def test_what_numpy_and_dataclasses_give_is_plain_data(snippet):
    source = """
import dataclasses, types, numpy
from assay.sandbox.shims import ModelResponse, SampleScore, SolverOutput
@dataclasses.dataclass
class P:
    x: object
def f(x):
    return [P(numpy.float32(0.5)), numpy.arange(2), numpy.bool_(True), types.MappingProxyType({"a": 1}),
            SampleScore({"s": 1}), SolverOutput("B"), SolverOutput("B").trace, ModelResponse("t")]
"""
    item = {"type": "message", "role": "assistant", "content": "B"}
    assert said(snippet(source), [1])[1] == [
        {"x": 0.5},
        [0, 1],
        True,
        {"a": 1},
        {"scores": {"s": 1}, "metadata": {}},
        {"output": "B", "trace": [item]},
        [item],
        {"text": "t", "items": []},
    ]


def test_prints_come_with_the_row_that_printed_them(snippet):
    made = snippet("def f(x):\n    if x: print('saw', x)\n    return x")
    assert [said(made, [x]) for x in (1, 0, 2)] == [[True, 1, "saw 1\n"], [True, 0], [True, 2, "saw 2\n"]]


def test_long_prints_are_cut_and_endless_ones_end_the_call():
    printed = Printed()
    printed.write("x" * (KEPT_PRINT + 10))
    assert printed.take() == "x" * KEPT_PRINT + "... (10 more characters)"
    assert printed.take() == ""
    assert printed.writable()
    with pytest.raises(PrintedTooMuch):
        for _ in range(20):
            printed.write("x" * 100_000)


def test_prints_that_are_hidden_still_fail_the_row(snippet):
    source = "def f(x):\n    try:\n        print('x' * 2_000_000)\n    except BaseException:\n        return 1"
    done, detail, _ = said(snippet(source), [1])
    assert not done
    assert detail == "printed more than 1,000,000 characters"


def test_a_huge_result_is_refused(snippet):
    assert "gave more than 16,000,000 characters" in said(snippet("def f(x): return 'x' * 20_000_000"), [1])[1]
