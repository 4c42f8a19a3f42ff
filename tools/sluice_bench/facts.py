"""The facts of this machine in /proc and /sys."""

import os
import re
from pathlib import Path

CPU = "sys/devices/system/cpu"


class Machine:
    """Reads below `root`, so that a test can plant another machine there."""

    def __init__(self, root="/"):
        self.root = Path(root)

    def read(self, path):
        """The text of a file; None if the file is missing or empty."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip() or None
        except OSError:
            return None

    def number(self, path):
        text = self.read(path)
        return int(text) if text and re.fullmatch(r"-?\d+", text) else None

    def matches(self, pattern):
        return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern))


def of_machine(machine, cpus=None):
    """The facts that the rules of the doctor look at; None if the kernel does not tell a fact."""
    command_line = machine.read("proc/cmdline") or ""
    load = machine.read("proc/loadavg")
    return {
        "cpus": sorted(os.sched_getaffinity(0)) if cpus is None else cpus,
        "governor": machine.read(f"{CPU}/cpu0/cpufreq/scaling_governor"),
        "turbo": turbo(machine),
        "smt": as_bool(machine.read(f"{CPU}/smt/active")),
        "aslr": as_bool(machine.read("proc/sys/kernel/randomize_va_space")),
        "transparent_huge_pages": bracketed(
            machine.read("sys/kernel/mm/transparent_hugepage/enabled")
        ),
        "virtual_machine": " hypervisor" in (machine.read("proc/cpuinfo") or ""),
        "stolen_share": stolen_share(machine.read("proc/stat")),
        "load_average": float(load.split()[0]) if load else None,
        "clock_source": machine.read(
            "sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
        "cpu_limit": cpu_limit(machine),
        "isolated": machine.read(f"{CPU}/isolated") or "",
        "nohz_full": "nohz_full=" in command_line,
        "mitigations": mitigations(machine),
        "on_battery": on_battery(machine),
        "perf_event_paranoid": machine.number("proc/sys/kernel/perf_event_paranoid"),
    }


def of_record(record):
    """The same facts as far as a file of measurements holds them."""
    environment = dict(record.environment)
    environment.setdefault(
        "stolen_share",
        max((entry.get("stolen_share") or 0 for entry in record.machine), default=None),
    )
    return environment


def as_bool(text):
    return None if text is None else text != "0"


def bracketed(text):
    """The choice in brackets, as in "always [madvise] never"."""
    found = re.search(r"\[(\w+)\]", text or "")
    return found[1] if found else None


def turbo(machine):
    off = machine.number(f"{CPU}/intel_pstate/no_turbo")
    if off is not None:
        return not off
    boost = machine.number(f"{CPU}/cpufreq/boost")
    return None if boost is None else bool(boost)


def stolen_share(stat):
    """The part of all CPU time since the start that the hypervisor gave to others."""
    found = re.match(r"cpu +(.*)", stat or "")
    times = [int(time) for time in found[1].split()[:8]] if found else []
    return times[7] / sum(times) if len(times) == 8 and sum(times) else None


def cpu_limit(machine):
    """CPUs that the control groups of this process allow, or None for no limit."""
    found = re.search(r"^0::/(.*)$", machine.read("proc/self/cgroup") or "", re.MULTILINE)
    limits = []
    if found:
        folder = Path("sys/fs/cgroup") / found[1]
        for group in [folder, *folder.parents]:
            text = machine.read(group / "cpu.max") or ""
            if numbers := re.fullmatch(r"(\d+) (\d+)", text):
                limits.append(int(numbers[1]) / int(numbers[2]))
    return min(limits, default=None)


def mitigations(machine):
    """The weaknesses of the CPU that the kernel works around, which costs time."""
    return [
        path.rsplit("/", 1)[1]
        for path in machine.matches(f"{CPU}/vulnerabilities/*")
        if (machine.read(path) or "").startswith("Mitigation")
    ]


def on_battery(machine):
    states = [machine.read(path) for path in machine.matches("sys/class/power_supply/*/status")]
    return "Discharging" in states
