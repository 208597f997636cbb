"""kill -9 at random moments of every command that writes: the same command then gives what it gives undisturbed.

Two moments of each command by default; `ASSAY_KILLS=40` tries forty.
"""

import json
import os
import random
import shutil
import time
from pathlib import Path

import pytest
from tests.conftest import Project

MOMENTS = int(os.environ.get("ASSAY_KILLS", "2"))
N = 300
IN_FLIGHT = 20
LATENCY_MS = 20
ONE_GROUP = 4 * IN_FLIGHT
"""What twenty callers can bring in before a group is committed, and while it is."""

MODEL = {
    "key": "stub",
    "display_name": "Stub",
    "max_concurrent_requests": IN_FLIGHT,
    "prices": {"input_per_million": 1, "output_per_million": 1},
}
SOLVER = {
    "type": "single_turn_solver",
    "input_builder": {
        "type": "chat_completion",
        "input_messages": [{"role": "user", "content": "{{ sample.question }} [[reply: {{ sample.answer }}]]"}],
    },
}
EXACT = {"type": "string_equals", "ground_truth": "B"}
TASK = {
    "key": "asked",
    "display_name": "Asked",
    "definition": {
        "dataset": {"source": {"type": "local", "file_path": "data.jsonl"}},
        "solver": SOLVER,
        "scorers": [EXACT],
    },
}
PROMPT = '{{ source.question }} [[reply: {"samples": [{"made": "{{ source.answer }}"}]}]]'
GENERATOR = {
    "key": "asking",
    "display_name": "Asking",
    "description": "Asks a model about every row",
    "definition": {
        "dataset": {"type": "dataset_samples", "key": "rows"},
        "synthesizers": [
            {
                "type": "llm",
                "model_key": "stub",
                "user_prompt_template": PROMPT,
                "sample_properties": {"made": "an answer"},
                "use_structured_outputs": True,
            }
        ],
    },
}
SPECIFICATION = {"dataset_generator_key": "asking", "num_samples": N}
EVALUATION = {
    "evaluation": {
        "key": "both",
        "display_name": "Both",
        "task_specifications": [
            {"task_key": "asked", "model_key": "stub"},
            {"task_key": "contained", "model_key": "stub"},
        ],
    }
}
COMMANDS = {
    "run": (["run", "task.yaml", "--model", "stub", "--json"], N),
    "grade": (["grade", "rubric.yaml", "texts.jsonl", "--judge", "stub", "--json"], N),
    "generate": (["generate", "made.yaml", "--json"], N),
    "rescore": (["rescore", "answered", "stricter.yaml", "--json"], 0),
    "import": (["import", "results.csv", "--name", "imported", "--json"], 0),
    "evaluation": (["run", "run.yaml", "--json"], 2 * N),
}
"""Each command, and how many replies it pays for."""
VOLATILE = {
    "run",
    "runs",
    "reused_from",
    "n_cached",
    "spending",
    "started_at",
    "finished_at",
    "cost_usd",
    "usage",
    "file",
}


@pytest.fixture
def prepared(project, loopback):
    loopback.configure(body="mcq", latency_ms=LATENCY_MS)
    config = {"url": f"{loopback.url}/chat/completions", "model_key": "stub", "api_key": "$STUB_KEY"}
    rows = [{"question": f"Question {n}?", "answer": "ABCD"[n % 4]} for n in range(N)]
    for name, document in {
        "models/stub.yaml": {**MODEL, "config": config},
        "task.yaml": TASK,
        "stricter.yaml": {
            **TASK,
            "key": "stricter",
            "definition": {**TASK["definition"], "scorers": [{**EXACT, "key": "again"}]},
        },
        "contained.yaml": {
            **TASK,
            "key": "contained",
            "definition": {
                **TASK["definition"],
                "solver": {
                    **SOLVER,
                    "input_builder": {
                        "type": "chat_completion",
                        "input_messages": [{"role": "user", "content": "Once more: {{ sample.question }}"}],
                    },
                },
                "scorers": [{"type": "contains", "substring": "A"}],
            },
        },
        "made.yaml": {"key": "made", "display_name": "Made", "generator_specification": SPECIFICATION},
        "asking.yaml": GENERATOR,
        "rows.yaml": {
            "key": "rows",
            "display_name": "Rows",
            "source": {"type": "local", "file_path": "data.jsonl"},
        },
        "run.yaml": EVALUATION,
    }.items():
        project.write(name, json.dumps(document))
    project.write("rubric.yaml", "- {name: polite, requirement: Is polite.}")
    project.write("data.jsonl", rows)
    project.write("texts.jsonl", [{"text": row["question"] + " [[reply: MET]]"} for row in rows])
    project.write("results.csv", "id,score\n" + "".join(f"{n},{n % 2}\n" for n in range(20_000)))
    project.write(".env", "STUB_KEY=sk-loopback\n")
    answered = project.assay("run", "task.yaml", "--model", "stub", "--name", "answered", "--store", "answered.db")
    assert answered.code == 0, answered.err
    return project


def lasting(document):
    """What a command printed, without what differs from run to run."""
    if isinstance(document, dict):
        return {key: lasting(value) for key, value in document.items() if key not in VOLATILE}
    return [lasting(entry) for entry in document] if isinstance(document, list) else document


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_goes_on_where_it_was(prepared, loopback, name, tmp_path):
    command, calls = COMMANDS[name]

    def fresh(number):
        """The project as it was before the command, at a place of its own."""
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(prepared.folder, copy, ignore=shutil.ignore_patterns(".assay"))
        project = Project(copy)
        if name == "rescore":
            shutil.copy(copy / "answered.db", copy / ".assay" / "assay.db")
        return project

    calm = fresh("calm")
    started = time.monotonic()
    expected = calm.assay(*command)
    duration_s = time.monotonic() - started
    assert expected.code == 0, expected.err
    draw = random.Random(name)
    for number in range(MOMENTS):
        project = fresh(number)
        loopback.reset()
        loopback.configure(body="mcq", latency_ms=LATENCY_MS)
        process = project.start(*command)
        time.sleep(draw.uniform(0, duration_s))
        process.kill()
        process.communicate()
        finished = project.assay(*command)
        assert finished.code == 0, finished.err
        assert lasting(finished.json) == lasting(expected.json)
        if name == "generate":
            assert Path(finished.json["file"]).read_bytes() == Path(expected.json["file"]).read_bytes()
        assert calls <= loopback.stats()["arrived"] <= calls + IN_FLIGHT + ONE_GROUP
        shutil.rmtree(project.folder)
