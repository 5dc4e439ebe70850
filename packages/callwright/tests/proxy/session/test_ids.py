from __future__ import annotations

import re

from callwright.proxy.session.ids import compute_seed, has_question_id, make_call_id


def test_ids_are_stable_and_differ_by_request_and_place() -> None:
    one, two = compute_seed(b"a"), compute_seed(b"b")
    assert make_call_id(one, 0, asked=False) == make_call_id(one, 0, asked=False)
    made = {make_call_id(s, n, asked=False) for s in (one, two) for n in range(100)}
    assert len(made) == 200


def test_ids_are_nine_letters_and_digits_as_mistral_wants() -> None:
    assert all(
        re.fullmatch(r"[a-z0-9]{9}", make_call_id(compute_seed(b"x"), n, asked=bool(n % 2)))
        for n in range(50)
    )


def test_an_id_says_whether_its_call_cost_a_question() -> None:
    assert has_question_id([make_call_id(compute_seed(b"x"), 0, asked=True)])
    assert not has_question_id([make_call_id(compute_seed(b"x"), 0, asked=False), "call_abc", ""])
