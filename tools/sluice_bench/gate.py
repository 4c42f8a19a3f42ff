"""Whether a change made something slower than allowed."""

from dataclasses import dataclass

from .compare import ALLOCATIONS, changes
from .record import ARE_INVALID, BadInput

# The outcomes of changes without a ratio. A growth from 0 is a regression, like an invalid result.
# A result that is gone, or was measured differently, cannot be compared.
WITHOUT_RATIO = {
    "from none": "regression",
    "invalid": "regression",
    "to none": "improvement",
    "missing": "undecided",
    "parameters differ": "undecided",
    "another rate": "undecided",
    "not measured": "undecided",
}


@dataclass(frozen=True)
class Judgement:
    change: object
    outcome: str  # "regression", "improvement", "pass", "undecided" or why there is none


def gate(base, new, threshold, metric="time"):
    """Judges every result. `threshold` is a share: 0.05 allows five per cent."""
    # Allocations are counted in processes of their own, which measure no time.
    if metric != ALLOCATIONS:
        # Invalid results of the new file are not refused here: the gate reports each of them.
        refuse(base, base.doubts)
        refuse(new, [doubt for doubt in new.doubts if not doubt.endswith(ARE_INVALID)])
    table = [each for each in changes(base, new, metric) if each.problem != f"no {metric}"]
    return [Judgement(change, outcome(change, threshold)) for change in table]


def refuse(record, doubts):
    if doubts:
        raise BadInput(f"{record.source} is not credible: {'; '.join(doubts)}")


def outcome(change, threshold):
    if change.doubt:
        return "undecided"
    if change.ratio is None:
        return WITHOUT_RATIO.get(change.problem, change.problem)
    limit = max(1 + threshold, change.floor or 1.0)
    sure = change.ratio.p <= 1 - change.level
    if sure and change.ratio.low > limit:
        return "regression"
    if sure and change.ratio.high < 1 / limit:
        return "improvement"
    return "pass" if change.ratio.high <= 1 + threshold else "undecided"
