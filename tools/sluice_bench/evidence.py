"""The measured figures of the pages: written from the raw files in docs/evidence, never by hand.

`tables.toml` beside the raw files says which figures stand in which table. A page takes a table by its
name:

    <!-- figures: NAME -->
    ... written from here ...
    <!-- end of figures -->

A table of tables.toml has a header, a template for the cells of its rows, and rows. A row names a
scenario as `SUITE/SCENARIO`, and subjects of it by one letter each: `a` is ours, `b` the one to compare
with. The templates are those of str.format(): `{a.ns}`, `{b.rate}`, `{ratio}`, `{page}` for the page of
the raw file, `{version}` for the version of `b` in brackets, and `{word}` for any other word of the row. A table may take the rows of another one
(`rows_of`), or those of them that have a word (`rows_with`). A row with `when_measured = true` is left out until a raw file holds all of it. Below a table
stand the reasons for its marks, in the words of `because`. The tables `files` and `counts` are there without a description.
A table with a `picture` is drawn into that file instead: a chart of the times of `a`, `b` and, if it is there, `c`.
"""

import json
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from . import conditions, contents, markdown, overview, reproduce
from .measure import figure_text, significant
from .record import BadInput, is_invalid, load, rejected_share, rounds, stat

RAW = ".json.xz"
PLACE = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
ABSENT = "-"
DOUBTFUL = "\\*"
# What stands below a table with such figures. A table in another language has its own `because`.
BECAUSE = {
    "these": "Not reliable, and therefore marked with \\*:",
    "run": "the whole run is in doubt: {doubts}",
    "rounds": "the rounds of {subject} range from {low} to {high}",
    "others": "other programs used {share} of the processors",
    "stolen": "other virtual machines used {share} of the processors",
    "line": "a cache line took between {low:.0f} and {high:.0f} ns from core to core",
    "machine": "the machine was not steady",
}
# A number and its unit, a ratio and its interval stay on one line of a narrow screen.
JOINED = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Figure:
    """The values of one subject in one scenario that a template may name."""

    result: dict
    mark: str = ""

    def statistic(self, name):
        value = stat(self.result, name)
        if is_invalid(self.result) or value is None:
            return "INVALID" if is_invalid(self.result) else "-"
        return f"{figure_text(self.result, value)}{self.mark}".replace(" ", JOINED)

    @property
    def ns(self):
        return self.statistic("median")

    def per_second(self, unit):
        if is_invalid(self.result):
            return "INVALID"
        default = 1e9 / stat(self.result, "median")
        return significant(self.result.get("per_second", {}).get("value", default) / unit)

    @property
    def rate(self):
        """The rate in millions a second."""
        return self.per_second(1e6)

    @property
    def thousands(self):
        """The rate in thousands a second."""
        return self.per_second(1e3)

    @property
    def lost(self):
        return f"{rejected_share(self.result):.1%}"

    def __getattr__(self, name):
        if name not in ("mean", "stddev", "p50", "p95", "p99", "p999", "min", "max"):
            raise AttributeError(f"no figure is called {name}")
        return self.statistic(name)


class Absent:
    """A subject that does not take part in the scenario of a row, or a figure that was not measured."""

    def __getattr__(self, name):
        return ABSENT

    def __str__(self):
        return ABSENT


def mark_of(record, *results):
    """A star beside figures that are not credible."""
    names = {each["scenario"] for each in results}
    doubtful = record.doubts_of_the_run or names & set(record.unsteady) or any("UNRELIABLE" in each["flags"] for each in results)
    return f" {DOUBTFUL}" if doubtful else ""


def reasons(record, results):
    """(reason, its values) of each reason against these results of one scenario."""
    if record.doubts_of_the_run:
        yield "run", {"doubts": "; ".join(record.doubts_of_the_run)}
    for result in results:
        if "UNRELIABLE" in result["flags"]:
            low, high = (figure_text(result, end(rounds(result))).replace(" ", JOINED) for end in (min, max))
            yield "rounds", {"subject": result["subject"], "low": low, "high": high}
    if results[0]["scenario"] in record.unsteady:
        state = next(each for each in record.machine if each["scenario"] == results[0]["scenario"])
        yield from conditions.disturbances(state) or [("machine", {})]


