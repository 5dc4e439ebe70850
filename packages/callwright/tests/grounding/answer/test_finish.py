from collections.abc import Generator, Sequence

import pytest

from callwright.grounding import (
    UNCONFIRMED,
    Words,
    WrittenAnswer,
    build_abstention,
    finish,
    finish_without_repair,
    write_answer,
)
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.types import Answer, Reply, Skip, ToolCall, ToolResult, to_canonical_json

PARIS = ToolResult(
    "r1",
    "city_info",
    {"city": "Paris"},
    {"name": "Paris", "population": 2102650, "area_km2": 105.4},
)
LONDON = ToolResult(
    "r2",
    "city_info",
    {"city": "London"},
    {"name": "London", "population": 8866180, "area_km2": 1572.0},
)
BROKEN = ToolResult(
    "r3", "weather", {"city": "Paris"}, None, Failure("timeout", "no reply within 30 s")
)
QUERY = "How many people live in Paris and in London, and what is the weather in Paris?"


def drive(
    dialogue: Generator[ChatRequest, Reply, Answer], replies: Sequence[str | Reply]
) -> tuple[Answer, list[ChatRequest]]:
    """Play the model's part; returns the answer and every question that was put."""
    asked: list[ChatRequest] = []
    left = list(replies)
    try:
        request = next(dialogue)
        while True:
            asked.append(request)
            reply = left.pop(0)
            request = dialogue.send(reply if isinstance(reply, Reply) else Reply(reply))
    except StopIteration as done:
        assert not left, "the answer was made without asking for every scripted reply"
        return done.value, asked


def statements(*pairs: tuple[str, list[str]], missing: Sequence[str] = ()) -> str:
    return to_canonical_json(
        {"statements": [{"text": t, "results": r} for t, r in pairs], "missing": list(missing)}
    )


def test_a_true_answer_passes_unchanged_and_cites_where_it_stands() -> None:
    reply = statements(
        ("Paris has 2,102,650 inhabitants.", ["r1"]), ("London has about 8.9 million.", ["r2"])
    )
    answer, _ = drive(finish(QUERY, [PARIS, LONDON], [], mode="schema", char_limit=2000), [reply])
    assert answer.text == "Paris has 2,102,650 inhabitants. London has about 8.9 million."
    assert [s.support for s in answer.statements] == ["supported", "supported"]
    assert answer.statements[0].citations[0].result == "r1"
    assert answer.statements[0].citations[0].quote == '"population":2102650'
    assert answer.edits == ()


def test_a_changed_number_is_repaired_as_an_edit() -> None:
    reply = statements(("Paris has 2,302,650 inhabitants.", ["r1"]))
    answer, asked = drive(finish(QUERY, [PARIS], [], mode="schema", char_limit=2000), [reply])
    assert answer.text == "Paris has 2,102,650 inhabitants."
    assert answer.statements[0].support == "mended"
    assert (answer.edits[0].before, answer.edits[0].after) == ("2,302,650", "2,102,650")
    why = "2,302,650 stands in no result; r1 population is 2,102,650"
    assert answer.corrections == (f"2,302,650 → 2,102,650 ({why})",)
    assert len(asked) == 1


def test_the_right_number_of_the_wrong_city_is_repaired() -> None:
    reply = statements(("Paris has a population of 8,866,180.", ["r2"]))
    answer, _ = drive(finish(QUERY, [PARIS, LONDON], [], mode="schema", char_limit=2000), [reply])
    assert answer.text == "Paris has a population of 2,102,650."


def test_a_claim_that_no_result_holds_is_put_to_the_model_once_and_withdrawn_when_it_gives_up() -> (
    None
):
    claim = ("London is the busiest city of Europe.", ["r2"])
    answer, asked = drive(
        finish(QUERY, [LONDON], mode="schema", char_limit=2000), [statements(claim), "NOT KNOWN"]
    )
    assert answer.text == f"The tools' results do not answer this: {QUERY}"
    assert [s.support for s in answer.statements] == ["limitation"]
    assert answer.missing
    assert (answer.edits[0].before, answer.edits[0].rule) == (claim[0], "answer.withdrawn")
    assert asked[1].messages[: len(asked[0].messages)] == asked[0].messages, (
        "the prompt's prefix is reused"
    )
    both = statements(("London has 8,866,180 inhabitants.", ["r2"]), claim)
    answer, _ = drive(finish(QUERY, [LONDON], mode="schema"), [both, "NOT KNOWN"])
    assert answer.text.startswith("London has 8,866,180 inhabitants.")
    assert (
        answer.statements[1].text == "A sentence of the answer was left out: no result confirms it."
    )


