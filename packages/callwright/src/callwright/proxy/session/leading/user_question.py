"""A question to the client's user, in the upstream's words, for the values without which a call is
not made (:mod:`callwright.agent.leading.user_question`).
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.agent.leading.user_question import UserQuestion
from callwright.agent.safety.held_call import HeldCall
from callwright.models.chat import messages_out
from callwright.nouns.types import JsonObject
from callwright.proxy.session import followup
from callwright.proxy.session.context import Context


def ask_about(held: Sequence[HeldCall], context: Context) -> UserQuestion:
    """The question about these calls of a request."""
    tools, results = context.toolset.tools, context.state.results
    return UserQuestion.build(held, tools, context.query, results)


def build_body(question: UserQuestion, context: Context) -> JsonObject:
    """The request without tools that asks the upstream for it."""
    made = followup.copy_settings(context)
    asked = messages_out(question.render_messages(context.spoken))
    made["messages"] = [*made["messages"], *asked]
    return followup.hold_to_schema(made, question.schema, context)
