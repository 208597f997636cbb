from latticeflow.core.dtypes import RawSample, SampleScore, SolverOutput

LIMIT = << config.limit >>


def compute_scores(sample: RawSample, solver_output: SolverOutput) -> dict:
    text = solver_output.output.choices[0].message.content
    print("looked at", sample["country"])
    return {"scores": {"short": float(len(text) <= LIMIT)}, "metadata": {"length": len(text)}}
