"""What a model scores on rows it never saw: the loss of both kinds, and the corrections it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright import metrics
from callwright.dialects.offer import Offer
from callwright.dialects.program import calls_in, read_round
from callwright.errors import MissingExtra
from callwright.training import generation
from callwright.training.toolmvr_data import Row
from callwright.training.toolmvr_mask import IGNORED, Tokens
from callwright.types import ToolCall, canonical

try:
    import torch
except ImportError:
    raise MissingExtra("scoring a language model", "train") from None


@dataclass(frozen=True, slots=True)
class Corrected:
    """One greedy reply after a wrong action. ``form``: it is a round with a call; ``tool``: it calls what gold calls;
    ``exact``: with gold's arguments; ``again``: it is the wrong call once more."""

    id: str
    error: str
    text: str
    form: bool
    tool: bool
    exact: bool
    again: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """Mean loss a learned token on V and on R rows, and the corrections of the R rows."""

    verified: float
    reflections: float
    corrected: tuple[Corrected, ...]


def loss(model: Any, rows: Sequence[Tokens]) -> float:
    """The mean over the learned tokens of all rows; 0 where there are none."""
    model.eval()
    total, count = 0.0, 0
    for row in rows:
        target = torch.tensor(row.labels[1:])
        places = (target != IGNORED).nonzero().squeeze(-1)
        with torch.no_grad():
            made = model(torch.tensor([row.ids], device=model.device), logits_to_keep=places.to(model.device))
        wanted = target[places].to(made.logits.device)
        total += torch.nn.functional.cross_entropy(made.logits[0].float(), wanted, reduction="sum").item()
        count += len(places)
    return total / count if count else 0.0


def corrections(model: Any, tokenizer: Any, rows: Sequence[Row], longest: int) -> tuple[Corrected, ...]:
    """Greedy replies to R rows, each given all but its last message."""
    chats = [[{"role": m["role"], "content": m["content"]} for m in row.messages[:-1]] for row in rows]
    texts = generation.replies(model, tokenizer, chats, longest, size=4)
    return tuple(corrected(row, text) for row, (text,) in zip(rows, texts, strict=True))


def corrected(row: Row, text: str) -> Corrected:
    """One reply against the row's gold."""
    found = _calls(text)
    right = [_key(call) for call in row.right]
    wrong = [_key(call) for call in _calls(row.messages[-3]["content"])] if len(row.messages) > 3 else []
    keys = [_key(call) for call in found]
    return Corrected(
        row.id,
        row.error,
        text,
        bool(found),
        [c.tool for c in found] == [c.tool for c in row.right] and bool(found),
        keys == right and bool(found),
        keys == wrong and bool(found),
    )


def _calls(text: str) -> list[ToolCall]:
    code = read_round(text).code
    found = calls_in(code, Offer((), unknown=True)) if code is not None else []
    return [ToolCall("", call.tool, call.arguments) for call in found]


def _key(call: ToolCall) -> str:
    return canonical([call.tool, call.arguments])


def table(found: Mapping[str, Measured]) -> str:
    """Scores by model as Markdown."""
    head = ["model", "loss V", "loss R", "reflections", "a call", "right API", "exact", "the same mistake"]
    lines = [f"| {' | '.join(head)} |", "|---" + "|---:" * (len(head) - 1) + "|"]
    for name, one in found.items():
        some = one.corrected
        shares = [
            sum(getattr(c, what) for c in some) / max(1, len(some)) for what in ("form", "tool", "exact", "again")
        ]
        cells = [f"{one.verified:.3f}", f"{one.reflections:.3f}", str(len(some)), *(f"{s:.1%}" for s in shares)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def against(found: Mapping[str, Measured], name: str) -> str:
    """By how much ``name`` corrects more than each other one on the same reflections, with 95 % intervals."""
    lines = [f"| {name} less | exact | 95 % | right API | 95 % |", "|---|---:|---|---:|---|"]
    for other, measured in found.items():
        if other == name or not measured.corrected:
            continue
        cells = []
        for what in ("exact", "tool"):
            mine = [float(getattr(c, what)) for c in found[name].corrected]
            gain = metrics.paired_bootstrap(mine, [float(getattr(c, what)) for c in measured.corrected])
            cells += [f"{gain.value:+.3f}", f"{gain.low:+.3f} to {gain.high:+.3f}"]
        lines.append(f"| {other} | {' | '.join(cells)} |")
    return "\n".join(lines)
