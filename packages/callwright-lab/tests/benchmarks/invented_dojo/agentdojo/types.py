"""Messages as AgentDojo has them."""


def text_content_block_from_string(text):
    return {"type": "text", "content": text}
