"""Write a test run of DeepEval into the current folder: four cases and two metrics, of which one fails once."""

import os

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_RESULTS_FOLDER": ".", "ERROR_REPORTING": "NO"}

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase


class Overlap(BaseMetric):
    def __init__(self, threshold=0.5):
        self.threshold = threshold
        self.evaluation_model = None
        self.async_mode = False
        self.include_reason = True
        self.strict_mode = False

    def measure(self, case, *args, **kwargs):
        if case.actual_output == "crash":
            raise ValueError("cannot be scored")
        wanted, given = set(case.expected_output.split()), set(case.actual_output.split())
        self.score = len(wanted & given) / len(wanted)
        self.reason = f"{len(wanted & given)} of {len(wanted)} words"
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return bool(self.success)

    @property
    def __name__(self):
        return "Word Overlap"


class Short(Overlap):
    def measure(self, case, *args, **kwargs):
        self.score = float(len(case.actual_output) < 12)
        self.success = bool(self.score)
        self.reason = "length"
        return self.score

    @property
    def __name__(self):
        return "Short"


CASES = [
    LLMTestCase(
        name="capital",
        input="Capital of France?",
        actual_output="It is Paris",
        expected_output="It is Paris",
        retrieval_context=["Paris is the capital."],
    ),
    LLMTestCase(input="2 + 2?", actual_output="5 perhaps, who can say", expected_output="4 of course"),
    LLMTestCase(input="Say nothing", actual_output="crash", expected_output="ok"),
    LLMTestCase(input="3 + 3?", actual_output="6 or 7", expected_output="6 is right"),
]
evaluate(
    CASES,
    metrics=[Overlap(0.3), Short()],
    hyperparameters={"model": "my-model", "prompt": "v1"},
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(print_results=False, show_indicator=False),
    error_config=ErrorConfig(ignore_errors=True),
)
