"""Deeds that an answer tells of and that no call did."""

from __future__ import annotations

from callwright.grounding import (
    DEED,
    Deeds,
    LiveAnswer,
    Words,
    WrittenAnswer,
    check_statement,
    facts_of,
    write_answer,
)
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, WRITE, Reply, Tool, ToolResult, to_canonical_json

LIST = Tool("list_reminders", "Lists reminders.", effects=READ)
ADD = Tool("add_reminder", "Adds a reminder.", effects=WRITE)
DELETE = Tool("delete_reminder", "Deletes a reminder.", effects=WRITE)
TOOLS = (LIST, ADD, DELETE)
ADDED = ToolResult("r1", "add_reminder", {"text": "Call the dentist"}, {"reminder_id": "R-5"})
QUERY = "Delete the reminder about the plumber and add one: 'Call the dentist'."
BOTH = "The reminder about the plumber was deleted. The reminder R-5 was added."


def choose(letter: str) -> Reply:
    return Reply(letter, first_token={letter: 0.97})


def write(
    deeds: Deeds | None, text: str, *letters: Reply, query: str = QUERY
) -> tuple[WrittenAnswer, list[ChatRequest]]:
    dialogue = write_answer(
        query, (ADDED,), mode="schema", words=Words("English", has_written=True, deeds=deeds)
    )
    asked, replies = [], [Reply(to_canonical_json({"final_answer": text})), *letters]
    try:
        request = next(dialogue)
        while True:
            asked.append(request)
            request = dialogue.send(replies.pop(0))
    except StopIteration as done:
        assert not replies
        return done.value, asked


def test_a_sentence_on_what_no_call_did_says_so_instead() -> None:
    deeds = Deeds.build(TOOLS, {"add_reminder"}, ["r1"])
    written, asked = write(deeds, BOTH, choose("C"))
    assert "deleted" not in written.answer.text
    assert "This could not be done: delete_reminder" in written.answer.text
    assert "The reminder R-5 was added." in written.answer.text, "it rests on a result"
    assert written.undone == ("delete_reminder",)
    question = asked[-1]
    assert (question.purpose, question.max_tokens, question.top_logprobs) == (DEED, 1, 20)
    told = question.messages[-1].content
    assert "Sentence: The reminder about the plumber was deleted.\n" in told
    assert "C) delete_reminder: Deletes a reminder.\nD) none of them" in told


def test_what_the_user_is_told_is_in_the_users_language() -> None:
    deeds = Deeds.build(TOOLS, {"add_reminder"})
    query = "Lösche die Erinnerung an den Klempner und lege eine neue an."
    written, _ = write(deeds, "Die alte wurde gelöscht.", choose("C"), query=query)
    assert "Das konnte nicht ausgeführt werden: delete_reminder" in written.answer.text


def test_a_sentence_on_another_tool_or_on_none_stays() -> None:
    deeds = Deeds.build(TOOLS, {"add_reminder"})
    text = "The reminder was added."
    for reply in (choose("B"), choose("D"), choose("A"), Reply("C")):
        written, _ = write(deeds, text, reply)
        assert (written.answer.text, written.undone) == (text, ())


def test_tools_that_only_read_and_those_that_were_called_claim_nothing() -> None:
    assert Deeds.build(TOOLS, {"add_reminder", "delete_reminder"}) is None
    assert Deeds.build((LIST,), ()) is None
    written, asked = write(None, BOTH)
    assert (written.answer.text, len(asked)) == (BOTH, 1)


def test_a_doubt_that_is_not_clear_changes_nothing() -> None:
    deeds = Deeds.build(TOOLS, {"add_reminder"})
    unsure = Reply("C", first_token={"B": 0.4, "C": 0.55})
    assert write(deeds, "It was done.", unsure)[0].answer.text == "It was done."


def test_of_many_tools_those_that_were_called_are_shown() -> None:
    many = tuple(Tool(f"do_{n}", "Does it.", effects=WRITE) for n in range(30))
    deeds = Deeds.build(many, {"do_29"})
    assert deeds is not None
    assert len(deeds.tools) == 19
    assert many[29] in deeds.tools


def test_a_streamed_answer_waits_for_what_is_in_question() -> None:
    deeds = Deeds.build(TOOLS, {"add_reminder"}, ["r1"])
    live = LiveAnswer(QUERY, (ADDED,), deeds=deeds)
    whole = to_canonical_json({"final_answer": "The reminder R-5 was added. Another was deleted."})
    assert live.read(whole) == "The reminder R-5 was added."
    assert LiveAnswer(QUERY, (ADDED,)).read(whole).endswith("Another was deleted.")


def test_a_state_that_a_lookup_says_is_no_claim_and_a_said_name_alone_supports_none() -> None:
    flight = ToolResult(
        "r2", "get_flight", {"code": "LH 400"}, {"state": "cancelled", "to": "Rome"}
    )
    mailed = ToolResult("r1", "send_mail", {"to": "Ann"}, {"mail_id": "M-1"})
    get, mail = Tool("get_flight", "", effects=READ), Tool("send_mail", "", effects=WRITE)
    cancel = Tool("cancel_flight", "Cancels a flight.", effects=WRITE)
    deeds = Deeds.build((get, mail, cancel), {"get_flight", "send_mail"}, ["r1"])
    assert deeds is not None
    query = "Mail Ann how flight LH 400 to Rome is."
    facts = facts_of(query, (mailed, flight))
    assert not deeds.is_in_question(check_statement("It is cancelled.", facts), query)
    assert deeds.is_in_question(
        check_statement("Der Flug nach Rome wurde storniert.", facts), query
    )
