"""Other tools on the same questions and the same loopback server: `make bench-peers` builds an environment for each."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.live import RAW, _ours, _project, server
from bench.measure import Line

FOLDER = Path(__file__).parent.parent / ".venv-peers"
SIZES = 100, 400
WIDTH = 100
SYSTEM = "Answer with the letter of the right choice."

INSPECT = f'''
from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate, system_message

@task
def mcq():
    dataset = json_dataset("data.jsonl", lambda row: Sample(input=row["question"], target=row["answer"]))
    return Task(dataset=dataset, solver=[system_message("{SYSTEM}"), generate()], scorer=match())
'''
LM_EVAL = """
task: mcq
dataset_path: json
dataset_kwargs: {data_files: {test: data.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n"], max_gen_toks: 10, temperature: 0, do_sample: false}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
"""
RUBRIC = """
import asyncio, json, sys
from {module} import LLMConfig, Rubric
from {module}.graders import CriterionGrader

RUBRIC = Rubric.from_dict([{{"name": "right", "weight": 1.0, "requirement": "Names the right choice."}}])

async def main(url):
    config = LLMConfig(model="openai/stub", api_base=url, api_key="x", temperature=0, max_parallel_requests={width})
    grader = CriterionGrader(llm_config=config)
    texts = [json.loads(line)["question"] for line in open("data.jsonl")]
    await asyncio.gather(*(RUBRIC.grade(text, grader=grader) for text in texts))

asyncio.run(main(sys.argv[1]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another tool: the packages it needs, the file that holds its task, and the command that runs it."""

    packages: tuple[str, ...]
    file: tuple[str, str]
    command: Callable[[Path, str], list[str]]
    server: tuple[str, ...] = ("--body", "mcq")


PEERS: Mapping[str, Peer] = {
    "inspect-ai": Peer(
        packages=("inspect-ai", "openai"),
        file=("mcq.py", INSPECT),
        command=lambda programs, _: [
            *(str(programs / "inspect"), "eval", "mcq.py", "--model", "openai/stub", "-M", "responses_api=false"),
            *("--max-connections", str(WIDTH), "--max-samples", str(WIDTH), "--display", "none", "--log-dir", "logs"),
            *("--temperature", "0", "--max-tokens", "10"),
        ],
    ),
    "lm-eval": Peer(
        packages=("lm-eval[api]",),
        file=("mcq.yaml", LM_EVAL),
        command=lambda programs, url: [
            *(
                str(programs / "lm_eval"),
                "run",
                "--model",
                "local-chat-completions",
                "--tasks",
                "mcq",
                "--include_path",
                ".",
            ),
            *("--model_args", f"base_url={url}/chat/completions,model=stub,num_concurrent={WIDTH}"),
            *("--apply_chat_template", "--system_instruction", SYSTEM),
        ],
    ),
    "autorubric": Peer(
        packages=("autorubric",),
        file=("grade.py", RUBRIC.format(module="autorubric", width=WIDTH)),
        command=lambda programs, url: [str(programs / "python"), "grade.py", url],
        server=(),
    ),
}


def build(name: str) -> Path:
    """The programs of a peer's own environment, which is made where it is missing."""
    folder = FOLDER / name
    if not (folder / "built").exists():
        print(f"building {folder} ...", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*install, *PEERS[name].packages], check=True)
        (folder / "built").touch()
    return folder / "bin"


def measure() -> Iterator[Line]:
    """CPU per call of every tool, slope between two sizes, and CPU of a whole command with the smaller one."""
    with tempfile.TemporaryDirectory() as scratch, server("--body", "mcq") as url:
        folder = Path(scratch)
        costs = [
            _cpu_s([sys.executable, "-c", RAW, f"{url}/chat/completions", "data.jsonl", str(WIDTH)], folder, url, n)
            for n in SIZES
        ]
        yield _line("raw aiohttp loop", costs)
        costs = [_ours(url, _project(folder / "ours", n)).cpu_s for n in SIZES]
        yield _line("assay", costs)
    for name, peer in PEERS.items():
        bin_folder = build(name)
        with tempfile.TemporaryDirectory() as scratch, server(*peer.server) as url:
            folder = Path(scratch)
            costs = []
            # once without measuring: what a tool compiles or keeps on its first run is no cost of a call
            for n in (SIZES[0], *SIZES):
                project = _project(folder, n)
                (project / peer.file[0]).write_text(peer.file[1], encoding="utf-8")
                costs.append(_cpu_s(peer.command(bin_folder, url), folder, url, n))
            costs = costs[1:]
            yield _line(name, costs)
            if name == "autorubric":
                # our own rubric API under the same program
                for n in SIZES:
                    program = RUBRIC.format(module="assay.rubric", width=WIDTH)
                    (_project(folder, n) / "ours.py").write_text(program, encoding="utf-8")
                ours = [_cpu_s([sys.executable, "ours.py", url], folder, url, n) for n in SIZES]
                yield _line("assay.rubric, the same program", ours)


def _cpu_s(command: list[str], folder: Path, url: str, n: int) -> float:
    project = _project(folder, n)
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "x",
        "HF_HUB_OFFLINE": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    process = subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    complaint = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}: {complaint[-2000:]}")
    return usage.ru_utime + usage.ru_stime


def _line(name: str, costs: list[float]) -> Line:
    per_call_ms = (costs[1] - costs[0]) / (SIZES[1] - SIZES[0]) * 1000
    detail = f"whole command: {costs[0]:.2f} s for {SIZES[0]}, {costs[1]:.2f} s for {SIZES[1]}"
    return Line(what=f"{name}: CPU per model call", ratio=per_call_ms, budget=None, unit="ms", detail=detail)


if __name__ == "__main__":
    started = time.perf_counter()
    for line in measure():
        print(f"{line.ratio:>8.2f} {line.unit}  {line.what} ({line.detail})", flush=True)
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
