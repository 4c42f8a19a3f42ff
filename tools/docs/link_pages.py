"""Doxygen's filter for pages: headings and links as a Git host understands them, and no number parted from its unit.

A Git host gives each heading the id `its-words`, and a page may link to `page.md#its-words`. Doxygen
wants ids that are unique in the whole site, so each gets the path of its page in front. A link to a
source becomes a reference to it. Any other file is copied into the site, which has no folders. A picture is found by its name.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADING = re.compile(r"^(##+ )(.*)$")
SOURCES = (".cpp", ".hpp")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
# Not every reader's machine has the letters.
CHINESE = " (中文)"
IMAGE = re.compile(r"(!\[[^\]]*\])\((?:[^)\s]*/)?([^)\s/]+)\)")
FIGURE = re.compile(r"(\d) ((?:ns|us|ms|s|KiB|MiB|MB)\b|%)")
OUTSIDE = re.compile(r"\w+:")


def slug(heading):
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.strip().replace(" ", "-")


def identity(page, words):
    return re.sub(r"\W", "-", str(page.with_suffix(""))) + "-" + words


def site_name(page):
    """Doxygen's name of a page."""
    name = re.sub(r"[/.-]", "_", str(page.with_suffix("")))
    return "index" if name == "README" else f"md_{name}"


def lines_of(page):
    """(line, whether it is code) of a page."""
    is_code = False
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        is_fence = line.startswith("```")
        yield line, is_code or is_fence
        is_code ^= is_fence


def aim_of(page, link):
    """The file that a link names."""
    path = link.partition("#")[0]
    return (ROOT / page.parent / path).resolve().relative_to(ROOT) if path else page


def target(page, link):
    """The new form of a link."""
    if OUTSIDE.match(link):
        return link
    aim, words = aim_of(page, link), link.partition("#")[2]
    if words:
        return f"#{identity(aim, words)}"
    if aim.suffix == ".md":
        return link
    return f"@ref {aim}" if aim.suffix in SOURCES else f"./{aim.name}"


def others(page):
    """The links of a page to files that are neither pages nor sources."""
    links = [match[2] for line, is_code in lines_of(page) if not is_code for match in LINK.finditer(line)]
    aims = {aim_of(page, link) for link in links if not OUTSIDE.match(link)}
    return {aim for aim in aims if aim.suffix not in (".md", *SOURCES)}


def converted(page):
    for line, is_code in lines_of(page):
        if is_code:
            yield line
        elif heading := HEADING.match(line):
            yield f"{line} {{#{identity(page, slug(heading[2]))}}}"
        else:
            line = IMAGE.sub(r"\1(\2)", line)
            line = LINK.sub(lambda m: f"[{m[1].removesuffix(CHINESE)}]({target(page, m[2])})", line)
            yield line if line.startswith("    ") else FIGURE.sub("\\1\N{NO-BREAK SPACE}\\2", line)


def main():
    file = Path(sys.argv[1]).resolve()
    print("\n".join(converted(file.relative_to(ROOT))))


if __name__ == "__main__":
    main()
