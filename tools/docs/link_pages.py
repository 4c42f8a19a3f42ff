"""Doxygen's filter for pages: headings and links as a Git host understands them.

A Git host gives each heading the id `its-words`, and a page may link to `page.md#its-words`. Doxygen
wants ids that are unique in the whole site, so each gets the path of its page in front. A link to a
source becomes a reference to it. Other links into the tree become plain text, since they have no page.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADING = re.compile(r"^(##+ )(.*)$")
SOURCES = (".cpp", ".hpp")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")


def slug(heading):
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.strip().replace(" ", "-")


def identity(page, words):
    return re.sub(r"\W", "-", str(page.with_suffix(""))) + "-" + words


def target(page, link):
    """The new form of a link, or None for plain text."""
    if re.match(r"\w+:", link):
        return link
    path, _, words = link.partition("#")
    aim = (ROOT / page.parent / path).resolve().relative_to(ROOT) if path else page
    if words:
        return f"#{identity(aim, words)}"
    if aim.suffix == ".md":
        return link
    return f"@ref {aim}" if aim.suffix in SOURCES else None


def converted(page, lines):
    is_code = False
    for line in lines:
        if line.startswith("```"):
            is_code = not is_code
        if is_code:
            yield line
            continue
        if heading := HEADING.match(line):
            yield f"{line} {{#{identity(page, slug(heading[2]))}}}"
            continue
        yield LINK.sub(lambda m: link_text(page, m[1], m[2]), line)


def link_text(page, text, link):
    new = target(page, link)
    return f"[{text}]({new})" if new else text


def main():
    file = Path(sys.argv[1]).resolve()
    page = file.relative_to(ROOT)
    print("\n".join(converted(page, file.read_text(encoding="utf-8").splitlines())))


if __name__ == "__main__":
    main()
