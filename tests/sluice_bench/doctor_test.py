"""Machines planted in a folder: each thing that spoils measurements is named with its remedy."""

import pytest
from sluice_bench import doctor, facts

CPU = "sys/devices/system/cpu"
GOVERNOR = f"{CPU}/cpu0/cpufreq/scaling_governor"
MELTDOWN = f"{CPU}/vulnerabilities/meltdown"
HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
QUOTA = "sys/fs/cgroup/user.slice/cpu.max"
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
QUIET = {
    GOVERNOR: "performance",
    f"{CPU}/cpufreq/boost": "0",
    f"{CPU}/smt/active": "0",
    f"{CPU}/isolated": "2-3",
    MELTDOWN: "Not affected",
    "proc/sys/kernel/randomize_va_space": "0",
    HUGE_PAGES: "always [madvise] never",
    "proc/cpuinfo": "flags : fpu vme",
    "proc/stat": "cpu  100 0 100 9800 0 0 0 0 0 0",
    "proc/loadavg": "0.10 0.20 0.30 1/100 1234",
    "proc/cmdline": "root=x isolcpus=2-3 nohz_full=2-3",
    "proc/self/cgroup": "0::/user.slice/session",
    "proc/sys/kernel/perf_event_paranoid": "1",
    QUOTA: "max 100000",
    "sys/fs/cgroup/user.slice/session/cpu.max": "max 100000",
    "sys/class/power_supply/BAT0/status": "Charging",
    CLOCK: "tsc",
}


@pytest.fixture
def examine(tmp_path):
    def planted(changes=(), cpus=(0, 1)):
        for path, text in {**QUIET, **dict(changes)}.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n", encoding="utf-8")
        return doctor.examine(facts.of_machine(facts.Machine(tmp_path), list(cpus)))

    return planted


def test_a_quiet_machine_has_nothing(examine):
    assert examine() == []


@pytest.mark.parametrize(
    ("path", "text", "grade", "what", "command"),
    [
        (GOVERNOR, "powersave", "disturbs", "governor is 'powersave'", "cpupower"),
        (f"{CPU}/cpufreq/boost", "1", "disturbs", "turbo is on", "cpufreq/boost"),
        (f"{CPU}/intel_pstate/no_turbo", "0", "disturbs", "turbo is on", "no_turbo"),
        (f"{CPU}/smt/active", "1", "disturbs", "two threads each", "smt/control"),
        (f"{CPU}/isolated", "", "note", "no CPU is isolated", "isolcpus"),
        ("proc/cmdline", "root=x isolcpus=2-3", "note", "timer tick", "nohz_full"),
        (MELTDOWN, "Mitigation: PTI", "note", "meltdown", "mitigations=off"),
        ("proc/sys/kernel/randomize_va_space", "2", "note", "ASLR", "setarch -R"),
        (HUGE_PAGES, "[always] madvise never", "disturbs", "'always'", "hugepage/enabled"),
        ("proc/cpuinfo", "flags : fpu hypervisor lm", "disturbs", "virtual machine", "no command"),
        ("proc/stat", "cpu  100 0 100 9000 0 0 0 800 0 0", "spoils", "8.0%", "no command"),
        ("proc/loadavg", "1.50 1 1 1/100 1", "spoils", "1.5 CPUs busy", "ps -eo"),
        ("proc/sys/kernel/perf_event_paranoid", "4", "note", "may not be counted", "sysctl"),
        (QUOTA, "150000 100000", "spoils", "allows 1.5 CPUs", "CPUQuota"),
        ("sys/class/power_supply/BAT0/status", "Discharging", "spoils", "battery", "plug it in"),
        (CLOCK, "hpet", "disturbs", "'hpet'", "current_clocksource"),
    ],
)
def test_names_what_spoils_and_what_mends_it(examine, path, text, grade, what, command):
    findings = examine({path: text})
    assert len(findings) == 1
    assert findings[0].grade == grade
    assert what in findings[0].what
    assert command in findings[0].command


@pytest.mark.parametrize(
    ("environment", "what"),
    [
        ({"sanitized": True}, "sanitizer"),
        ({"assertions": True}, "assertions"),
        ({"flags": "-g -O0"}, "without optimisation: -g -O0"),
        ({"flags": "-O3 -O0"}, "without optimisation"),
        ({"flags": "-g"}, "without optimisation"),
        ({"flags_uniform": False}, "same flags"),
    ],
)
def test_a_program_that_was_built_badly(environment, what):
    findings = doctor.examine(environment)
    assert [finding.spoils for finding in findings] == [True]
    assert what in findings[0].what
