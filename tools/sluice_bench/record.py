"""A file of measurements: read, held to the schema, and grouped by scenario."""

import functools
import json
import lzma
import math
import re
from dataclasses import dataclass
from pathlib import Path

import jsonschema

SCHEMA = Path(__file__).with_name("schema.json")

# A demonstration of a wrong measurement: never ranked, never compared.
OVERFLOW = "overflow"

# Each subject gets messages at a share of its own capacity, so the slowest gets the fewest.
LOADED = "loaded-latency"

# The waits of urgent messages in an overloaded subject. The lost messages are part of the result.
FLOOD = "flood-latency"

# A call takes as long as reading the clock, so a ratio would compare the clock with itself.
CALLS = "call-latency"

# The facts of the machine and the program that a file must have, even if their value is unknown.
ENVIRONMENT = (
    "cpu", "cpus", "topology", "mhz", "l3_kib", "governor", "kernel", "compiler", "flags",
    "clock_ns", "git_commit", "git_dirty", "program_hash",
)  # fmt: skip

# The words of the program for results that are not credible.
ARE_INVALID = "INVALID"
ARE_UNRELIABLE = "UNRELIABLE"
# The endings of the doubts that concern single results or scenarios. Any other concerns the whole run.
OF_SINGLE_ROWS = (ARE_INVALID, ARE_UNRELIABLE, "ran while others used the CPUs")

# The kinds that the program writes today. Any other is a group of its own.
KINDS = {
    "e2e-throughput": "End-to-end throughput",
    "raw-enqueue": "Raw enqueue, without a consumer",
    OVERFLOW: "Overflow demonstration",
    LOADED: "Latency under load",
    FLOOD: "Latency and loss in a flood",
    "idle-latency": "Latency of an idle queue",
    "call-cost": "Cost of a call among many",
    CALLS: "Latency of single calls",
    "event-cost": "Cost of an event",
    "log-throughput": "Records of a log",
    "resident-memory": "Resident memory",
}


class BadInput(Exception):
    """A fault in arguments, files or schema; the text is one line."""


@dataclass(frozen=True)
class Scenario:
    """The results of one scenario: all of one kind."""

    name: str
    kind: str
    section: str
    results: tuple

    @property
    def demonstration(self):
        return self.kind == OVERFLOW

    @property
    def ranked(self):
        return is_ranked(self.kind)


class Record:
    """The content of one file."""

    def __init__(self, content, source):
        self.source = source
        self.run = content["run"]
        self.environment = content["environment"]
        self.machine = content.get("machine", [])
        self.subjects = content["subjects"]
        self.results = content["results"]
        self.comparisons = content["comparisons"]
        self.targets = content.get("targets", [])
        self.checklist = content.get("checklist", [])
        self.credible = content.get("credible")
        self.floors = {
            entry["scenario"]: entry["floor"]
            for entry in content.get("noise_floor", [])
            if entry["floor"] is not None
        }
        self._reasons = content.get("not_credible_because", [])

    @property
    def suites(self):
        return list(dict.fromkeys(result["suite"] for result in self.results))

    @property
    def doubts(self):
        """Why these figures are not credible; empty if they are."""
        if self.credible is None:
            return ["the file answers no check-list"]
        found = self._reasons or [*self.shortcomings, *marks(self.results)]
        return found or ([] if self.credible else ["the file says so, without a reason"])

    @property
    def doubts_of_the_run(self):
        """The doubts that concern every figure."""
        return [doubt for doubt in self.doubts if not doubt.endswith(OF_SINGLE_ROWS)]

    @property
    def shortcomings(self):
        """The reasons against the run as a whole, even if the file does not name them."""
        failed = [answer["question"] for answer in self.checklist if not answer["pass"]]
        skipped = len(self.run.get("skipped_scenarios", []))
        subjects = sum(map(is_left_out, self.subjects))
        scenarios = len(self.run.get("left_out_scenarios", []))
        ways = {
            "a quick run is not for publication": self.run["quick"],
            "the run was interrupted": self.run.get("interrupted"),
            "no thread was tied to a CPU": self.run.get("unpinned"),
            f"{counted(skipped, 'scenario')} not run": skipped,
            f"{counted(subjects, 'subject')} left out": subjects,
            f"{counted(scenarios, 'scenario')} left out": scenarios,
        }
        missing = [name for name in ENVIRONMENT if name not in self.environment]
        untold = [f"the file does not tell: {', '.join(missing)}"] if missing else []
        return failed + [text for text, is_so in ways.items() if is_so] + untold

    @functools.cached_property
    def scenarios(self):
        """The scenarios in the order in which they were measured."""
        groups = {}
        for result in self.results:
            groups.setdefault(result["scenario"], []).append(result)
        return [
            Scenario(name, group[0]["kind"], group[0].get("section", ""), tuple(group))
            for name, group in groups.items()
        ]

    @property
    def rounds_text(self):
        """The rounds that were run, in the words of the program."""
        run = [rounds_of(each) for each in self.scenarios]
        low, high, planned = min(run, default=0), max(run, default=0), self.run["rounds"]
        text = counted(high, "round") if low == high else f"{low} to {counted(high, 'round')}"
        return text if low == high == planned else f"{text}, {planned} planned"

    @property
    def skipped(self):
        """{reason: [scenario]} of those that were asked for and not run."""
        names = self.run.get("skipped_scenarios", [])
        reasons = self.run.get("skipped_because", ["the file does not say why"] * len(names))
        found = {}
        for name, reason in zip(names, reasons):
            found.setdefault(reason, []).append(name)
        return found

    @property
    def unsteady(self):
        """The scenarios in which others had the CPUs, or the time of a cache line changed."""
        return [each["scenario"] for each in self.machine if not each["steady"]]

    def subject(self, identity):
        return next(subject for subject in self.subjects if subject["id"] == identity)


