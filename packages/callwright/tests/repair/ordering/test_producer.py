import pytest

from callwright.nouns.types import READ, Effects, JsonObject, Tool, ToolCall
from callwright.repair.ordering.sequence import order
from callwright.repair.provenance.sources import ProvenanceIndex

TEXT: JsonObject = {"type": "string"}


def tool(name: str, inputs: str, output: str, effects: Effects = READ) -> Tool:
    keys = inputs.split()
    schema: JsonObject = {
        "type": "object",
        "properties": dict.fromkeys(keys, TEXT),
        "required": keys,
    }
    return Tool(name, "", schema, {"type": "object", "properties": {output: TEXT}}, effects)


TOKEN = tool("get_user_token", "username", "token")
PASSWORD = tool("modify_password", "token new_password", "status", Effects())
QUERY = "I am 'user1'; set my password to 'n3w'."


@pytest.mark.parametrize(
    ("text", "label"), [("$var7.token$", "var7"), ("{step.token}", "step"), ("$var7$", "var7")]
)
def test_a_producer_is_added_under_the_label_that_was_used(text: str, label: str) -> None:
    calls = [ToolCall("step2", "get_profile", {"token": text})]
    tools = [tool("get_profile", "token", "profile"), tool("get_user_token", "query", "token")]
    done = order(calls, tools, query="I am 'user1'")
    assert [(c.id, c.tool) for c in done.calls] == [
        (label, "get_user_token"),
        ("step2", "get_profile"),
    ]
    assert done.problems == ()


def test_an_invented_identifier_waits_only_if_all_that_was_seen_is_known() -> None:
    key = tool("get_report", "report_id", "report")
    find = tool("search_reports", "query", "report_id")
    calls = [
        ToolCall("call_1", "search_reports", {"query": "sales"}),
        ToolCall("call_2", "get_report", {"report_id": "R-12345"}),
    ]
    query = "Show me the sales report"
    assert order(calls, [key, find], query=query).calls == tuple(calls)
    done = order(calls, [key, find], query=query, seen=ProvenanceIndex(query))
    assert [c.tool for c in done.calls] == ["search_reports"]
    known = order(
        calls, [key, find], query=query, seen=ProvenanceIndex(query, ["the last one was R-12345"])
    )
    assert known.calls == tuple(calls)


def test_a_producer_of_unknown_effects_is_not_called_unasked() -> None:
    unsure = Tool("get_user_token", "", TOKEN.input_schema, TOKEN.output_schema)
    calls = [ToolCall("call_1", "modify_password", {"token": "<token>", "new_password": "n3w"})]
    done = order(calls, [unsure, PASSWORD], query=QUERY)
    assert done.calls == tuple(calls)
    assert "may change something" in done.suggestions[0]


def test_a_producer_whose_own_arguments_are_unknown_is_named() -> None:
    calls = [ToolCall("var2", "modify_password", {"token": "$var1.token$", "new_password": "n3w"})]
    done = order(calls, [TOKEN, PASSWORD], query="Change it.")
    assert done.calls == tuple(calls)
    assert (
        "'get_user_token' would provide it, but its 'username' is not known"
        in done.problems[0].message
    )


def test_a_call_that_is_there_already_is_not_made_twice() -> None:
    find = tool("search_reports", "query", "report_id")
    use = tool("get_report", "report_id", "report")
    calls = [
        ToolCall("var2", "search_reports", {"query": "sales"}),
        ToolCall("var3", "get_report", {"report_id": "$var1.report_id$"}),
    ]
    done = order(calls, [find, use], query="the 'sales' report")
    assert len(done.calls) == 2


SILENT = Tool("GetUserToken", "", tool("", "username password", "x").input_schema, None, READ)
ASKED = "My username is ann and password is s3cret."


@pytest.mark.parametrize(
    "token", ["s3cret", {"type": "string", "description": "The token."}, "<token>"]
)
def test_a_value_that_must_be_fetched_is_fetched_first(token: object) -> None:
    """The password where the token belongs, the parameter's own schema, a placeholder."""
    calls = [ToolCall("call_1", "modify_password", {"token": token, "new_password": "n3w"})]
    done = order(calls, [SILENT, PASSWORD], query=f"{ASKED} Make it 'n3w'.")
    assert [(c.tool, c.arguments) for c in done.calls] == [
        ("GetUserToken", {"username": "ann", "password": "s3cret"})
    ]
    assert [e.rule for e in done.edits] == ["wait_for_result", "producer_added"]


def test_arguments_that_are_known_to_be_made_up_are_fetched_too() -> None:
    calls = [ToolCall("call_1", "modify_password", {"token": "ann_s3cret", "new_password": "n3w"})]
    assert order(calls, [SILENT, PASSWORD], query=ASKED).calls == tuple(calls)
    done = order(calls, [SILENT, PASSWORD], query=ASKED, unknown=[(0, "token")])
    assert [c.tool for c in done.calls] == ["GetUserToken"]


def test_a_token_that_was_said_stays_and_nothing_is_fetched_by_a_tool_that_may_write() -> None:
    calls = [ToolCall("call_1", "modify_password", {"token": "T-77", "new_password": "n3w"})]
    assert order(calls, [SILENT, PASSWORD], query=f"{ASKED} The token is T-77.").calls == tuple(
        calls
    )
    mixed = [ToolCall("call_1", "modify_password", {"token": "s3cret", "new_password": "n3w"})]
    unsure = Tool(SILENT.name, "", SILENT.input_schema)
    assert order(mixed, [unsure, PASSWORD], query=ASKED).calls == tuple(mixed)
