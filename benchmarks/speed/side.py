"""The environment of the peers: made once, in the cache folder, from ``peers.txt``; made anew when that changes."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from callwright.weights import cache_dir

WANTED = Path(__file__).with_name("peers.txt")


def python_of_peers() -> str:
    """The Python that has the peers. The first time this takes a minute, and a package index."""
    digest = hashlib.sha256(WANTED.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = cache_dir() / "speed-peers" / digest
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = folder / "installed"
    if not done.exists():
        sys.stderr.write(f"installing the peers into {folder}\n")
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", str(WANTED)], check=True)
        done.touch()
    return str(python)
