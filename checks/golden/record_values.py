"""Record what today's code makes of fixed inputs.

Usage, from the root of the repository::

    PYTHONPATH=src:. python -P -m golden.record_values [FIXTURE ...]

Recording again replaces a fixture. A difference in ``values/`` is a change of what is stored on
disks or sent to others. It needs a reason, and a migration where files of users hold the old form.

The inputs stand in ``values.py``, ``cases.json`` (calls for gate and rules) and ``literals.json``
(names that no type or registry lists). A new input is added there and recorded.
"""

from __future__ import annotations

import asyncio
import json
import sys

from golden.values import FIXTURES, FOLDER, computed


def main(wanted: list[str]) -> None:
    """Record what is wanted, or everything."""
    FOLDER.mkdir(exist_ok=True)
    for name in wanted or FIXTURES:
        made = asyncio.run(computed(name))
        text = json.dumps(made, indent=1, sort_keys=True) + "\n"
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(text)} characters\n")


if __name__ == "__main__":
    main(sys.argv[1:])
