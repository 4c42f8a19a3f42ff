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
    ("Learn", ("docs/tutorial.md", "docs/guide")),
    ("How to", ("docs/how-to", "docs/migrating-from-*.md")),
    ("Reference", ()),
    ("Why", ("docs/architecture.md", "docs/algorithms", "docs/decisions")),
    ("Measured", ("docs/comparison.md", "docs/benchmarking.md", "docs/evidence", "docs/published")),
    ("Project", ("docs/platforms.md", "docs/versions.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/coding-rules.md", "SECURITY.md", "README.zh-CN.md")),
)
REFERENCE = (
    '<tab type="classlist" title="Types"/><tab type="filelist" title="Headers"/><tab type="namespacemembers" title="Names"/>'
)
CHINESE = Path("README.zh-CN.md")
STYLES = ("doxygen-awesome.css", "doxygen-awesome-sidebar-only.css", "doxygen-awesome-sidebar-only-darkmode-toggle.css")
SCRIPTS = {
    "doxygen-awesome-darkmode-toggle.js": "DoxygenAwesomeDarkModeToggle",
    "doxygen-awesome-fragment-copy-button.js": "DoxygenAwesomeFragmentCopyButton",
    "doxygen-awesome-paragraph-link.js": "DoxygenAwesomeParagraphLink",
}


def pages(patterns):
    """The pages of a part: those of a folder in the order of its README, which is the first of them."""
    for pattern in patterns:
        found = sorted(ROOT.glob(f"{pattern}/*.md" if "." not in pattern else pattern))
        if (index := ROOT / pattern / "README.md").is_file():
            text = index.read_text(encoding="utf-8")
            found.sort(key=lambda path: text.find(f"({path.name}"))
        yield from (path.relative_to(ROOT) for path in found)


def title(page):
    if page == CHINESE:
        return "In Chinese"
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.search(r"^# (.*)$", text, re.MULTILINE)[1]


def tab(page):
    return f'<tab type="user" url="@ref {site_name(page)}" title={quoteattr(title(page))}/>'


def navigation():
    parts = []
    for name, patterns in PARTS:
        tabs = "".join(map(tab, pages(patterns))) or REFERENCE
        parts.append(f'<tab type="usergroup" url="[none]" title="{name}">{tabs}</tab>')
    return f'<navindex><tab type="mainpage" title="Start"/>{"".join(parts)}</navindex>'


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


def theme():
    """The folder of the theme's files, a package of build/venv. Installs it there if it is missing."""
    venv, wanted = ROOT / "build/venv", ROOT / HERE / "requirements.txt"
    mark = venv / "docs-requirements.txt"
    if not mark.is_file() or mark.read_bytes() != wanted.read_bytes():
        if not (venv / "bin/pip").is_file():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", wanted]
        subprocess.run(pip, check=True)
        mark.write_bytes(wanted.read_bytes())
    return next(venv.glob("lib/python3*/site-packages/doxygen_awesome_css"))


def scripts():
    """The lines of the page's head that load the theme's scripts."""
    loads = [f'<script type="text/javascript" src="$relpath^{file}"></script>' for file in SCRIPTS]
    starts = "".join(f"{name}.init();" for name in SCRIPTS.values())
    return "\n".join([*loads, f'<script type="text/javascript">{starts}</script>', "</head>"])


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
    text = header.read_text(encoding="utf-8").replace(name, linked).replace("</head>", scripts())
    header.write_text(text, encoding="utf-8")
    files = theme()
    settings = (ROOT / HERE / "Doxyfile").read_text(encoding="utf-8")
    settings += f"\nOUTPUT_DIRECTORY = {folder}\nLAYOUT_FILE = {layout}\nHTML_HEADER = {header}\n"
    extra = [*files_beside(), *(files / script for script in SCRIPTS)]
    settings += f"HTML_EXTRA_FILES = {' '.join(map(str, extra))}\n"
    styles = [*(files / style for style in STYLES), HERE / "site.css"]
    settings += f"HTML_EXTRA_STYLESHEET = {' '.join(map(str, styles))}\n"
    status = subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT).returncode
    if status == 0:
        search.add(all_pages(), folder / "html")
    return status


if __name__ == "__main__":
    sys.exit(main())
