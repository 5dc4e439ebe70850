"""A hook of MkDocs: the site shows pages that lie outside docs, and links to no file that it lacks.

The pages stay plain Markdown with relative links, so that they also read well where the repository
is browsed.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {  # what the site shows of the repository's root, and as which page
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie outside docs."""
    from mkdocs.structure.files import File

    for name, page in OUTSIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=move_links(text)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    return rewrite_links(markdown, page.file.src_uri)


def move_links(text: str) -> str:
    """The text of a page in the repository's root as it would read in docs."""
    return replace_outside_code(text, lambda link: link.replace("](docs/", "](").replace("](./", "]("))


def rewrite_links(markdown: str, place: str) -> str:
    """Links that leave docs lead to the site's own page, or become their text alone."""
    return replace_outside_code(markdown, lambda text: LINK.sub(lambda m: rewrite(m, place), text))


def replace_outside_code(text: str, change: Any) -> str:
    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def rewrite(link: re.Match[str], place: str) -> str:
    mark, text, target, anchor = link.groups(default="")
    if not target or "://" in target or mark:
        return link[0]
    folder = str(PurePosixPath(place).parent)
    full = normpath(f"docs/{folder}/{target}")
    if full in OUTSIDE:
        return f"[{text}]({relpath(OUTSIDE[full], folder)}{anchor})"
    if full.startswith("docs/") and full.endswith((".md", ".svg")):
        return link[0]
    return text
