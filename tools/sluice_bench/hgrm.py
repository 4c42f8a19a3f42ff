"""Latencies in the percentile text of HdrHistogram, which its plotters read: a file for each result."""

import math
import re
from pathlib import Path

import numpy as np

from .record import BadInput, is_invalid

# As in HdrHistogram: this many lines for each half of the rest to 100 %.
TICKS_PER_HALF = 5


def write_all(record, folder):
    """Writes the files and returns their paths."""
    folder = Path(folder)
    with_histograms = [
        each for each in record.results if each.get("histogram") and not is_invalid(each)
    ]
    if not with_histograms:
        raise BadInput(f"{record.source} holds no latencies")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{file_name(each)}.hgrm" for each in with_histograms]
        for path, result in zip(paths, with_histograms):
            path.write_text(text_of(result), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {folder}: {error.strerror}") from None
    return paths


def file_name(result):
    """The name without the characters that a file name cannot have."""
    return re.sub(r"[^\w.-]+", "_", f"{result['scenario']}_{result['subject']}")


def text_of(result):
    """The values are nanoseconds: the upper ends of the buckets in which the percentiles lie."""
    buckets = np.asarray(result["histogram"], dtype=float)
    reached = np.cumsum(buckets[:, 2])
    total = reached[-1]
    lines = ["       Value     Percentile TotalCount 1/(1-Percentile)", ""]
    for share in shares(total):
        at = min(int(np.searchsorted(reached, share * total - 1e-9)), len(buckets) - 1)
        rarity = f"{1 / (1 - share):.2f}" if share < 1 else "inf"
        lines.append(f"{buckets[at, 1]:12.3f} {share:2.12f} {int(reached[at]):10d} {rarity:>14}")
    middles = buckets[:, :2].mean(axis=1)
    mean = float(np.average(middles, weights=buckets[:, 2]))
    spread = math.sqrt(float(np.average((middles - mean) ** 2, weights=buckets[:, 2])))
    lines += [
        f"#[Mean    = {mean:12.3f}, StdDeviation   = {spread:12.3f}]",
        f"#[Max     = {buckets[-1, 1]:12.3f}, Total count    = {int(total):12d}]",
        f"#[Buckets = {len(buckets):12d}, SubBuckets     = {1:12d}]",
    ]
    return "\n".join(lines) + "\n"


def shares(total):
    """From 0 to 1, closer together towards 1, until less than one value is left."""
    found, share = [], 0.0
    while (1 - share) * total >= 1:
        found.append(share)
        halvings = math.floor(-math.log2(1 - share) + 1e-9)
        share += 1 / (2 ** (halvings + 1) * TICKS_PER_HALF)
    return [*found, 1.0]
