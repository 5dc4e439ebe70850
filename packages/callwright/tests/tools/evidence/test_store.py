"""What was seen of tools stays, by their digests; it ages, is bounded, holds no secret; processes
share it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.nouns.errors import EvidenceError
from callwright.tools.evidence import EvidenceStore, Observation, Retention, evidence_file
from callwright.tools.evidence.health import HALF_LIFE

NOW = 1_700_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EvidenceStore]:
    with EvidenceStore(tmp_path / "evidence.db", clock=lambda: NOW) as made:
        yield made


def seen(n: int = 0, **more: Any) -> Observation:
    told: dict[str, Any] = {
        "digest": "d1",
        "outcome": "functional_success",
        "arguments": {"n": n},
        "at": NOW - n,
    }
    return Observation("tool", **{**told, **more})


def everything(path: Path) -> bytes:
    return b"".join(p.read_bytes() for p in path.parent.iterdir() if p.is_file())


def test_what_was_recorded_is_there_in_the_next_process(tmp_path: Path) -> None:
    told = Observation(
        "find_city",
        "d1",
        "semantic_mismatch",
        {"city": "Oslo \ud83d", "deep": [{"a": None}]},
        reply="[]",
        kind="empty",
        proof="status 200, nothing in it",
        seconds=0.25,
        simulated=True,
        origin="run",
        at=NOW,
        ref="r/c1/1",
    )
    with EvidenceStore(tmp_path / "e.db", clock=lambda: NOW) as store:
        store.record([told])
    with EvidenceStore(tmp_path / "e.db", clock=lambda: NOW) as store:
        found = store.remembered("d1", told.arguments, NOW - 1)
    assert found == replace(told, arguments={"city": "Oslo ?", "deep": [{"a": None}]})


def test_a_changed_tool_starts_anew(store: EvidenceStore) -> None:
    store.record([seen(outcome="execution_failure")])
    assert store.health("d1").rate.success < 0.5
    assert store.health("d2").rate.success == 0.5
    assert store.remembered("d2", {"n": 0}, 0) is None


def test_a_call_is_remembered_by_its_arguments_whatever_their_order_while_it_is_young(
    store: EvidenceStore,
) -> None:
    store.record([seen(arguments={"a": 1, "b": 2}, at=NOW - 60)])
    assert store.remembered("d1", {"b": 2, "a": 1}, NOW - 61) is not None
    assert store.remembered("d1", {"b": 2, "a": 1}, NOW - 60) is None
    assert store.remembered("d1", {"a": 1, "b": 3}, 0) is None


def test_the_last_real_observation_is_remembered_before_any_simulated_one(
    store: EvidenceStore,
) -> None:
    same: dict[str, Any] = {"arguments": {}}
    store.record([seen(reply="old", at=NOW - 9, **same), seen(reply="new", at=NOW - 5, **same)])
    store.record([seen(reply="made up", at=NOW, simulated=True, **same)])
    found = store.remembered("d1", {}, 0)
    assert found is not None
    assert found.reply == "new"


def test_one_ref_is_counted_once_however_often_it_is_recorded(store: EvidenceStore) -> None:
    for _ in range(3):
        store.record([seen(ref="run/c1/1"), seen(ref="run/c1/2")])
    assert store.health("d1").counts == {"functional_success": 2}


def test_rates_are_those_of_the_health_of_each_tool(store: EvidenceStore) -> None:
    rows = [
        seen(
            i,
            digest=f"d{i % 3}",
            outcome=("functional_success", "execution_failure")[i % 2],
            at=NOW - i * 1e5,
        )
        for i in range(12)
    ]
    store.record(
        [*rows, seen(digest="d8", outcome="parameter_mismatch"), seen(digest="d9", simulated=True)]
    )
    rates = store.rates()
    assert rates.keys() == {"d0", "d1", "d2"}
    for name, rate in rates.items():
        assert rate.success == pytest.approx(store.health(name).rate.success)
        assert rate.weight == pytest.approx(store.health(name).rate.weight)
    assert store.rates(digests=["d1", "d7"]).keys() == {"d1"}


def test_rates_fade_towards_what_is_unknown(store: EvidenceStore) -> None:
    store.record([seen(outcome="execution_failure")] * 4)
    rates = [store.rates(NOW + weeks * HALF_LIFE)["d1"].success for weeks in range(5)]
    assert rates == sorted(rates)
    assert rates[0] < 0.2 < 0.4 < rates[-1] < 0.5


def test_what_is_too_old_goes(store: EvidenceStore) -> None:
    store.record([seen(at=NOW - 91 * 86_400), seen(1)])
    assert store.health("d1").counts == {"functional_success": 1}


def test_of_one_tool_the_last_are_kept(tmp_path: Path) -> None:
    with EvidenceStore(
        tmp_path / "e.db", retention=Retention(per_tool=5), clock=lambda: NOW
    ) as store:
        store.record([seen(n) for n in range(20)])
        store.record([seen(digest="d2")])
        assert store.health("d1").counts == {"functional_success": 5}
        assert store.health("d1").worked[0].arguments == {"n": 0}
        assert store.health("d2").counts == {"functional_success": 1}


def test_the_file_stays_under_its_size_and_the_newest_stay_in_it(tmp_path: Path) -> None:
    path = tmp_path / "e.db"
    with EvidenceStore(path, retention=Retention(megabytes=0.5), clock=lambda: NOW) as store:
        for n in range(60):
            store.record(
                [seen(digest=f"d{n}-{i}", reply="r" * 1000, at=NOW - 60 + n) for i in range(20)]
            )
        assert store.rates().keys() >= {f"d59-{i}" for i in range(20)}
        assert len(store.rates()) < 600
    assert path.stat().st_size < 700_000


def test_secrets_are_nowhere_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "state" / "e.db"
    with EvidenceStore(path, secrets=["s3cr3t-key"], clock=lambda: NOW) as store:
        store.record(
            [
                seen(
                    arguments={
                        "q": "s3cr3t-key",
                        "api_key": "unknown-key-1",
                        "deep": [{"password": 12345678}],
                    },
                    reply='{"echo": "s3cr3t-key", "access_token": "unknown-key-2"}' + "x" * 2000,
                    proof="GET /?token=unknown-key-3 with Bearer unknown-key-4",
                )
            ]
        )
        kept = store.health("d1").worked[0]
    assert kept.arguments == {
        "q": "[secret]",
        "api_key": "[secret]",
        "deep": [{"password": "[secret]"}],
    }
    for secret in (b"s3cr3t", b"unknown-key", b"12345678"):
        assert secret not in everything(path)


def test_a_call_that_held_a_secret_is_not_remembered_with_another(store: EvidenceStore) -> None:
    store.record([seen(arguments={"api_key": "wrong"}, outcome="execution_failure", kind="auth")])
    assert store.remembered("d1", {"api_key": "right"}, 0) is None
    assert store.remembered("d1", {"api_key": "wrong"}, 0) is None


def test_huge_or_odd_values_are_cut_and_lose_nothing_else(store: EvidenceStore) -> None:
    huge = {"text": "t" * 100_000}
    store.record(
        [
            seen(arguments=huge, reply="r" * 100_000, proof="p" * 100_000),
            seen(arguments={"x": float("nan")}),
        ]
    )
    found = store.remembered("d1", huge, 0)
    assert found is not None
    assert (found.arguments, len(found.reply), len(found.proof)) == ({}, 1000, 300)
    assert store.health("d1").counts == {"functional_success": 2}


def test_nothing_of_a_batch_is_kept_where_one_cannot_be(store: EvidenceStore) -> None:
    with pytest.raises(EvidenceError, match="cannot write the evidence file"):
        store.record([seen(), seen(seconds=None)])
    assert store.healths() == []


def test_what_is_no_evidence_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "e.db"
    path.write_bytes(b"some notes of mine" * 100)
    with pytest.raises(EvidenceError, match="is no evidence file, or a damaged one"):
        EvidenceStore(path)
    assert path.read_bytes() == b"some notes of mine" * 100


def test_a_file_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    with EvidenceStore(tmp_path / "e.db") as store:
        store._database.pragma("user_version", 99)
    with pytest.raises(EvidenceError, match="format 99"):
        EvidenceStore(tmp_path / "e.db")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EvidenceError, match=r"cannot open the evidence file .*file/e\.db"):
        EvidenceStore(tmp_path / "file" / "e.db")


_WRITER = """
import sys
from callwright.tools.evidence import EvidenceStore, Observation
with EvidenceStore(sys.argv[1]) as store:
    for n in range(60):
        store.record([Observation("t", "d", "functional_success", {"n": n}, ref=f"{sys.argv[2]}/{n}")])
        print(n, flush=True)