def ratio(first, second, mark):
    """First divided by second: the median over pairs of rounds, and the interval of the sign test."""
    if is_invalid(first) or is_invalid(second):
        return "INVALID"
    value, low, high = overview.ratio_of(first, second)
    text = f"{value:.2f} ({low:.2f} to {high:.2f}){mark}"
    return text.replace(" ", JOINED)


def text_of(file):
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}") from None


def subjects_of(row):
    """The subjects of a row that take part, by their letters."""
    return {letter: subject for letter, subject in row.items() if len(letter) == 1 and subject != ABSENT}


class Evidence:
    """A folder of raw files and the tables that are made of them."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.records = {
            path.name.removesuffix(RAW): load(path) for path in sorted(self.folder.glob(f"*{RAW}"))
        }
        try:
            self.tables = tomllib.loads(text_of(self.folder / "tables.toml"))
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"{self.folder}: tables.toml: {error}") from None

    def record_of(self, scenario):
        """The file that holds a scenario of a suite. One file only: rounds are compared in pairs."""
        found = {
            name: record
            for name, record in self.records.items()
            if any(f"{each['suite']}/{each['scenario']}" == scenario for each in record.results)
        }
        if len(found) != 1:
            raise BadInput(f"{self.folder}: {scenario} is in {', '.join(found) or 'no file'}")
        return next(iter(found.values()))

    def rows(self, wanted):
        """The rows of a table, without those that wait for a raw file."""
        rows = self.tables[wanted["rows_of"]]["rows"] if "rows_of" in wanted else wanted["rows"]
        rows = [row for row in rows if "rows_with" not in wanted or wanted["rows_with"] in row]
        return [row for row in rows if not row.get("when_measured") or self.is_measured(row)]

    def figures(self):
        """(SUITE/SCENARIO, subject) of each figure in the tables."""
        rows = [row for table in self.tables.values() for row in self.rows(table) if "scenario" in row]
        return {(row["scenario"], subject) for row in rows for subject in subjects_of(row).values()}

    def is_measured(self, row):
        named = set(subjects_of(row).values())
        return any(
            named <= {each["subject"] for each in record.results if f"{each['suite']}/{each['scenario']}" == row["scenario"]}
            for record in self.records.values()
        )

    def results_of(self, row):
        """The file that holds a row, and the results by the letters of their subjects."""
        record, name = self.record_of(row["scenario"]), row["scenario"].partition("/")[2]
        results = {each["subject"]: each for each in record.results if each["scenario"] == name}
        letters = subjects_of(row)
        if missing := [subject for subject in letters.values() if subject not in results]:
            raise BadInput(f"{self.folder}: {row['scenario']} was run without {', '.join(missing)}")
        return record, {letter: results[subject] for letter, subject in letters.items()}

    def words(self, row, marks_figures):
        """The values that the templates of a row may name. The marks are at the figures, or at the ratio."""
        words = dict(row)
        if "scenario" not in row:
            return words
        record, subjects = self.results_of(row)
        for letter, result in subjects.items():
            words[letter] = Figure(result, mark_of(record, result) if marks_figures else "")
        words.update({letter: Absent() for letter, subject in row.items() if subject == ABSENT})
        words["page"] = record.source.replace(RAW, ".md")
        if {"a", "b"} <= subjects.keys():
            version = contents.version(record.subject(row["b"]))
            words["version"] = f" ({version})" if version else ""
            words["ratio"] = ratio(subjects["a"], subjects["b"], mark_of(record, subjects["a"], subjects["b"]))
        return words

    def files(self):
        """The raw files and the machines that measured them, as the lines of a table."""
        header = ["file", "suite", "measured", "processor", "compiler", "commit", "clock, ns", "credible", "credible for the rows of the tables"]
        figures = self.figures()
        lines = [
            [
                f"[{name}]({name}.md)",
                ", ".join(record.suites),
                str(record.environment.get("started_at")),
                str(record.environment["cpu"]),
                str(record.environment["compiler"]),
                str(record.environment.get("git_commit"))[:12],
                significant(record.environment["clock_ns"]),
                "no" if record.doubts else "yes",
                conditions.judge(record, figures).answer or ABSENT,
            ]
            for name, record in self.records.items()
        ]
        return markdown.table(header, lines)

    def counts(self):
        """The counts of `./dev count`, as the lines of a table."""
        lines = []
        for path, entry in json.loads(text_of(self.folder / "counts.json")).items():
            peers = sorted(entry["peers"].items(), key=lambda peer: peer[1])
            best = peers[0][1] if peers else 0
            ratio = f"{entry['instructions'] / best:.2f}" if best else ""
            others = ", ".join(f"{peer} {significant(count)}" for peer, count in peers)
            lines.append([path, significant(entry["instructions"]), ratio, others])
        return markdown.table(["path", "Sluice", "ratio to the best", "others"], lines)

    def why_doubtful(self, rows, because, page):
        """The reasons for the marks of a table, each once, as the lines below it. A row: its name, whether its figures are marked, and itself."""
        found = {}
        for name, marks_figures, row in rows:
            record, subjects = self.results_of(row)
            shown = [result for letter, result in subjects.items() if marks_figures or letter in "ab"]
            file = os.path.relpath(self.folder / record.source.replace(RAW, ".md"), page.parent)
            told = "; ".join(because[reason].format_map(values) for reason, values in reasons(record, shown))
            found.setdefault(f"([{row['scenario'].partition('/')[2]}]({file})): {told}.", name)
        return ["", because["these"], "", *[f"- {name} {told}" for told, name in found.items()]] if found else []

    def table(self, name, page):
        """The lines of a table in Markdown, for this page."""
        if name in ("files", "counts"):
            return getattr(self, name)()
        if name not in self.tables:
            raise BadInput(f"{self.folder}: tables.toml has no table '{name}'")
        wanted = self.tables[name]
        try:
            rows = [(row.get("cells", wanted.get("cells")), row) for row in self.rows(wanted)]
            rows = [(cells, "{ratio}" not in cells, row) for cells, row in rows]
            lines = [[cell.format_map(self.words(row, marked)) for cell in cells] for cells, marked, row in rows]
        except (KeyError, AttributeError, TypeError) as error:
            raise BadInput(f"{self.folder}: table '{name}': {error}") from None
        doubtful = [(line[0], *row[1:]) for row, line in zip(rows, lines) if any(DOUBTFUL in cell for cell in line)]
        because = BECAUSE | wanted.get("because", {})
        return [*markdown.table(wanted["header"], lines), *self.why_doubtful(doubtful, because, page)]

    def fill(self, page, text):
        """The text of a page, with the tables that it names."""
        return PLACE.sub(
            lambda place: f"{place[1]}\n" + "\n".join(self.table(place[2], page)) + f"\n\n{place[3]}", text
        )

    def picture(self, wanted):
        """A chart of the rows of a table, each from the file that holds it."""
        rows = []
        for each in self.rows(wanted):
            drawn = overview.rows_of(self.record_of(each["scenario"]), [each], wanted.get("language", "work"))
            if not drawn:
                raise BadInput(f"{self.folder}: {each['scenario']} was run without a subject of the chart")
            rows += drawn
        return overview.draw(rows, wanted)

    def pages(self, root):
        """{page: its text as it should be}, for the pages and charts of a tree and for each raw file."""
        found = {root / each["picture"]: self.picture(each) for each in self.tables.values() if "picture" in each}
        for page in (*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))):
            text = page.read_text(encoding="utf-8")
            if PLACE.search(text):
                found[page] = self.fill(page, text)
        figures = self.figures()
        for name, record in self.records.items():
            found[self.folder / f"{name}.md"] = of_record(name, record, conditions.judge(record, figures))
        return found


def of_record(name, record, judgement):
    """The page of one raw file: where it comes from, how it was measured, and all of its figures."""
    source = f"{name}{RAW}"
    peers = conditions.peers(record)
    lines = [
        f"# Measured: {name}",
        "",
        f"Written by `./dev bench evidence` from [{source}]({source}), which holds every round.",
        f"`./dev bench report docs/evidence/{source} --html {name}.html` draws it with charts.",
        "To measure it again:",
        "",
        f"    ./dev bench {reproduce.command(record)}",
        "",
        *markdown.table(["measured on", ""], conditions.facts(record), "---"),
        "",
        *([*peers, ""] if peers else []),
        *judgement.lines(),
    ]
    if record.unsteady:
        lines += [f"The machine was not steady during: {', '.join(record.unsteady)}.", ""]
    figures = markdown.of_record(record).replace("\n### ", "\n## ").rstrip("\n")
    return "\n".join([*lines, figures, "", *conditions.features(record)])


def write(root, folder):
    """Writes the pages whose text differs from the generated text, and returns them."""
    changed = []
    for page, text in Evidence(folder).pages(Path(root)).items():
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
            changed.append(page)
    return changed
