"""Questions to the upstream beyond the client's own: bodies out, calls in."""

from __future__ import annotations

from callwright import prompts
from callwright.models.chat import Gathered, messages_out
from callwright.models.grammar import build_grammar, reduce_schema
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Json, JsonObject, Reply, ToolCall
from callwright.prompts.one_letter import MOST_SHOWN
from callwright.proxy.session.answers.thought_calls import find_written_calls
from callwright.proxy.session.context import Context
from callwright.proxy.session.media import add_media, list_newest_media

_STREAMED = ("stream", "stream_options")
_LIMITS = ("max_tokens", "max_completion_tokens")
_CALLS = ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call")


def build_question_body(request: ChatRequest, context: Context) -> JsonObject:
    """A question of our own to the model of the request: its messages replaced, but for what the
    user's last one shows; its sampling kept.
    """
    body = copy_settings(context)
    media = list_newest_media(context.body["messages"])
    body["messages"] = add_media(messages_out(request.messages), media)
    limit_reply(body, request.max_tokens)
    if request.schema is not None and context.schema:
        body["response_format"] = build_response_format(request.schema)
    return body


def build_letter_body(request: ChatRequest, context: Context) -> JsonObject:
    """A question that stands alone and is answered with one letter, with its probabilities."""
    body = copy_settings(context)
    body["messages"] = messages_out(request.messages)
    return ask_for_letter(body)


def ask_for_letter(body: JsonObject) -> JsonObject:
    """Let the reply be one token, and state how likely the likeliest are. The body itself is
    changed and returned.
    """
    body |= {"temperature": 0, "logprobs": True, "top_logprobs": MOST_SHOWN}
    return limit_reply(body, 1)


def copy_settings(context: Context) -> JsonObject:
    """The request without its tools, its stream and the form that it asks for: a question of our
    own has others.
    """
    left_out = (*_STREAMED, *_CALLS, "response_format", "stop")
    return {k: v for k, v in context.body.items() if k not in left_out}


def limit_reply(body: JsonObject, tokens: int) -> JsonObject:
    """Let the reply have at most so many tokens, or fewer where the client allows no more: a small
    model that repeats itself goes on to the end of its context. The body itself is changed and
    returned.
    """
    key = next((key for key in _LIMITS if key in body), _LIMITS[0])
    given = body.get(key)
    body[key] = min(tokens, given) if isinstance(given, int) and given > 0 else tokens
    return body


def hold_to_schema(body: JsonObject, schema: Json, context: Context, tokens: int = 0) -> JsonObject:
    """The body of a question whose reply is held to a schema, and is the likeliest one unless the
    client says otherwise: it is a reading, not a piece of prose. ``tokens``: of the reply, by
    default what the model's profile allows.
    """
    body.setdefault("temperature", 0)
    limit_reply(body, tokens or context.settings.profile.output_tokens)
    if context.local:
        return {**body, "grammar": build_grammar(schema)}
    return {**body, "response_format": build_response_format(schema)}


def build_response_format(schema: Json) -> JsonObject:
    """``response_format`` for one schema, reduced to what decoders follow."""
    named = {"name": "calls", "schema": reduce_schema(schema), "strict": False}
    return {"type": "json_schema", "json_schema": named}


def build_followup(why: str, text: str, context: Context) -> JsonObject:
    """The request once more, with the answer that will not do and the reason."""
    body = {k: v for k, v in context.body.items() if k not in _STREAMED}
    said = messages_out(prompts.render("again", problem=why))
    answer = [{"role": "assistant", "content": text}] if text.strip() else []
    body["messages"] = [*body["messages"], *answer, *said]
    return body


def parse_completion(document: Json) -> Reply:
    """A whole chat completion as a reply; an empty one where it is none."""
    gathered = Gathered()
    if isinstance(document, dict):
        gathered.feed(document)
    gathered.close()
    return gathered.reply(prompt="")


def read_calls(reply: Reply, context: Context) -> tuple[ToolCall, ...]:
    """The calls of a reply, native or in its text; none that was cut off."""
    if reply.tool_calls:
        return reply.tool_calls
    found = (piece.call for piece in find_written_calls(reply.text, context))
    return tuple(call for call in found if call.tool in context.toolset.names)
