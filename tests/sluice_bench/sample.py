"""Files of measurements made up for tests. The program could have written them."""

import copy
import json

import numpy as np

QUESTIONS = {
    "features_aligned": "Are the features of the subjects aligned, or their differences shown?",
    "overflow_controlled": "Is no refused push counted as throughput?",
    "clock_overhead": "Does reading the clock cost less than 1 % of what is timed?",
    "rounds_and_warmups": "Were there at least 3 warm-ups and 10 rounds?",
    "pinned": "Was every thread pinned to a CPU?",
    "flags_uniform": "Were all sources compiled with the same flags, and is each prebuilt library named?",
    "p99_and_stddev_reported": "Are P99 and standard deviation reported?",
}

ENVIRONMENT = {
    "cpu": "Made-up CPU",
    "cpus": [0, 1],
    "governor": "performance",
    "mhz": 3200.0,
    "l3_kib": 32768,
    "program_hash": "89abcdef01234567",
    "virtual_machine": False,
    "kernel": "Linux 6.1 x86_64",
    "clock_source": "tsc",
    "compiler": "g++ 12.2.0",
    "flags": "-O3 -DNDEBUG",
    "assertions": False,
    "sanitized": False,
    "started_at": "2026-01-02T03:04:05Z",
    "clock_ns": 20.0,
    "git_commit": "0123456789abcdef",
    "git_dirty": False,
    "topology": [{"cpu": 0, "core": 0, "package": 0, "numa_node": None, "smt_siblings": []}],
    "perf_counters": {"available": True, "reason": None},
}

MEMBERS = ["ours/Ring", "ours/Ring/paced", "peer/<queue> & co", "peer/Slow"]
ABSENT = "absent/Queue"


def subject(identity, ours=False, absent=None):
    return {
        "id": identity,
        "library": identity.split("/")[0],
        "version": None if ours else "1.2",
        "ours": ours,
        "present": absent is None,
        "absent_because": absent,
        "use": "push and pop",
        "pacing": "harvest" if identity.endswith("/paced") else "none",
        "features": {
            "topology": "spsc" if ours else "mpmc",
            "bound": "exact",
            "order": None,
            "allocates": not ours,
            "in_place": True,
        },
    }


def statistics(values, unit="ns"):
    values = np.asarray(values, dtype=float)
    named = {
        "median": np.median(values),
        "mean": values.mean(),
        "stddev": values.std(ddof=1),
        "p50": np.percentile(values, 50),
        "p95": np.percentile(values, 95),
        "p99": np.percentile(values, 99),
        "p999": np.percentile(values, 99.9),
        "min": values.min(),
        "max": values.max(),
    }
    stats = {f"{name}_{unit}": float(value) for name, value in named.items()}
    return {"samples": len(values), "cv": float(values.std(ddof=1) / values.mean()), **stats}


def counts(attempted, rejected=0):
    accepted = attempted - rejected
    return {
        "planned": attempted,
        "attempted": attempted,
        "accepted": accepted,
        "rejected": rejected,
        "dropped": 0,
        "delivered": accepted,
        "disorder": 0,
    }


def result(scenario, identity, ns, kind="e2e-throughput", *, rejected=0, section="", processes=1, **params):
    """A valid result with the rounds `ns`."""
    each = {
        "suite": "queues",
        "scenario": scenario,
        "kind": kind,
        "subject": identity,
        "params": {"message_bytes": 64, "capacity": 4096, "producers": 1, **params},
        "counts": counts(1000 * len(ns), rejected),
        "involuntary_switches": 0,
        "rounds_ns": [float(value) for value in ns],
        "stats": statistics(ns),
        "per_message": {"allocations": 0.0},
        "error": None,
        "flags": [],
        "layer": "queue between threads",
        "section": section,
        "rounds": [
            {
                "index": index, "process": index * processes // len(ns), "ns": float(value), "counts": counts(1000),
                "allocations": None, "perf": {"instructions": int(40 * 1000 * value), "cycles": None},
            }  # fmt: skip
            for index, value in enumerate(ns)
        ],
    }
    if kind == "overflow":
        each["flags"].append("OVERFLOW")
    return each


def latency(scenario, identity, samples, kind="loaded-latency", **params):
    """A valid result with latency samples, one row for each round."""
    samples = np.asarray(samples, dtype=float)
    each = result(scenario, identity, np.median(samples, axis=1), kind, **params)
    each["stats"] = statistics(samples.ravel())
    each["rounds_p99_ns"] = [float(value) for value in np.percentile(samples, 99, axis=1)]
    each["counts"]["timed_out"] = 0
    if kind == "loaded-latency":
        each["rounds_send_interval_ns"] = [20.0] * len(samples)
    amounts, edges = np.histogram(samples, np.geomspace(samples.min(), samples.max() * 1.01, 200))
    each["histogram"] = [
        [float(low), float(high), int(amount)]
        for low, high, amount in zip(edges, edges[1:], amounts)
        if amount
    ]
    return each


