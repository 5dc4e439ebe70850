from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.serving.health import FIRST_REST, LONGEST_ASKED, LONGEST_REST, Health

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["succeed", "fail", "limit"]),
        st.floats(0, 200),
        st.none() | st.floats(0, 200_000),
    ),
    max_size=30,
)


@given(EVENTS)
def test_a_rest_that_was_asked_for_is_never_cut_short(
    events: list[tuple[str, float, float]],
) -> None:
    health, now, promised = Health(), 0.0, 0.0
    for kind, passed, asked in events:
        now += passed
        if kind == "succeed":
            health.succeed(now)
        elif kind == "fail":
            health.fail(now, "HTTP 502", asked)
        else:
            health.limit(now, "HTTP 429", asked)
            usual = FIRST_REST if asked is None else min(asked, LONGEST_ASKED)
            promised = max(promised, now + usual)
        if health.state == "limited":
            assert health.until >= promised or promised <= now
        assert health.seconds_of_rest(now) >= 0
    told = health.to_dict(now)
    assert told["asked"] == len(events)
    assert told["failed"] == sum(kind == "fail" for kind, *_ in events)


def test_failures_in_a_row_double_the_rest_to_a_limit_and_an_answer_ends_it() -> None:
    health, rests = Health(), []
    for _ in range(8):
        now = health.until
        health.fail(now, "HTTP 500")
        rests.append(health.seconds_of_rest(now))
    assert rests == [1, 2, 4, 8, 16, 32, LONGEST_REST, LONGEST_REST]
    health.succeed(health.until)
    assert (health.state, health.seconds_of_rest(0.0)) == ("answers", 0.0)
    health.fail(0.0, "HTTP 500")
    assert health.seconds_of_rest(0.0) == FIRST_REST


def test_an_answer_to_an_older_request_ends_no_rest() -> None:
    health = Health()
    health.limit(10.0, "HTTP 429", 30.0)
    health.succeed(11.0)
    assert (health.state, health.seconds_of_rest(11.0)) == ("limited", 29.0)
    health.succeed(40.0)
    assert health.state == "answers"
