"""The results in the formats of other tools."""

import csv
import io
import json

from .record import OVERFLOW, has_samples, is_invalid, rounds, stat, unit


def google_benchmark(record):
    """What --benchmark_format=json writes: every round is a repetition, so compare.py can test."""
    environment = record.environment
    context = {
        "date": environment.get("started_at"),
        "host_name": environment.get("cpu"),
        "executable": "sluice_bench",
        "num_cpus": len(environment["cpus"]),
        "mhz_per_cpu": round(environment.get("mhz") or 0),
        "cpu_scaling_enabled": (environment.get("governor") or "performance") != "performance",
        "aslr_enabled": environment.get("aslr"),
        "caches": [],
        "load_avg": [environment["load_average"]] if environment.get("load_average") else [],
        "library_build_type": "debug" if environment.get("assertions") else "release",
        "credible": not record.doubts,
        "not_credible_because": "; ".join(record.doubts),
    }
    runs = [run for result in compared(record) for run in google_runs(result)]
    return json.dumps({"context": context, "benchmarks": runs}, indent=2) + "\n"


def compared(record):
    """What other tools may put side by side: times, and no demonstrations."""
    return [
        each for each in record.results if unit(each) == "ns" and each["kind"] != OVERFLOW
    ]


def google_runs(result):
    name = f"{result['scenario']}/{result['subject']}"
    common = {"name": name, "run_name": name, "threads": result["params"].get("producers", 0) + 1}
    if is_invalid(result):
        message = result.get("error") or "INVALID"
        return [
            {**common, "run_type": "iteration", "error_occurred": True, "error_message": message}
        ]
    values = rounds(result)
    repetitions = [
        {
            **common,
            "run_type": "iteration",
            "repetitions": len(values),
            "repetition_index": index,
            "iterations": result["counts"]["delivered"] // max(len(values), 1),
            "real_time": value,
            "cpu_time": value,
            "time_unit": "ns",
            "label": " ".join(result["flags"]),
        }
        for index, value in enumerate(values)
    ]
    if has_samples(result):
        return repetitions  # its statistics are over single times, and not over these
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
            "cpu_time": stat(result, statistic),
            "time_unit": "ns",
        }
        for aggregate, statistic in aggregates.items()
    ]


def go_lines(record):
    """The lines of `go test -bench`, for benchstat."""
    lines = [f"cpu: {record.environment.get('cpu')}"]
    for result in compared(record):
        if not is_invalid(result):
            name = f"Benchmark/{result['scenario']}/{result['subject']}".replace(" ", "_")
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
