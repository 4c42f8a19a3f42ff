"""The results in the formats of other tools."""

import csv
import io
import json

from .record import OVERFLOW, has_samples, is_invalid, rounds, stat, unit


def google_benchmark(record):
    """The form of --benchmark_format=json: every round is a repetition, so compare.py can test.

    Nobody measured CPU time. compare.py demands the field, and shows a 0 as 0. It stops at entries
    without times, so invalid results are in the context, and what is unknown is nowhere.
    """
    environment = record.environment
    governor, load = environment.get("governor"), environment.get("load_average")
    context = {
        "date": environment.get("started_at"),
        "host_name": environment.get("cpu"),
        "executable": "sluice_bench",
        "num_cpus": len(environment["cpus"]),
        "mhz_per_cpu": environment.get("mhz") and round(environment["mhz"]),
        "cpu_scaling_enabled": governor and governor != "performance",
        "aslr_enabled": environment.get("aslr"),
        "load_avg": load and [load],
        "library_build_type": "debug" if environment.get("assertions") else "release",
        "cpu_time": "not measured: 0 everywhere",
        "invalid": [f"{name_of(each)}: {error_of(each)}" for each in invalid(record)],
        "credible": not record.doubts,
        "not_credible_because": "; ".join(record.doubts),
    }
    known = {name: value for name, value in context.items() if value is not None}
    runs = [run for result in compared(record) for run in google_runs(result)]
    return json.dumps({"context": known, "benchmarks": runs}, indent=2) + "\n"


def compared(record):
    """The results that other tools may compare: valid times, without demonstrations."""
    return [each for each in record.results if is_time(each) and not is_invalid(each)]


def invalid(record):
    return [each for each in record.results if is_time(each) and is_invalid(each)]


def is_time(result):
    return unit(result) == "ns" and result["kind"] != OVERFLOW


def name_of(result):
    return f"{result['scenario']}/{result['subject']}"


def error_of(result):
    return result.get("error") or "INVALID"


def google_runs(result):
    name = name_of(result)
    common = {
        "name": name,
        "run_name": name,
        "threads": result["params"].get("producers", 0) + 1,
        "cpu_time": 0.0,
        "time_unit": "ns",
    }
    values = rounds(result)
    repetitions = [
        {
            **common,
            "run_type": "iteration",
            "repetitions": len(values),
            "repetition_index": index,
            "iterations": result["counts"]["delivered"] // max(len(values), 1),
            "real_time": value,
            "label": " ".join(result["flags"]),
        }
        for index, value in enumerate(values)
    ]
    if has_samples(result):
        return repetitions  # its statistics are of single times, not of rounds
    aggregates = {"mean": "mean", "median": "median", "stddev": "stddev", "cv": "cv"}
    return repetitions + [
        {
            **common,
            "name": f"{name}_{aggregate}",
            "run_type": "aggregate",
            "aggregate_name": aggregate,
            "aggregate_unit": "percentage" if statistic == "cv" else "time",
            "repetitions": len(values),
            "iterations": len(values),
            "real_time": stat(result, statistic),
        }
        for aggregate, statistic in aggregates.items()
    ]


def go_lines(record):
    """The lines of `go test -bench`, for benchstat."""
    lines = [f"cpu: {record.environment.get('cpu')}"]
    for result in compared(record):
        name = f"Benchmark/{name_of(result)}".replace(" ", "_")
        lines += [f"{name} 1 {value} ns/op" for value in rounds(result)]
    return "\n".join(lines) + "\n"


def comma_separated(record):
    """One line for every measured round."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["suite", "scenario", "kind", "subject", "round", "value", "unit", "flags"])
    for result in record.results:
        for index, value in enumerate(rounds(result)):
            names = [result[name] for name in ("suite", "scenario", "kind", "subject")]
            writer.writerow([*names, index, value, unit(result), " ".join(result["flags"])])
    return text.getvalue()


FORMATS = {"google": google_benchmark, "go": go_lines, "csv": comma_separated}