def test_a_claim_that_no_result_holds_is_marked_when_the_model_insists() -> None:
    reply = statements(("London is the busiest city of Europe.", ["r2"]))
    insists = "London is the busiest city of Europe, I think."
    answer, asked = drive(
        finish(QUERY, [LONDON], [], mode="schema", char_limit=2000), [reply, insists]
    )
    assert answer.text == f"London is the busiest city of Europe. {UNCONFIRMED}"
    assert answer.statements[0].support == "unsupported"
    assert asked[1].messages[: len(asked[0].messages)] == asked[0].messages, (
        "the prompt's prefix is reused"
    )
    assert not answer.grounded


def test_a_restated_claim_is_checked_again_before_it_is_taken() -> None:
    reply = statements(("London is the busiest city of Europe.", ["r2"]))
    good, _ = drive(
        finish(QUERY, [LONDON], mode="schema"), [reply, "London has 8,866,180 inhabitants."]
    )
    assert good.text == "London has 8,866,180 inhabitants."
    assert good.statements[0].support == "mended"
    bad, _ = drive(
        finish(QUERY, [LONDON], mode="schema"), [reply, "London has 9,999,999 inhabitants."]
    )
    assert bad.statements[0].support == "unsupported"


def test_the_question_said_again_is_put_anew_and_otherwise_replaced_by_what_the_calls_returned() -> (
    None
):
    question = "How many people live in Paris?"
    echo = statements((question, ["r1"]))
    good, asked = drive(
        finish(question, [PARIS], mode="schema"), [echo, "Paris has 2,102,650 inhabitants."]
    )
    assert good.text == "Paris has 2,102,650 inhabitants."
    assert not any(m.role == "assistant" for m in asked[1].messages), "the echo would be echoed"
    for again in (question, "NOT KNOWN", "Paris has 9 inhabitants."):
        quoted, _ = drive(finish(question, [PARIS, LONDON], mode="schema"), [echo, again])
        assert quoted.text.startswith("The tools returned:\ncity_info(city: Paris): name: Paris")
        assert "2102650" in quoted.text
        assert "London" not in quoted.text, "only the cited result is quoted"
        assert quoted.statements[0].support == "limitation"
        assert quoted.edits[0].rule == "answer.withdrawn"
    unasked, _ = drive(finish(question, [PARIS], mode="schema", repair_questions=0), [echo])
    assert unasked.edits[0].rule == "answer.quoted"


def test_a_call_is_no_statement_and_the_question_is_put_anew() -> None:
    for call in ('city_info(city:"Paris")', 'city_info("city":"Paris").'):
        said = statements((call, ["r1"]))
        good, asked = drive(
            finish(QUERY, [PARIS], mode="schema"), [said, "Paris has 2,102,650 inhabitants."]
        )
        assert good.text == "Paris has 2,102,650 inhabitants."
        assert good.statements[0].problems == (
            "this is a call, and says nothing of what came of it",
        )
        assert len(asked) == 2
    other, asked = drive(
        finish(QUERY, [PARIS], mode="schema"), [statements(("Paris (2,102,650)", ["r1"]))]
    )
    assert (other.text, len(asked)) == ("Paris (2,102,650)", 1)


def test_no_question_is_asked_where_every_call_failed() -> None:
    answer, asked = drive(
        finish(QUERY, [BROKEN], [Skip("city_info", "not in this layer")], mode="schema"), []
    )
    assert asked == []
    assert "weather" in answer.text
    assert answer.missing[0] == "weather(city: Paris) failed: no reply within 30 s"
    assert answer.grounded


def test_a_failure_beside_a_success_is_said_to_be_missing() -> None:
    reply = statements(("Paris has 2,102,650 inhabitants.", ["r1"]))
    answer, _ = drive(finish(QUERY, [PARIS, BROKEN], mode="schema"), [reply])
    assert "no reply within 30 s" in answer.text
    assert len(answer.missing) == 1


def test_the_papers_two_lines_are_read() -> None:
    given = {
        "return_type": "give_answer",
        "final_answer": "Paris has 2.1 million people. London has 8.9 million.",
    }
    reply = f"Action: Finish\nAction Input: {to_canonical_json(given)}"
    answer, asked = drive(finish(QUERY, [PARIS, LONDON], mode="text"), [reply])
    assert answer.text == "Paris has 2.1 million people. London has 8.9 million."
    assert [c.result for s in answer.statements for c in s.citations] == ["r1", "r2"]
    assert asked[0].schema is None


