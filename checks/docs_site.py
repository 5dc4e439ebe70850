"""Builds the documentation as a site, with every link checked: ``python3 start.py docs``.

The pages in ``docs`` are plain Markdown with relative links, so that they also read well where the
repository is browsed. For the site they are copied to ``build/docs``, with the pages of the
repository's root beside them; links to files that the site does not have become their text. In a
table, a forge wants ``\\|`` in code, and the site's Markdown ``|``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
OUT = ROOT / "build" / "docs"
SITE = ROOT / "build" / "site"
ROLE = re.compile(r":(?:func|meth|class|mod|attr|data|exc):(?=<code|<a)")  # of docstrings
OUTSIDE = {  # what the site shows of the repository's root, and as which page
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
CODE = re.compile(r"`[^`\n]+`")
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def main() -> int:
    write_sources(OUT)
    zensical = Path(sys.executable).with_name("zensical")
    built = [str(zensical), "build", "--strict", "--clean", "-f", str(ROOT / "mkdocs.yml")]
    code = subprocess.run(built, cwd=ROOT, check=False).returncode
    for page in SITE.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(ROLE.sub("", text), encoding="utf-8")
    return code


def write_sources(out: Path) -> None:
    """Write the pages of the site, and the pictures that they show."""
    shutil.rmtree(out, ignore_errors=True)
    for source, page in list_pages().items():
        target = out / page
        target.parent.mkdir(parents=True, exist_ok=True)
        place = str(source.relative_to(ROOT))
        text = source.read_text(encoding="utf-8")
        target.write_text(rewrite_links(text, place, page), encoding="utf-8")
    shutil.copytree(DOCS / "pictures", out / "pictures")
    shutil.copy(DOCS / "site.css", out)


def list_pages() -> dict[Path, str]:
    """Every Markdown file that the site shows, and its place there."""
    inside = {path: str(path.relative_to(DOCS)) for path in sorted(DOCS.rglob("*.md"))}
    return {**inside, **{ROOT / name: page for name, page in OUTSIDE.items()}}


def rewrite_links(text: str, place: str, page: str) -> str:
    """The text of the file at ``place``, with its links as the site's page needs them."""

    def change(link: re.Match[str]) -> str:
        return rewrite_link(link, place, page)

    parts = FENCE.split(text)
    return "".join(
        one if one.startswith("```") else show_bars(LINK.sub(change, one)) for one in parts
    )


def show_bars(text: str) -> str:
    """The text, with the bars in code as the site's Markdown takes them."""
    return CODE.sub(lambda code: code[0].replace(r"\|", "|"), text)


def rewrite_link(link: re.Match[str], place: str, page: str) -> str:
    text, target, anchor = link.groups(default="")
    if not target or "://" in target:
        return link[0]
    full = normpath(f"{PurePosixPath(place).parent}/{target}")
    shown = OUTSIDE.get(full, full.removeprefix("docs/") if full.startswith("docs/") else "")
    if not shown.endswith(".md"):
        return text
    return f"[{text}]({relpath(shown, PurePosixPath(page).parent)}{anchor})"


if __name__ == "__main__":
    raise SystemExit(main())