def failed(scenario, identity):
    each = result(scenario, identity, [1.0, 1.0])
    each.update(stats=None, rounds_ns=[], rounds=[], flags=["INVALID"], error="2 messages were lost")
    return each


def comparison(scenario, identity, baseline, ratio=0.5, verdict="faster"):
    return {
        "scenario": scenario, "subject": identity, "baseline": baseline, "role": "best peer as documented",
        "ratio": ratio, "ratio_min": ratio * 0.9, "ratio_max": ratio * 1.1, "kind": "e2e-throughput",
        "ci_low": ratio * 0.95, "ci_high": ratio * 1.05, "noise_floor": 1.01, "verdict": verdict,
        "feature_differences": ["topology: spsc / mpmc"],
    }  # fmt: skip


def noise(seed, median, rounds=10, cv=0.03):
    """Rounds about a median, as skewed as times are."""
    random = np.random.default_rng(seed)
    return median * random.lognormal(0, cv, rounds)


def checklist(passed=True):
    return [
        {"id": name, "question": question, "pass": passed, "detail": "made up"}
        for name, question in QUESTIONS.items()
    ]


def content(results, subjects=None, credible=True, **more):
    """A whole file, credible unless told otherwise."""
    names = dict.fromkeys(each["subject"] for each in results)
    return {
        "schema": 1,
        "run": {
            "quick": False, "warmups": 3, "rounds": 10, "order": "interleaved, rotating", "suite": "queues",
            "arguments": ["queues", "--json", "before.json", "--rounds", "10"],
        },  # fmt: skip
        "environment": copy.deepcopy(ENVIRONMENT),
        "machine": [],
        "subjects": subjects or [subject(name, name.startswith("ours/")) for name in names],
        "results": results,
        "comparisons": [],
        "targets": [],
        "noise_floor": [{"scenario": name, "floor": 1.0} for name in {each["scenario"]: 0 for each in results}],
        "checklist": checklist(credible),
        "credible": credible,
        "not_credible_because": [] if credible else ["it was made up"],
        **more,
    }


def whole():
    """One of everything that a page has to show."""
    results = []
    for place, name in enumerate(MEMBERS[:3]):
        results.append(result("spsc-64B", name, noise(place, 9 + 15 * place)))
        results.append(result("raw-64B", name, noise(place, 5 + place), "raw-enqueue", section="control group"))
        results.append(result("over-64B", name, noise(place, 2), "overflow", rejected=8720, section="control group"))
        for size in (8, 64, 4096):
            rounds = noise(place, 5 + size / 9)
            results.append(result(f"size-{size}", name, rounds, section="message size", message_bytes=size))
        for load in (0.1, 0.5, 0.9, 1.2):
            results.append(latency(f"load-{load}", name, spread(place, load), section="load", load=load))
        results.append(latency("idle-64B", name, spread(place, 0.1), "idle-latency"))
    unreliable = result("spsc-64B", MEMBERS[3], noise(9, 900, cv=0.8))
    unreliable["flags"].append("UNRELIABLE")
    resident = result("resident-64B", MEMBERS[0], [1.0, 1.0], "resident-memory")
    resident["rounds_mib"] = resident.pop("rounds_ns")
    resident["stats"] = statistics([1.0, 1.5], "mib")
    results += [unreliable, failed("size-8", MEMBERS[3]), resident]
    subjects = [subject(name, name.startswith("ours/")) for name in MEMBERS]
    subjects.append(subject(ABSENT, absent="not compiled in; configure with -DABSENT=<folder>"))
    return content(
        results,
        subjects,
        credible=False,
        checklist=checklist(),
        not_credible_because=["1 result is INVALID", "1 result is UNRELIABLE"],
        comparisons=[
            comparison("spsc-64B", MEMBERS[0], MEMBERS[2]),
            comparison("spsc-64B", MEMBERS[3], MEMBERS[2], 30.0, "slower"),
        ],
        targets=[
            {"scenario": "spsc-64B", "subject": MEMBERS[0], "baseline": MEMBERS[2],
             "at_most": 0.8, "ratio": 0.5, "met": True}
        ],
        noise_floor=[
            {"scenario": "spsc-64B", "subject": MEMBERS[0], "ratio": 1.0, "ci_low": 0.99,
             "ci_high": 1.01, "floor": 1.01}
        ],
        machine=[{"scenario": "spsc-64B", "steady": False, "stolen_share": 0.03}],
    )  # fmt: skip


def spread(seed, load, rounds=10, messages=500):
    random = np.random.default_rng(seed)
    return 200 / (1.3 - load) ** 2 * random.lognormal(0, 0.8, (rounds, messages))


def save(path, made):
    path.write_text(json.dumps(made), encoding="utf-8")
    return path