def test_plain_prose_and_its_own_citation_tags_are_read() -> None:
    answer, _ = drive(
        finish(QUERY, [PARIS, LONDON], mode="text"),
        ["Paris: 2,102,650 people [r1]. London: 8,866,180 (r2)."],
    )
    assert answer.text == "Paris: 2,102,650 people. London: 8,866,180."
    assert [s.support for s in answer.statements] == ["supported", "supported"]


def test_turns_the_model_plays_itself_are_dropped() -> None:
    reply = "Paris has 2,102,650 inhabitants.\nHuman: and Rome?\nRome has 3 million."
    answer, _ = drive(finish(QUERY, [PARIS], mode="text"), [reply])
    assert answer.text == "Paris has 2,102,650 inhabitants."


def test_a_native_finish_call_is_read() -> None:
    call = ToolCall(
        "c1",
        "Finish",
        {
            "statements": [{"text": "Paris has 2,102,650 inhabitants.", "results": ["r1"]}],
            "missing": [],
        },
    )
    answer, asked = drive(finish(QUERY, [PARIS], mode="native"), [Reply("", (call,))])
    assert asked[0].tools[0].name == "Finish"
    assert answer.text == "Paris has 2,102,650 inhabitants."


def test_a_reply_cut_in_the_middle_keeps_its_whole_statements_and_says_so() -> None:
    reply = (
        '{"statements": [{"text": "Paris has 2,102,650 inhabitants.", "results": ["r1"]}, {"text":'
        ' "London ha'
    )
    answer, _ = drive(
        finish(QUERY, [PARIS, LONDON], mode="schema"), [Reply(reply, finish_reason="length")]
    )
    assert answer.statements[0].text == "Paris has 2,102,650 inhabitants."
    assert any("cut off" in m for m in answer.missing)


NOTHING = ['{"calls": []}', '{"statements": []}', "{}", '{"final', ""]


@pytest.mark.parametrize("reply", NOTHING)
@pytest.mark.parametrize("mode", ["schema", "text", "native"])
def test_a_reply_without_any_statement_is_put_to_the_model_once_more(
    reply: str, mode: ReplyMode
) -> None:
    answer, asked = drive(
        finish(QUERY, [PARIS], mode=mode), [reply, "Paris has 2,102,650 inhabitants."]
    )
    assert answer.text == "Paris has 2,102,650 inhabitants."
    assert answer.statements[0].support == "supported"
    assert [r.purpose for r in asked] == ["answer", "answer.restate"]


@pytest.mark.parametrize("reply", NOTHING)
def test_where_no_second_question_is_allowed_the_answer_says_what_was_found(reply: str) -> None:
    answer, _ = drive(finish(QUERY, [PARIS, BROKEN], mode="schema", repair_questions=0), [reply])
    assert answer.text.startswith(
        "I could not answer this from the tools' results: the model gave no answer: weather"
    )
    assert "population: 2102650" in answer.text
    assert answer.grounded
    assert answer.missing[0] == "an answer in words: the model gave no answer"
    assert [
        c.quote in to_canonical_json(PARIS.content) for c in answer.statements[1].citations
    ] == [True]


def test_a_second_reply_without_a_statement_ends_the_questions() -> None:
    for second in ("NOT KNOWN", '{"calls": []}'):
        answer, asked = drive(finish(QUERY, [PARIS], mode="schema"), ['{"calls": []}', second])
        assert len(asked) == 2
        assert "calls" not in answer.text
        assert answer.grounded


def test_a_model_that_gives_up_is_not_pressed() -> None:
    answer, asked = drive(
        finish(QUERY, [PARIS], mode="text"), ['{"return_type": "give_up_and_restart"}']
    )
    assert len(asked) == 1
    assert "the model gave no answer" in answer.text


def test_an_answer_that_says_nothing_was_found_names_a_handful_of_tools_and_not_the_catalogue() -> (
    None
):
    unused = [Skip(f"tool_{n}", "the model saw no use for it here.") for n in range(400)]
    answer = build_abstention((), [*unused, Skip("send_mail", "nobody allowed it", refused=True)])
    assert (
        answer.text
        == "I could not answer this from the tools' results: send_mail was skipped: nobody allowed"
        " it; 400 tools were skipped: the model saw no use for it here (tool_0, tool_1, tool_2"
        " and 397 others)."
    )
    assert len(answer.missing) == 2
    many = build_abstention((), [Skip(f"tool_{n}", f"reason {n}") for n in range(30)])
    assert many.missing[-1] == "and 25 more"
    assert len(many.missing) == 6
    assert "a, b, c, d" not in build_abstention((), [Skip(c, "x") for c in "abcde"]).text
    assert "(a, b, c, d)" in build_abstention((), [Skip(c, "x") for c in "abcd"]).text


