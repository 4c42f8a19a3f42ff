"""One HTML file that holds everything: no request leaves it."""

from pathlib import Path

import jinja2
import vl_convert
from markupsafe import Markup

from . import contents, doctor, estimates, facts, figures, overview, reproduce, verdict
from .charts import Charts
from .measure import significant
from .record import KINDS, OVERFLOW, counted, has_samples, is_invalid, rounds

VEGA_LITE = "6.1"
TEMPLATES = Path(__file__).with_name("templates")


def render(record):
    return fill("page.html", content(record))


def fill(template, values):
    """A page from a template and its values, with all that it draws with inside it."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    read = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.glob("page.*s")}
    return environment.get_template(template).render(
        **values,
        style=read["page.css"],
        script=read["page.js"],
        charting=vl_convert.javascript_bundle(vl_version=VEGA_LITE).replace(
            "</script", "<\\/script"
        ),
    )


def content(record):
    charts = Charts(record)
    chosen, rows = contents.control_group(record)
    names, differing, shared = contents.features(record)
    variants, states = contents.variants(record), contents.subjects(record)
    main = {each.name for each in record.scenarios if each.section == ""}
    return {
        "record": record,
        "overview": Markup(overview.of_record(record) or ""),
        "counted": counted,
        "title": " and ".join(record.suites) or "nothing",
        "states": states,
        "invalid": [result for result in record.results if is_invalid(result)],
        "quickest": contents.quickest(record),
        "kinds": KINDS,
        "groups": [group(record, charts, *each) for each in contents.groups(record)],
        "control": {"scenarios": chosen, "rows": rows},
        "variants": [
            {"title": name, "open": name in main, "chart": charts.ratios(lines)}
            for name, lines in variants.items()
        ],
        "comparisons": contents.comparisons(record),
        "verdict": verdict.content(record),
        "reached": lambda target: verdict.reached(record, target),
        "significant": significant,
        "tally": contents.tally,
        "given": any("verdict" in line for line in record.comparisons),
        "computed": not all("verdict" in line for line in record.comparisons),
        "processes": record.run.get("processes", 1),
        "features": {"names": names, "rows": differing, "shared": shared},
        "left_out": [row[0] for row in states if row[3] == "left out"],
        "placement": {
            name: record.environment.get(name, []) for name in ("main_pair", "distances_missing")
        },
        "unchecked": contents.unchecked_loops(record.results),
        "environment": readable(record.environment),
        "findings": doctor.examine(facts.of_record(record)),
        "recipe": reproduce.recipe(record),
    }


def group(record, charts, section, kind, scenarios):
    """A heading of the page with the scenarios below it, all of one kind."""
    sweep = [
        {"names": ", ".join(each.name for each in members), "chart": chart}
        for members in contents.sweeps(record, section, kind, scenarios)
        for chart in charts.sweep(members, *contents.SWEEPS[section])
    ]
    return {
        "title": contents.title_of(section, kind),
        "meaning": contents.MEANINGS.get(kind, ""),
        "layers": sorted({r["layer"] for s in scenarios for r in s.results if r.get("layer")}),
        "demonstration": kind == OVERFLOW,
        "sweep": sweep,
        "scenarios": [scenario_of(record, charts, each, bool(sweep)) for each in scenarios],
    }


def scenario_of(record, charts, scenario, in_sweep):
    header, rows = figures.table(scenario)
    machine = next((each for each in record.machine if each["scenario"] == scenario.name), None)
    samples = has_samples(scenario.results[0])
    drawn = []
    if not scenario.demonstration:
        drawn = (
            [charts.tails(scenario), charts.curves(scenario)]
            if samples
            else [charts.bars(scenario)]
        )
    return {
        "name": scenario.name,
        "what": scenario.results[0]["params"].get("what", ""),
        "parameters": contents.parameters(scenario),
        "unsteady": machine is not None and not machine["steady"],
        "machine": readable(machine or {}),
        "unchecked": contents.unchecked_loops(scenario.results),
        "charts": [chart for chart in drawn if chart],
        "few": min(len(rounds(each)) for each in scenario.results) < estimates.FEWEST_PAIRS,
        "floor": record.floors.get(scenario.name),
        "folded": in_sweep,
        "legend": {} if scenario.demonstration else charts.legend(scenario),
        "header": header,
        "rows": rows,
    }


def readable(facts_of_something):
    """[(name, text)] of a flat or nested record."""
    lines = []
    for name, value in facts_of_something.items():
        name = name.replace("_", " ")
        if value is None:
            lines.append((name, "unknown"))
        elif isinstance(value, bool):
            lines.append((name, "yes" if value else "no"))
        elif isinstance(value, dict):
            lines.append((name, ", ".join(f"{key} {text}" for key, text in readable(value))))
        elif isinstance(value, list):
            parts = [
                ", ".join(f"{key} {text}" for key, text in readable(each))
                if isinstance(each, dict)
                else str(each)
                for each in value
            ]
            lines.append(
                (name, ("; " if any(isinstance(e, dict) for e in value) else ", ").join(parts))
            )
        else:
            lines.append((name, f"{value:.4g}" if isinstance(value, float) else str(value)))
    return lines