"""


def test_processes_write_one_file_at_the_same_time_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "new" / "e.db"
    command = [sys.executable, "-P", "-c", _WRITER, str(path)]
    writers = [subprocess.Popen([*command, str(i)], stdout=subprocess.DEVNULL) for i in range(3)]
    assert [w.wait(60) for w in writers] == [0, 0, 0]
    with EvidenceStore(path) as store:
        assert store.health("d").counts == {"functional_success": 180}


def test_a_killed_writer_leaves_whole_observations_and_a_usable_file(tmp_path: Path) -> None:
    path = tmp_path / "e.db"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _WRITER, str(path), "0"], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(5)]
        os.kill(writer.pid, signal.SIGKILL)
    assert told[-1] == b"4\n"
    with EvidenceStore(path) as store:
        assert (store.health("d").counts or {})["functional_success"] >= 5
        store.record([Observation("t", "d", "execution_failure")])
        assert store._database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.text(max_size=4),
        st.recursive(st.integers() | st.text() | st.none(), st.lists),
        max_size=4,
    )
)
def test_every_call_is_remembered_or_held_a_secret(
    store: EvidenceStore, arguments: dict[str, Any]
) -> None:
    one = f"d-{os.urandom(6).hex()}"
    store.record([seen(digest=one, arguments=arguments)])
    found = store.remembered(one, arguments, 0)
    assert found is not None or "[secret]" in str(store.health(one).worked[0].arguments)


def test_the_file_lies_in_the_users_folder_for_state(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CALLWRIGHT_EVIDENCE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert evidence_file() == tmp_path / "callwright" / "evidence.db"
    monkeypatch.setenv("CALLWRIGHT_EVIDENCE", "~/e.db")
    assert evidence_file() == Path("~/e.db").expanduser()
