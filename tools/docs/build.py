"""Builds the documentation site: `build.py <folder>`. See Doxyfile beside this file."""

import re
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import quoteattr

import search
from link_pages import others, site_name

ROOT = Path(__file__).resolve().parents[2]
HERE = Path("tools/docs")
# The parts of the navigation: title, and the pages in reading order. A folder stands for its pages.
PARTS = (
    ("Guides", ("docs/tutorial.md", "docs/guide")),
    ("How to", ("docs/how-to",)),
    ("From other libraries", ("docs/migrating-from-*.md",)),
    ("Measuring", ("docs/comparison.md", "docs/benchmarking.md", "docs/evidence", "docs/published")),
    ("How it is built", ("docs/architecture.md", "docs/algorithms", "docs/decisions")),
    ("The project", ("README.zh-CN.md", "docs/platforms.md", "docs/coding-rules.md", "docs/versions.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
)


def pages(patterns):
    for pattern in patterns:
        found = sorted(ROOT.glob(f"{pattern}/*.md" if "." not in pattern else pattern))
        yield from (path.relative_to(ROOT) for path in found)


def title(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.search(r"^# (.*)$", text, re.MULTILINE)[1]


def tab(page):
    return f'<tab type="user" url="@ref {site_name(page)}" title={quoteattr(title(page))}/>'


def navigation():
    parts = []
    for name, patterns in PARTS:
        if tabs := [tab(page) for page in pages(patterns)]:
            parts.append(f'<tab type="usergroup" url="[none]" title="{name}">{"".join(tabs)}</tab>')
    return (
        '<navindex><tab type="mainpage" title="Sluice"/>'
        + "".join(parts)
        + '<tab type="usergroup" url="[none]" title="Reference"><tab type="classlist" title="Types"/>'
        '<tab type="filelist" title="Headers"/><tab type="namespacemembers" title="Names"/></tab>'
        "</navindex>"
    )


def all_pages():
    return [Path("README.md"), *(page for _, patterns in PARTS for page in pages(patterns))]


def left_out():
    """Pages that no part of the navigation names."""
    return {path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")}.difference(all_pages())


def files_beside():
    """The other files that pages link to; the site gets copies. A folder has no page: link to a page in it."""
    aims = sorted(set().union(*map(others, all_pages())))
    if folders := [str(aim) for aim in aims if not (ROOT / aim).is_file()]:
        sys.exit(f"docs: links to folders, which have no page: {', '.join(folders)}")
    return aims


def main():
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if missing := left_out():
        sys.exit(f"docs: tools/docs/build.py leads to no such page: {', '.join(sorted(map(str, missing)))}")
    layout = folder / "layout.xml"
    subprocess.run(["doxygen", "-l", layout], check=True, stdout=subprocess.DEVNULL)
    text = layout.read_text(encoding="utf-8")
    text = re.sub(r"<navindex>.*?</navindex>", lambda _: navigation(), text, flags=re.DOTALL)
    layout.write_text(text, encoding="utf-8")
    header = folder / "header.html"
    subprocess.run(["doxygen", "-w", "html", header, folder / "footer.html", folder / "style.css"], check=True)
    name = '<div id="projectname">$projectname'
    linked = name.replace("$projectname", '<a href="$relpath^index.html">$projectname</a>')
    header.write_text(header.read_text(encoding="utf-8").replace(name, linked), encoding="utf-8")
    settings = (ROOT / HERE / "Doxyfile").read_text(encoding="utf-8")
    settings += f"\nOUTPUT_DIRECTORY = {folder}\nLAYOUT_FILE = {layout}\nHTML_HEADER = {header}\n"
    settings += f"HTML_EXTRA_FILES = {' '.join(map(str, files_beside()))}\n"
    status = subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT).returncode
    if status == 0:
        search.add(all_pages(), folder / "html")
    return status


if __name__ == "__main__":
    sys.exit(main())
