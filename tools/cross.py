"""Compiles the public headers alone for another system by clang, builds the unit tests, and runs them if
this machine can. Prints the tables of docs/platforms.md.

    cross.py musl|macos|windows BUILD [MODULE...]

The compiler is `zig c++` of build/venv, which has the headers and libraries of these systems. Programs
for musl are static and run here; those for macOS are linked for both its processors, and not run. The
tests for Windows are run by windows.py. Without modules all of them are built. `headers` in the list
compiles the headers of a module together, and leaves out the tests. `hostwatch` stands for the demo, as a
static program that runs on any Linux.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from compilers import (FLAGS, GOOGLETEST, LIBRARY_FLAGS, ROOT, ZIG, headers_of, linked_libraries, run, source_of,
                       together)

# -O1 defines NDEBUG there.
OPTIONS = ["-std=c++17", "-O1", "-UNDEBUG", "-g0"]
MODULES = ("base", "fixed", "wait", "queue", "memory", "event", "eventpp", "bus", "wire", "actor", "inspect", "log")
TEST_LIMIT = 900  # seconds of one program
SUMMARY = re.compile(r"^\[  (PASSED|SKIPPED|FAILED)  ?\] (\d+) tests?", re.MULTILINE)


class System(NamedTuple):
    """The differences between the systems."""

    triples: tuple  # the targets of the compiler
    runs_here: bool = False
    flags: tuple = ()
    no_tests: frozenset = frozenset()  # of features that the system lacks


NEEDS_CMAKE = {"version_test"}


SYSTEMS = {
    # spdlog 1.10 calls stat64().
    "musl": System(("x86_64-linux-musl",), True, ("-static", "-D_LARGEFILE64_SOURCE")),
    # -O0 is enough for programs that do not run, and faster.
    "macos": System(("aarch64-macos", "x86_64-macos"), flags=("-O0", "-fno-sanitize=undefined"),
                    no_tests=frozenset({"event_fd_wait_test"})),
    "windows": System(("x86_64-windows-gnu",)),
}


class Target:
    """One target of the compiler: its folder, the log, the workers of a run, and what it leaves out."""

    def __init__(self, triple, folder, log, pool, no_tests, options=()):
        self.folder = folder
        self.log = log
        self.pool = pool
        self.no_tests = no_tests | NEEDS_CMAKE
        self.left_out = []  # sources that were not tried
        self.broken = []  # headers, sources and programs that do not compile, link or end with status 0
        self.compiler = [*ZIG, "-target", triple, *OPTIONS, *options]
        # fmt 9 calls enumerations deprecated.
        self.flags = [*FLAGS, *LIBRARY_FLAGS, "-DFMT_DEPRECATED=", "-isystem", linked_libraries(folder)]

    def compiled_headers(self, module, are_alone=True):
        """The number of the module's headers that compile, and the number that was tried."""
        headers = headers_of(module)
        groups = [[header] for header in headers] if are_alone else together(headers)
        good = self.pool.map(self.compile_headers, groups)
        return sum(len(group) for group, is_good in zip(groups, good) if is_good), len(headers)

    def compile_headers(self, headers):
        source = self.folder / f"{headers[0].replace('/', '_')}.cpp"
        source.write_text(source_of(headers), encoding="utf-8")
        command = [*self.compiler, *self.flags, "-c", source, "-o", source.with_suffix(".o")]
        return self.noted(run(command, self.log), *headers)

    def noted(self, is_good, *names):
        """is_good. Otherwise the names are told at the end, also if the command gave no message."""
        self.broken += [] if is_good else names
        return is_good

    def compile(self, source):
        """The object of one source, or None."""
        target = self.folder / f"{source.parent.name}_{source.stem}.o"
        own = ["-w", f"-I{GOOGLETEST}"] if GOOGLETEST in source.parents else self.flags
        command = [*self.compiler, "-isystem", GOOGLETEST / "include", *own, "-c", source, "-o", target]
        return target if self.noted(run(command, self.log), source.name) else None

    def sources_of(self, module):
        """The sources of the module's unit tests, but for those left out, and the number of all."""
        sources = sorted((ROOT / "tests/unit" / module).glob("*_test.cpp"))
        self.left_out += [source.stem for source in sources if source.stem in self.no_tests]
        return [source for source in sources if source.stem not in self.no_tests], len(sources)

    def compiled_support(self):
        """The objects that each program of tests needs."""
        sources = [GOOGLETEST / "src/gtest-all.cc"]
        sources += [ROOT / "tests/support" / name for name in ("test_main.cpp", "watchdog.cpp")]
        objects = list(self.pool.map(self.compile, sources))
        if None in objects:
            sys.exit("the tests' support does not compile")
        return objects

    def link(self, objects, program, *options):
        return self.noted(run([*self.compiler, *options, *objects, "-o", program], self.log), program.name)

    def execute(self, command, **options):
        """The numbers of tests that passed and that failed: in the last of SLUICE_TEST_RUNS runs, or in the
        first that fails."""
        passed, failed = 0, 0
        for _ in range(int(os.environ.get("SLUICE_TEST_RUNS", "1"))):
            passed, failed = self.execute_once(command, **options)
            if failed:
                break
        return passed, failed

    def execute_once(self, command, **options):
        """The same for one run, which is stopped after TEST_LIMIT."""
        status = "no end"
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", check=False, timeout=TEST_LIMIT, **options)
            output, status = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            output = late.stdout or b""
            output = output if isinstance(output, str) else output.decode(errors="replace")
        self.log.write(f"{output}{command[-1]}: status {status}\n")
        counts = {word: int(count) for word, count in SUMMARY.findall(output)}
        # A program that crashes prints no summary, or ends with another status behind it.
        broke = "PASSED" not in counts or (status != 0 and "FAILED" not in counts)
        self.noted(status == 0, Path(command[-1]).name)
        return counts.get("PASSED", 0), counts.get("FAILED", 0) + broke


