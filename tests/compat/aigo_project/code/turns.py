def compute_scores(sample, solver_output):
    trace = solver_output.trace
    assert [message.role for message in trace.preamble] == ["system"]
    return {"turns": len(trace.turns), "items": len(trace.conversation_items)}
