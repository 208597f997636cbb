"""Write logs of Inspect into the current folder: one per epoch reducer, and logs with several, with errors, in JSON."""

from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, grouped, match, mean, scorer, std, stderr, var
from inspect_ai.solver import generate, solver

REPLIES = ["4", "5", "4", "6", "9", "9", "8", "8", "7"]
SAMPLES = [Sample(id=f"q{i}", input=f"{i} + {i}?", target=str(2 * i), metadata={"even": i % 2 == 0}) for i in (2, 3, 4)]
GRADES = {"4": "C", "5": "P", "6": "C", "9": "I", "8": "P", "7": "N"}


@scorer(metrics=[mean(), std(), var()])
def length():
    async def score(state, target):
        return Score(value=int(state.output.completion) / 8)

    return score


@scorer(metrics=[accuracy(), stderr()])
def grader():
    async def score(state, target):
        return Score(value=GRADES[state.output.completion], explanation="looked up")

    return score


@scorer(metrics={"tone": [mean()], "*": [mean(), stderr()]})
def aspects():
    async def score(state, target):
        number = int(state.output.completion)
        return Score(value={"tone": number % 2, "facts": number / 10})

    return score


@scorer(metrics=[grouped(accuracy(), "even")])
def by_parity():
    async def score(state, target):
        return Score(value="yes" if state.output.completion == target.text else "no")

    return score


@solver
def fail_on_three():
    async def solve(state, generate):
        if state.sample_id == "q3":
            raise RuntimeError("the tool was not there")
        return state

    return solve


def reply(text):
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=5, output_tokens=1, total_tokens=6)
    return output


def write(name, *, scorers, reducers=None, form="eval", solvers=(), **options):
    model = get_model("mockllm/model", custom_outputs=[reply(text) for text in REPLIES], memoize=False)
    epochs = Epochs(3, reducers) if reducers else None
    task = Task(name="sums", dataset=SAMPLES, solver=[*solvers, generate()], scorer=scorers, epochs=epochs)
    (log,) = evaluate(
        task, model=model, log_dir=".", log_format=form, display="none", max_connections=1, max_samples=1,
        log_realtime=False, **options,
    )  # fmt: skip
    Path(log.location.removeprefix("file://")).rename(f"{name}.{form}")
    figures = [
        (s.name, s.reducer, {key: metric.value for key, metric in s.metrics.items()}) for s in log.results.scores
    ]
    print(name, log.status, figures)


REDUCERS = ["mean", "mode", "median", "max", "at_least_2", "pass_at_2", "pass_k_2"]
for reducer in REDUCERS:
    write(reducer, scorers=[match(), length(), grader()], reducers=[reducer])
write("all_reducers", scorers=[match(), length(), grader(), aspects()], reducers=REDUCERS, form="json")
write("majority", scorers=[match()], reducers=["mean", "majority"])
write("plain", scorers=[match(), length(), grader(), aspects(), by_parity()])
write("errors", scorers=[match()], solvers=[fail_on_three()], fail_on_error=False)
