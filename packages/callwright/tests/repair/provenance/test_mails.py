from __future__ import annotations

import pytest

from callwright.nouns.types import WRITE, Json, Message, Tool, ToolResult
from callwright.repair.provenance.invention import find_inventions
from callwright.repair.provenance.mails import is_stated_mail, list_mails
from callwright.repair.provenance.sources import ProvenanceIndex

MAIL: Json = {"type": "string", "format": "email"}


@pytest.mark.parametrize(
    ("text", "mails"),
    [
        ("ann@x.example", ["ann@x.example"]),
        ("Ann Lee <ann@x.example>; bob@x.example", ["ann@x.example", "bob@x.example"]),
        ("write to ann@x.example", []),
        ("", []),
    ],
)
def test_the_addresses_of_a_text_of_addresses_are_listed(text: str, mails: list[str]) -> None:
    assert list_mails(text) == mails


@pytest.mark.parametrize(
    "said",
    [
        "Mail ann@corp.example that I am late.",
        "Mail ANN@CORP.example that I am late.",
        "Mail Ann <ann@corp.example>.",
        "Mail ann at corp dot example that I am late.",
        "Mail ann at corp.example that I am late.",
        "Schreib an ann ät corp punkt example, dass ich später komme.",
        "Escribe a ann arroba corp punto example que llego tarde.",
        "给ann艾特corp点example发邮件。",
        "أرسل إلى ann آت corp نقطة example أنني سأتأخر",
        "给ann@corp.example发邮件。",
    ],
)
def test_an_address_counts_as_written_and_as_spelled_out(said: str) -> None:
    assert is_stated_mail("ann@corp.example", ProvenanceIndex(said))


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("You are the assistant of Corp (corp.example).", "Mail Ann that I am late."),
        ("The team: bob@corp.example.", "Mail Ann that I am late."),
        ("The team: joann@corp.example.", "Mail Ann that I am late."),
        ("The team: lee.ann@corp.example.", "Mail Ann that I am late."),
        ("The team: ann@corp.example.org.", "Mail Ann that I am late."),
        ("Be brief.", "Mail Ann of the Corp company, example department, that I am late."),
        ("Be brief.", "Mail Ann, corp.example is down."),
        ("Addresses end in @corp.example.", "Mail Bob that I am late."),
        ("Du hilfst der Firma corp.example.", "Schreib bitte Ann, dass ich später komme."),
        ("Eres el asistente de corp.example.", "Escribe a Ann que llego tarde, por favor."),
        ("你是corp.example的助手。", "请告诉Ann我会迟到。"),
        ("أنت مساعد شركة corp.example.", "اكتب إلى Ann أنني سأتأخر من فضلك"),
    ],
)
def test_pieces_that_stand_apart_make_no_address(system: str, said: str) -> None:
    known = ProvenanceIndex(said, [Message("system", system)])
    assert not is_stated_mail("ann@corp.example", known)
    schema = {"type": "object", "properties": {"to": MAIL}, "required": ["to"]}
    tool = Tool("send", "Sends a mail.", schema, effects=WRITE)
    (made,) = find_inventions({"to": "ann@corp.example"}, tool, known, [said])
    assert made.key == "to"


@pytest.mark.parametrize(
    "system",
    [
        "Colleagues' addresses are firstname.lastname@corp.example.",
        "Adressen haben die Form vorname.nachname@corp.example.",
        "Las direcciones son nombre.apellido@corp.example.",
        "All addresses end in @corp.example.",
    ],
)
def test_a_convention_gives_the_address_of_a_name_that_was_said(system: str) -> None:
    known = ProvenanceIndex("Mail Ann Lee that I am late.", [Message("system", system)])
    assert is_stated_mail("ann.lee@corp.example", known)
    assert not is_stated_mail("bob.lee@corp.example", known)
    assert not is_stated_mail("ann.lee@mycorp.example", known)


def test_an_address_of_a_result_counts() -> None:
    back = ToolResult("r1", "find", {"name": "Ann"}, "name,email\nAnn Lee,ann@corp.example\n")
    assert is_stated_mail("ann@corp.example", ProvenanceIndex("Mail Ann.", results=[back]))
