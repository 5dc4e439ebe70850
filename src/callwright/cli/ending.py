"""How every command ends that cannot go on: a sentence to stderr and an exit code. Loads no library."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from callwright.errors import CallwrightError


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """Our own errors become one message and exit code 1, an interrupt 130, a reader that has gone 0."""
    try:
        yield
    except CallwrightError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        raise SystemExit(0) from None
