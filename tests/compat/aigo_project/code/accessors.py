from latticeflow.core.dtypes import FunctionCallItem, MessageItem, MessageRole, Trace


def compute_scores(sample, solver_output):
    trace = solver_output.trace
    pairs = trace.function_call_pairs
    for call, output in pairs:
        assert isinstance(call, FunctionCallItem)
        assert trace.get_function_call_arguments(call) == {"hours": 6}
        assert trace.get_function_output_for_call(call.call_id) is output
        assert trace.get_function_output_text(output) == "calm"
    assert all(isinstance(message, MessageItem) for message in trace.user_messages)
    assert trace.user_messages[0].role == MessageRole.USER
    assert "?" in trace.user_messages[0].content
    return {
        "pairs": len(pairs),
        "system": len(trace.system_messages),
        "same": Trace.from_items(trace.items).get_last_user_text() == trace.get_last_user_text(),
    }
