from latticeflow.core.dtypes import ChatCompletionChoice, ChatCompletionModelOutput, ChatCompletionOutputMessage


def run_inference(body, environment, sample):
    reply = f"{environment['GREETING']}, {sample['answer']}"
    message = ChatCompletionOutputMessage(role="assistant", content=reply)
    return ChatCompletionModelOutput(choices=[ChatCompletionChoice(message=message)])
