"""A credential that does not show itself."""

from __future__ import annotations

from callwright.nouns.redaction import redact_secrets


class Secret:
    """A text that prints as ``[secret]``. :meth:`reveal` gives it to whoever must send it.

    Put the revealed text into ``Trace.secrets`` and it is removed from every event as well.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def hide(self, text: str) -> str:
        """``text`` with every occurrence of the secret replaced, however it is spelled there."""
        plain = (
            text.replace(self._text, "[secret]") if self._text else text
        )  # also where it is very short
        return str(redact_secrets(plain, (self._text,)))

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret('[secret]')"

    __str__ = __repr__
