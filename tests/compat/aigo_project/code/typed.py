from latticeflow.assessment.dtypes import RawSample, SampleScore, SolverOutput


def compute_scores(sample: RawSample, solver_output: SolverOutput) -> SampleScore:
    text = solver_output.output.choices[0].message.content
    return SampleScore(scores={"polite": float(text.startswith("Aye"))}, metadata={"length": len(text)})
