from latticeflow.assessment.dtypes import SolverOutput


def postprocess(sample, solver_output):
    return [(sample, SolverOutput(part)) for part in solver_output.output.split(". ")]