def test_a_list_that_a_restated_answer_announces_comes_with_it() -> None:
    question = "Which cities are there?"
    listed = "The cities are:\n\n- Paris: 2,102,650\n- London: 8,866,180"
    good, asked = drive(
        finish(question, [PARIS, LONDON], mode="schema"),
        [statements((question, ["r1", "r2"])), listed],
    )
    assert good.text == "The cities are:\n- Paris: 2,102,650\n- London: 8,866,180"
    assert good.statements[0].support == "mended"
    assert asked[1].stop == (), "a blank line stands before many a list"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "先查巴黎的人口，然后查伦敦的人口，再比较两者。",
            ("查巴黎的人口", "查伦敦的人口", "比较两者", "再比较两者", "先查巴黎的人口"),
        ),
        (
            "Look up Paris, then London.",
            ("Look up Paris", "London", "Look up Paris", "then London"),
        ),
    ],
)
def test_statements_that_together_only_repeat_the_request_are_no_answer(
    question: str, parts: tuple[str, ...]
) -> None:
    said = "Paris has 2,102,650 inhabitants."
    reply = statements(*((part, ["r1"]) for part in parts))
    good, asked = drive(finish(question, [PARIS], mode="schema"), [reply, said])
    assert good.text == said
    assert len(asked) == 2


def test_a_short_answer_out_of_the_request_stays() -> None:
    question = "Is it Paris, or is it London, that has 2,102,650 inhabitants?"
    reply = statements(("Paris", ["r1"]), ("2,102,650 inhabitants", ["r1"]))
    good, asked = drive(finish(question, [PARIS], mode="schema"), [reply])
    assert good.text.startswith("Paris")
    assert len(asked) == 1


def test_a_statement_that_begins_as_a_call_says_nothing_of_what_came_of_it() -> None:
    reply = statements(('city_info("city":"Paris") -> {', ["r1"]))
    said = "Paris has 2,102,650 inhabitants."
    good, _ = drive(finish("How big is Paris?", [PARIS], mode="schema"), [reply, said])
    assert good.text == said


@pytest.mark.parametrize("mode", ["schema", "native", "text"])
def test_the_answer_has_as_many_tokens_as_it_is_given(mode: ReplyMode) -> None:
    usual = next(write_answer(QUERY, [PARIS], mode=mode))
    longer = next(write_answer(QUERY, [PARIS], mode=mode, answer_tokens=1_600))
    alone = next(finish_without_repair(QUERY, [PARIS], mode=mode, answer_tokens=1_600))
    assert (usual.max_tokens, longer.max_tokens, alone.max_tokens) == (400, 1_600, 1_600)


def test_the_result_of_a_sentence_that_was_left_out_is_quoted() -> None:
    reply = '{"final_answer": "Paris has 2,102,650 inhabitants. The code of London is LX-703."}'
    again = '{"final_answer": "London has the code LX-704."}'
    words = Words("English", has_written=False)
    dialogue = write_answer(QUERY, [PARIS, LONDON], mode="schema", words=words)
    answer, _ = drive(yield_answer(dialogue), [reply, again])
    assert answer.text.startswith("Paris has 2,102,650 inhabitants. A sentence")
    assert "city_info(city: London): name: London, population: 8866180" in answer.text
    assert "city_info(city: Paris)" not in answer.text, "another sentence tells it"


def yield_answer(
    dialogue: Generator[ChatRequest, Reply, WrittenAnswer],
) -> Generator[ChatRequest, Reply, Answer]:
    return (yield from dialogue).answer


@pytest.mark.parametrize(
    "text",
    [
        "Die Stromrechnung über 84,20 Euro ist bezahlt, die der Versicherung noch nicht.",
        "Die Stromrechnung (84,20 Euro) ist bezahlt; die Versicherung bleibt offen.",
    ],
)
def test_a_compound_names_the_record_that_it_begins_with(text: str) -> None:
    bills = [{"name": "Strom", "amount": 84.2}, {"name": "Versicherung", "amount": 212.0}]
    results = [ToolResult("r1", "list_bills", {}, bills)]
    query = "Bezahl bitte die Stromrechnung, aber die Versicherung noch nicht."
    steps = write_answer(query, results, words=Words("de", True, None))
    next(steps)
    with pytest.raises(StopIteration) as done:
        steps.send(Reply(text))
    assert done.value.value.answer.text == text
