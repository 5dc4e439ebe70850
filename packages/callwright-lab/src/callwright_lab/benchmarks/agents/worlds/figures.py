"""Accounts, exchange rates, units, weather and reports that take a while."""

from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.agents.worlds.failures import Refused, get_entry, take_number

State = dict[str, Any]


def get_balance(state: State, account: str) -> Any:
    """An account's balance."""
    return {"account": account, **get_entry(state["accounts"], account, "account")}


def deposit(state: State, account: str, amount: float) -> Any:
    """An account with more in it."""
    found = get_entry(state["accounts"], account, "account")
    found["balance"] = round(found["balance"] + amount, 2)
    return get_balance(state, account)


def transfer(
    state: State, from_account: str, to_account: str, amount: float, reference: str = ""
) -> Any:
    """Both accounts after a transfer."""
    payer = get_entry(state["accounts"], from_account, "account")
    if payer["balance"] < amount:
        raise Refused(f"{from_account} holds only {payer['balance']} EUR")
    payer["balance"] = round(payer["balance"] - amount, 2)
    state.setdefault("transfers", []).append({"amount": amount, "reference": reference})
    return [get_balance(state, from_account), deposit(state, to_account, amount)]


def convert_currency(state: State, amount: float, from_currency: str, to_currency: str) -> Any:
    """An amount in another currency, to two digits."""
    source = get_entry(state["rates"], from_currency, "rate of")
    target = get_entry(state["rates"], to_currency, "rate of")
    return {"amount": round(amount / source * target, 2), "currency": to_currency}


def convert_unit(state: State, value: float, from_unit: str, to_unit: str) -> Any:
    """A value in another unit of the same kind, to two digits."""
    (kind, source), (other, target) = state["units"][from_unit], state["units"][to_unit]
    if kind != other:
        raise Refused(f"{from_unit} cannot be converted to {to_unit}")
    return {"value": round(value * source / target, 2), "unit": to_unit}


def get_weather(state: State, city: str, date: str) -> Any:
    """Sky and highest temperature of a city on a day."""
    days = get_entry(state["weather"], city.strip().title(), "weather of")
    return {"city": city, "date": date, **get_entry(days, date, f"weather in {city} for")}


def start_report(state: State, kind: str, month: str) -> Any:
    """A job that computes a report."""
    get_entry(state["totals"][kind], month, f"{kind} data of")
    key = f"J-{take_number(state, 'jobs')}"
    state.setdefault("started", {})[key] = {"kind": kind, "month": month, "asked": 0}
    return {"job_id": key, "status": "pending"}


def get_report(state: State, job_id: str) -> Any:
    """A report, or that it is pending still."""
    job = get_entry(state.get("started", {}), job_id, "job")
    job["asked"] += 1
    row = state["totals"][job["kind"]][job["month"]]
    if job["asked"] <= row["pending"]:
        return {"job_id": job_id, "status": "pending"}
    head = {"job_id": job_id, "status": "done", "kind": job["kind"], "month": job["month"]}
    return {**head, "total": row["total"]}


TOOLS = (
    get_balance,
    deposit,
    transfer,
    convert_currency,
    convert_unit,
    get_weather,
    start_report,
    get_report,
)
