"""The system prompt of a loop that tells its tools as text: what its author has the model do.

smolagents sets the author's instructions between a list of the tools and its own rules, behind
examples with tools, results and dates that exist nowhere (``prompts/toolcalling_agent.yaml``, 1.26;
``tools.py``: ``to_tool_calling_prompt``). Read as instructions, what the examples hold would be a
source for any value, and "always provide a tool call" would hold of an answer.
"""

from __future__ import annotations

import re

_BEGIN = "You are an expert assistant who can solve any task using tool calls."
_TOOLS = (
    "Above example were using notional tools that might not exist for you. You only have access to"
    " these tools:"
)
_RULES = "Here are the rules you should always follow to solve your task:"
_END_OF_TOOL = re.compile(r"^ {4}Returns an output of type: .*$", re.MULTILINE)


def read_told_prompt(content: str) -> str:
    """The author's instructions in such a prompt, "" where there are none; a prompt of any other
    shape as it is.
    """
    _, found, rest = content.partition(_TOOLS)
    told, ruled, _ = rest.partition(_RULES)
    ends = [match.end() for match in _END_OF_TOOL.finditer(told)]
    if not (content.startswith(_BEGIN) and found and ruled and ends):
        return content
    return told[ends[-1] :].strip()
