"""Adds the words of the pages to the search, which Doxygen fills with the names of symbols and the titles of pages.

Doxygen's search opens the page of results of the query's first letter, and this page shows the rows of
`searchData` that begin with the query. So each page of results gets a script, sections.js. It adds a row for
each section of a page that has all words of the query. Letters without a symbol get a page, too.
"""

import html
import json
import re
import string
from pathlib import Path

from link_pages import HEADING, LINK, identity, lines_of, site_name, slug

HERE = Path(__file__).resolve().parent
# The results are pages of their own in a frame: they get the site's styles, and its choice of light or dark.
HEAD = """<link href="../doxygen-awesome.css" rel="stylesheet" type="text/css"/>
<link href="../site.css" rel="stylesheet" type="text/css"/>
<script type="text/javascript" src="../doxygen-awesome-darkmode-toggle.js"></script>
</head>"""
OWN_SCRIPT = '<script type="text/javascript" src="search.js"></script>'
LETTERS = re.compile(r'(0: ")([^"]*)"')


def plain(text):
    return LINK.sub(r"\1", text).replace("`", "").replace("\\", "")


def sections(page):
    """[link, heading, page's title, words] of each section of a page."""
    title, found = "", []
    for line, is_code in lines_of(page):
        heading = None if is_code else HEADING.match(line)
        if not is_code and not title and line.startswith("# "):
            title = plain(line[2:])
            found.append([f"{site_name(page)}.html", title, "", line])
        elif heading:
            anchor = identity(page, slug(heading[2]))
            found.append([f"{site_name(page)}.html#{anchor}", plain(heading[2]), title, heading[2]])
        elif found:
            found[-1][3] += f" {line}"
    for section in found:
        section[1:3] = map(html.escape, section[1:3])
        section[3] = " ".join(sorted(set(re.findall(r"\w+", plain(section[3]).lower()))))
    return found


def add(pages, folder):
    """Adds the sections of these pages, in this order, to the search in the folder of the site."""
    folder = Path(folder) / "search"
    rows = [section for page in pages for section in sections(page)]
    script = (HERE / "search.js").read_text(encoding="utf-8")
    (folder / "sections.js").write_text(
        f"const sections = {json.dumps(rows, ensure_ascii=False, indent=0)};\n{script}", encoding="utf-8"
    )
    names = folder / "searchdata.js"
    text = names.read_text(encoding="utf-8")
    letters = LETTERS.search(text)[2]
    more = [each for each in string.ascii_lowercase + string.digits if each not in letters]
    names.write_text(LETTERS.sub(lambda m: f'{m[1]}{letters}{"".join(more)}"', text, count=1), encoding="utf-8")
    first = (folder / "all_0.html").read_text(encoding="utf-8")
    for number in range(len(letters), len(letters) + len(more)):
        (folder / f"all_{number:x}.html").write_text(first.replace("all_0.js", f"all_{number:x}.js"), encoding="utf-8")
        (folder / f"all_{number:x}.js").write_text("var searchData=[];\n", encoding="utf-8")
    for page in folder.glob("all_*.html"):
        text = page.read_text(encoding="utf-8")
        more_script = OWN_SCRIPT.replace("search.js", "sections.js")
        text = text.replace(OWN_SCRIPT, f"{OWN_SCRIPT}\n{more_script}").replace("</head>", HEAD)
        page.write_text(text, encoding="utf-8")
