"""Names the weights that a model answers with, so that what was measured of them is not believed of
others.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import unquote, urlsplit

_DIGITS = 16  # of a digest: enough to tell files apart


def identify_model(spec: str) -> str:
    """Return a name for what a user wrote as a model (:func:`callwright.models.open_model`).

    An endpoint's model is named as its server does, or by the host where none is named: other weights
    under an old name are not noticed. What is no address is its own name. A file of this machine is
    named by its content, after ``+`` its adapter. Raises OSError where a file cannot be read.
    """
    kind, _, rest = (spec or "local").partition(":")
    if kind == "local":
        return _identify_local(rest)
    address, _, model = spec.partition("#")
    return rest if kind == "openai" else unquote(model) or urlsplit(address).netloc or spec


def _identify_local(name: str) -> str:
    from callwright.models.local import DEFAULT

    is_file = Path(name).expanduser().is_file()
    base, _, adapter = (name, "", "") if is_file else name.partition("+")
    told = _identify_file(base or DEFAULT)
    return f"{told}+{_identify_file(adapter)}" if adapter else told


def _identify_file(name: str) -> str:
    path = Path(name).expanduser()
    if not path.is_file():
        return name
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{path.stem}@{digest[:_DIGITS]}"
