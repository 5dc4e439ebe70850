"""The rules for one call's arguments, surest first, and when they have something to do."""

from __future__ import annotations

from collections.abc import Callable

from callwright.repair.draft import Change, Draft
from callwright.repair.rule import Rule, When, call_rule
from callwright.repair.rules.arguments.draft_arguments import DraftArguments
from callwright.repair.rules.arguments.key_rules import (
    apply_gate,
    assign_keys,
    convert_arguments,
    unwrap_arguments,
)
from callwright.repair.rules.arguments.placeholder_rules import (
    is_no_value,
    replace_echoes,
    replace_placeholders,
)
from callwright.repair.rules.arguments.source_rules import (
    fill_missing,
    may_lack_source,
    trace_values,
)
from callwright.repair.rules.arguments.spelling_rules import read_numbers, respell_values
from callwright.repair.rules.reply_context import ReplyContext


def _argument_rule(
    id: str, cost: int, work: Callable[[DraftArguments], None], when: When
) -> Rule[ReplyContext]:
    """A rule that works on the arguments of every draft that it looks at."""

    def find(draft: Draft, context: ReplyContext) -> Change | None:
        arguments = DraftArguments(draft, context)
        work(arguments)
        return arguments.build_change()

    return call_rule(id, cost, find, when)


ARGUMENT_RULES: tuple[Rule[ReplyContext], ...] = (
    _argument_rule("unwrap_arguments", 100, unwrap_arguments, "wrong"),
    _argument_rule("echoed_schema", 110, replace_echoes, "open"),
    _argument_rule("written_number", 115, read_numbers, "wrong"),
    _argument_rule("conversion", 120, convert_arguments, "wrong"),
    _argument_rule("placeholder", 130, replace_placeholders, "open"),
    _argument_rule("assign_key", 140, assign_keys, "wrong"),
    _argument_rule("value_spelling", 150, respell_values, "wrong"),
    _argument_rule("stated_value", 160, fill_missing, "open"),
    _argument_rule("identifier", 170, trace_values, "open"),
    _argument_rule("drop_unknown", 180, apply_gate, "wrong"),
)


def is_triggered(draft: Draft, context: ReplyContext) -> bool:
    """Return True if a value of a draft is an echo, a placeholder, or an identifier from nowhere."""
    arguments = DraftArguments(draft, context)
    return any(
        key not in arguments.referring
        and (is_no_value(arguments, key, value) or may_lack_source(arguments, key, value))
        for key, value in arguments.arguments.items()
    )