class SystemTarget(Target):
    """A target of one of the SYSTEMS."""

    def __init__(self, system, triple, folder, log, pool):
        super().__init__(triple, folder / triple, log, pool, system.no_tests, system.flags)
        self.system = system

    def built_demo(self):
        """True if the host watcher is built and runs. The static program needs no file of this machine."""
        folder = ROOT / "examples/hostwatch"
        program = self.folder / "hostwatch"
        command = [*self.compiler, *self.flags, "-Os", "-s", "-w", f"-I{folder}", f"-I{folder.parent}"]
        return (run([*command, *sorted(folder.glob("*.cpp")), "-o", program], self.log) and
                run([program, "--seconds", "1"], self.log))

    def run_tests(self, module, support):
        """(sources built, sources, outcome, passed, failures) of the module's unit tests."""
        wanted, sources = self.sources_of(module)
        objects = [done for done in self.pool.map(self.compile, wanted) if done]
        missing = len(wanted) - len(objects)
        program = self.folder / f"{module}_test"
        if not self.link([*support, *objects], program):
            return len(objects), sources, "not linked", 0, missing + 1
        if not self.system.runs_here:
            return len(objects), sources, "linked, not run", 0, missing
        passed, failed = self.execute([program])
        return len(objects), sources, f"{passed} passed, {failed} failed", passed, missing + failed


def finish(targets, passed, failed, log):
    """Names what was left out and what failed, and ends the program."""
    left_out = sorted({name for target in targets for name in target.left_out})
    if left_out:
        print(f"left out: {', '.join(left_out)}")
    if failed:
        broken = ", ".join(dict.fromkeys(name for target in targets for name in target.broken))
        print(f"what failed: {broken}; see {log}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


def run_target(target, wanted):
    """Prints the table of one target. Returns the numbers of steps that succeeded and that failed."""
    support = []
    has_tests = "headers" not in wanted
    if has_tests and set(wanted) & set(MODULES):
        support = target.compiled_support()
    print("| module | headers compiled | sources of tests built | tests |\n|---|---|---|---|", flush=True)
    done = 0
    failed = 0
    for module in wanted:
        if module not in MODULES:
            continue
        good, total = target.compiled_headers(module, has_tests)
        row = f"| `{module}` | {good} of {total} |"
        failed += total - good
        if support:
            built, sources, outcome, right, wrong = target.run_tests(module, support)
            row += f" {built} of {sources} | {outcome} |"
            done += right
            failed += wrong
        else:
            row += " - | - |"
        print(row, flush=True)
        done += good
    if "hostwatch" in wanted and target.system.runs_here:
        is_built = target.built_demo()
        print(f"\nhostwatch: {'built and run' if is_built else 'FAILED'}: {target.folder / 'hostwatch'}", flush=True)
        done += is_built
        failed += not is_built
    return done, failed


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in SYSTEMS:
        sys.exit(__doc__)
    system = SYSTEMS[arguments[0]]
    folder = Path(arguments[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = arguments[2:]
    if not set(wanted) & {*MODULES, "hostwatch"}:
        wanted += MODULES if "headers" in wanted else (*MODULES, "hostwatch")
    passed = 0
    failed = 0
    with open(folder / "log.txt", "w", 1, encoding="utf-8") as log, ThreadPoolExecutor(2) as pool:
        targets = [SystemTarget(system, triple, folder, log, pool) for triple in system.triples]
        for target in targets:
            print(f"{target.folder.name}:\n", flush=True)
            counts = run_target(target, wanted)
            passed += counts[0]
            failed += counts[1]
            print(flush=True)
    finish(targets, passed, failed, folder / "log.txt")


if __name__ == "__main__":
    main(sys.argv[1:])
