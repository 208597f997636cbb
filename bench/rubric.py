"""A panel of judges: the whole of `assay run` beside a raw aiohttp loop that makes as many calls."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.live import server
from bench.measure import Cost, Line, run

CRITERIA, JUDGES, WIDTH = 4, 3, 100
SMALL, LARGE = 100, 600
TASK = """
key: panel
display_name: panel
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: rubric
      rubric:
        - {name: right, requirement: "Names the capital."}
        - {name: short, requirement: "Is one sentence."}
        - {name: rude, requirement: "Is rude.", weight: -4}
        - name: tone
          requirement: "How friendly is it?"
          options: [{label: cold, value: 0}, {label: neutral, value: 0.5}, {label: warm, value: 1}]
      judges:
        - {model_key: openai/stub-1, sampling: {temperature: 0}}
        - {model_key: openai/stub-2, sampling: {temperature: 0}}
        - {model_key: openai/stub-3, sampling: {temperature: 0}}
"""


RAW = """
import asyncio, sys, aiohttp, orjson, uvloop

SYSTEM = "You are a careful judge. " * 31
USER = "The submission to judge, between its markers, and then the criterion with its instruction. " * 6
VERDICT = {"type": "string", "enum": ["MET", "UNMET", "CANNOT_ASSESS"]}
SCHEMA = {"type": "object", "properties": {"explanation": {"type": "string"}, "criterion_status": VERDICT},
          "required": ["explanation", "criterion_status"], "additionalProperties": False}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}

async def main(url, path, width):
    lines = iter(open(path, "rb"))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=width)) as session:
        async def work():
            for line in lines:
                text = USER + orjson.loads(line)["question"]
                messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
                body = {"model": "stub", "messages": messages, "temperature": 0, "response_format": FORMAT}
                headers = {"Content-Type": "application/json", "Authorization": "Bearer x"}
                async with session.post(url, data=orjson.dumps(body), headers=headers) as response:
                    reply = orjson.loads(await response.read())["choices"][0]["message"]["content"]
                    orjson.loads(reply)["criterion_status"]
        await asyncio.gather(*(work() for _ in range(width)))

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""
"""The same calls and nothing else: prompts of the same size, the same schema, the verdict read."""


def measure() -> Iterator[Line]:
    """CPU per judge's call, slope between two sizes on both sides."""
    with tempfile.TemporaryDirectory() as scratch, server("--vary") as url:
        raw = {n: _raw(url, Path(scratch), n) for n in (SMALL, LARGE)}
        ours = {n: _ours(url, Path(scratch), n) for n in (SMALL, LARGE)}
        calls = (LARGE - SMALL) * CRITERIA * JUDGES
        raw_ms = (raw[LARGE].cpu_s - raw[SMALL].cpu_s) / calls * 1000
        our_ms = (ours[LARGE].cpu_s - ours[SMALL].cpu_s) / calls * 1000
        yield Line(
            what=f"CPU per judge's call, {CRITERIA} criteria x {JUDGES} judges, whole assay run / raw aiohttp loop",
            ratio=our_ms / raw_ms,
            budget=2,
            goal=1.5,
            detail=f"{our_ms:.3f} ms / {raw_ms:.3f} ms",
        )


def _raw(url: str, scratch: Path, n: int) -> Cost:
    data = scratch / f"raw{n}.jsonl"
    question = "Is this text right, short, rude, friendly? The capital of country number {} is a fine city."
    with data.open("w", encoding="utf-8") as out:
        for i in range(n * CRITERIA * JUDGES):
            out.write(f'{{"question": "{question.format(i)}"}}\n')
    return run("-c", RAW, f"{url}/chat/completions", str(data), str(WIDTH * JUDGES))


def _ours(url: str, scratch: Path, n: int) -> Cost:
    project = scratch / f"p{n}"
    (project / ".assay").mkdir(parents=True)
    (project / "task.yaml").write_text(TASK, encoding="utf-8")
    with (project / "data.jsonl").open("w", encoding="utf-8") as out:
        for i in range(n):
            out.write(f'{{"output": "The capital of country number {i} is a fine city."}}\n')
    arguments = ("-m", "assay", "run", "task.yaml", "-q", "--max-concurrency", str(WIDTH), "--max-failures", "1")
    return run(*arguments, folder=project, OPENAI_BASE_URL=url, OPENAI_API_KEY="x")