def is_left_out(subject):
    """Whether the program has the subject, and the user did not ask for it."""
    return not subject["present"] and subject["absent_because"].startswith("left out")


def is_ranked(kind):
    return kind not in (OVERFLOW, LOADED, FLOOD, CALLS)


def needs_floor(result):
    """Whether its times are ranked. Then two equal subjects have measured the noise."""
    return is_ranked(result["kind"]) and unit(result) == "ns"


def marks(results):
    """How many of the results are of no use.

    A result that is never ranked may vary: near its capacity no queue has a steady latency.
    """
    ranked = [
        each
        for each in results
        if is_ranked(each["kind"]) and "OVERSUBSCRIBED" not in each["flags"]
    ]
    counts = {
        ARE_INVALID: sum(map(is_invalid, results)),
        ARE_UNRELIABLE: sum("UNRELIABLE" in each["flags"] for each in ranked),
    }
    return [
        f"{counted(count, 'result')} {'is' if count == 1 else 'are'} {word}"
        for word, count in counts.items()
        if count
    ]


def load(path):
    """Reads a file that the program wrote, as it is or compressed by xz."""
    return of_content(content_of(path), path)


def of_content(content, path):
    check_schema(content, path)
    check_meaning(content, path)
    return Record(content, Path(path).name)


def content_of(path):
    """The JSON of a file."""
    opened = lzma.open if Path(path).suffix == ".xz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            text = file.read()
    except lzma.LZMAError:
        raise BadInput(f"{path}: not compressed by xz") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
    try:
        content = json.loads(text, parse_constant=refuse_constant, parse_float=finite, object_pairs_hook=unique)
        # JSON may hold half of a surrogate pair, "\ud800", which no file can hold.
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {one_line(str(error))}") from None
    except RecursionError:
        raise BadInput(f"{path}: nested too deeply") from None
    return content


def refuse_constant(name):
    raise ValueError(f"{name} is not a number")


def unique(pairs):
    """An object of JSON. Of two values of one name, json would take the last without a word."""
    names = dict(pairs)
    if len(names) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return names


def finite(text):
    value = float(text)
    return value if math.isfinite(value) else refuse_constant(text)


def check_schema(content, path):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    error = jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(schema).iter_errors(content)
    )
    if error is not None:
        message = error.message if len(error.message) < 200 else error.message[:200] + " ..."
        place = error.json_path.removeprefix("$").removeprefix(".")
        raise BadInput(f"{path}: {place + ': ' if place else ''}{one_line(message)}")


def check_meaning(content, path):
    """The faults that a schema cannot express."""
    known = [subject["id"] for subject in content["subjects"]]
    if len(set(known)) != len(known):
        raise BadInput(f"{path}: subjects: two have the same id")
    kinds, seen = {}, set()
    for number, result in enumerate(content["results"]):
        place = f"{path}: results[{number}]"
        key = (result["scenario"], result["subject"])
        if result["subject"] not in known:
            raise BadInput(f"{place}: subject '{result['subject']}' is not in subjects")
        if key in seen:
            raise BadInput(f"{place}: {key[1]} is in {key[0]} twice")
        if kinds.setdefault(result["scenario"], result["kind"]) != result["kind"]:
            raise BadInput(
                f"{place}: scenario {result['scenario']} is of the kinds "
                f"{kinds[result['scenario']]} and {result['kind']}"
            )
        seen.add(key)
        if not is_invalid(result):
            check_counts(result["counts"], place)
            check_rounds(result, place)


def check_counts(counts, place):
    attempted, accepted = counts["attempted"], counts["accepted"]
    turned_away = counts["rejected"] + counts.get("dropped", 0)
    if attempted != accepted + turned_away:
        raise BadInput(
            f"{place}: counts: {attempted} attempted are not "
            f"{accepted} accepted and {turned_away} rejected or dropped, and it is not INVALID"
        )


def check_rounds(result, place):
    if not rounds(result) or result.get("rounds_p99_ns") == []:
        raise BadInput(f"{place}: it has statistics, and no figures of its rounds")


def counted(number, noun):
    """ "1 result", "2 results" """
    ending = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if number == 1 else ending}"


def one_line(text):
    return re.sub(r"\s+", " ", text)


def is_invalid(result):
    return "INVALID" in result["flags"] or result["stats"] is None


def unit(result):
    return "mib" if "rounds_mib" in result else "ns"


def has_samples(result):
    """Whether its statistics are over single times, and not over rounds."""
    return "rounds_p99_ns" in result


def rounds(result):
    """One figure for each measured round: less is better."""
    return result[f"rounds_{unit(result)}"]


def rounds_of(scenario):
    """The number of rounds that were run. A subject that failed has fewer."""
    return max(len(rounds(each)) for each in scenario.results)


def stat(result, name):
    """The statistic `name`, for instance "p99"; None when there is none."""
    stats = result["stats"] or {}
    return stats.get(f"{name}_{unit(result)}", stats.get(name))


def rejected_share(result):
    counts = result["counts"]
    turned_away = counts["rejected"] + counts.get("dropped", 0)
    return turned_away / counts["attempted"] if counts["attempted"] else 0.0
