"""Names the causes of bad measurements, and the command that mends each."""

from dataclasses import dataclass

NO_COMMAND = "no command mends this"


@dataclass(frozen=True)
class Finding:
    grade: str  # "spoils": figures are wrong; "disturbs": they vary more; "note": good to know
    what: str
    why: str
    command: str

    @property
    def spoils(self):
        return self.grade == "spoils"


# (grade, whether it applies, the fact, why the fact matters, the command). An unknown fact is None
# or missing, and gives no finding.
RULES = [
    (
        "spoils",
        lambda facts: facts.get("sanitized"),
        "the program was built with a sanitizer",
        "every memory access costs several times as much",
        "cmake --preset bench && cmake --build --preset bench",
    ),
    (
        "spoils",
        lambda facts: facts.get("assertions"),
        "the program was built with assertions",
        "what is checked in debug builds is part of every figure",
        "cmake --preset bench && cmake --build --preset bench",
    ),
    (
        "spoils",
        lambda facts: is_unoptimised(facts.get("flags")),
        "the program was built without optimisation: {flags}",
        "the compiler decides the figures, and not the code",
        "cmake --preset bench && cmake --build --preset bench",
    ),
    (
        "spoils",
        lambda facts: facts.get("flags_uniform") is False,
        "not all sources were compiled with the same flags",
        "subjects are compared under different conditions",
        "rm -r build/bench && cmake --preset bench && cmake --build --preset bench",
    ),
    (
        "spoils",
        lambda facts: len(facts.get("cpus") or [0, 1]) < 2,
        "this process may use one CPU only",
        "a producer and a consumer then measure the scheduler",
        "taskset -cp 0-$(($(nproc --all) - 1)) $$",
    ),
    (
        "spoils",
        lambda facts: (
            facts.get("cpu_limit") is not None and facts["cpu_limit"] < len(facts.get("cpus") or [])
        ),
        "the control group allows {cpu_limit:g} CPUs",
        "threads are stopped for the rest of every period",
        "systemd-run --scope -p CPUQuota= ./dev bench queues",
    ),
    (
        "spoils",
        lambda facts: (facts.get("stolen_share") or 0) > 0.02,
        "{stolen_share:.1%} of the CPU time went to other virtual machines",
        "pauses of milliseconds fall into the rounds",
        NO_COMMAND + ": measure on a machine of its own",
    ),
    (
        "spoils",
        lambda facts: (facts.get("load_average") or 0) > 0.5,
        "others keep {load_average:g} CPUs busy",
        "they share cores, caches and memory with what is measured",
        "ps -eo pcpu,pid,args --sort=-pcpu | head",
    ),
    (
        "spoils",
        lambda facts: facts.get("on_battery"),
        "the machine runs on its battery",
        "the frequency is held down, and changes",
        NO_COMMAND + ": plug it in",
    ),
    (
        "disturbs",
        lambda facts: facts.get("governor") not in (None, "performance"),
        "the frequency governor is '{governor}'",
        "the first rounds run at another frequency than the last",
        "sudo cpupower frequency-set -g performance",
    ),
    (
        "disturbs",
        lambda facts: facts.get("turbo"),
        "turbo is on",
        "the frequency depends on temperature and on the other cores",
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo  # or: "
        "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
    ),
    (
        "disturbs",
        lambda facts: facts.get("smt"),
        "cores run two threads each (SMT)",
        "two pinned threads may share one core",
        "echo off | sudo tee /sys/devices/system/cpu/smt/control",
    ),
    (
        "disturbs",
        lambda facts: facts.get("clock_source") not in (None, "tsc", "arch_sys_counter"),
        "the clock is '{clock_source}'",
        "reading it costs a system call, a microsecond or so",
        "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    (
        "disturbs",
        lambda facts: facts.get("transparent_huge_pages") == "always",
        "transparent huge pages are 'always'",
        "whether memory lies on a huge page is luck, and its merging takes CPU time",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    (
        "disturbs",
        lambda facts: facts.get("virtual_machine"),
        "this is a virtual machine",
        "its CPUs may be moved to other cores, closer or further apart",
        NO_COMMAND + ": measure on bare metal, or trust ratios of paired rounds only",
    ),
    (
        "note",
        lambda facts: facts.get("aslr"),
        "addresses are random (ASLR)",
        "every process has another layout; several processes average over it, one does not",
        "setarch -R ./dev bench queues",
    ),
    (
        "note",
        lambda facts: facts.get("isolated") == "",
        "no CPU is isolated from the scheduler",
        "other threads may run on the cores that are measured",
        "add isolcpus=<cpus> nohz_full=<cpus> to the kernel's command line, and restart",
    ),
    (
        "note",
        lambda facts: facts.get("isolated") and facts.get("nohz_full") is False,
        "the isolated CPUs still have a timer tick",
        "each is interrupted some hundred times a second",
        "add nohz_full=<cpus> to the kernel's command line, and restart",
    ),
    (
        "note",
        lambda facts: facts.get("mitigations"),
        "the kernel works around weaknesses of the CPU: {mitigations}",
        "system calls and switches cost more than without",
        "keep it as your users have it; mitigations=off on the kernel's command line ends it",
    ),
    (
        "note",
        lambda facts: (facts.get("perf_event_paranoid") or 0) > 2,
        "instructions and cycles may not be counted",
        "a change of a few per cent is then seen in times only, which vary more",
        "sudo sysctl kernel.perf_event_paranoid=2",
    ),
]

GRADES = ["spoils", "disturbs", "note"]


def is_unoptimised(flags):
    if not flags:
        return False
    levels = [flag for flag in flags.split() if flag.startswith("-O")]
    return not levels or levels[-1] in ("-O0", "-Og")


def examine(facts):
    """The findings, the worst first."""
    shown = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in facts.items()
    }
    findings = [
        Finding(grade, what.format(**shown), why, command)
        for grade, applies, what, why, command in RULES
        if applies(facts)
    ]
    return sorted(findings, key=lambda finding: GRADES.index(finding.grade))


def describe(findings):
    if not findings:
        return "nothing found that spoils measurements\n"
    text = []
    for finding in findings:
        text += [
            f"{finding.grade}: {finding.what}",
            f"    {finding.why}",
            f"    {finding.command}",
        ]
    return "\n".join(text) + "\n"
