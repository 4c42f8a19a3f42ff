"""Compiles the public headers alone for another system by clang, builds the unit tests, and runs them if
this machine can. Prints the tables of docs/platforms.md.

    cross.py musl|macos|windows BUILD [MODULE...]

The compiler is `zig c++` of build/venv, which has the headers and libraries of these systems. Programs
for musl are static and run here; those for macOS are linked for both its processors, and not run. The
tests for Windows are run by windows.py. Without modules all of them are built. `headers` in the list
compiles the headers of a module together, and leaves out the tests. `hostwatch` stands for the demo, as a
static program that runs on any Linux.
"""

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
    """One target of the compiler: its folder, the log and the workers of a run."""

    def __init__(self, triple, folder, log, pool, options=()):
        self.folder = folder
        self.log = log
        self.pool = pool
        self.compiler = [*ZIG, "-target", triple, *OPTIONS, *options]
        self.flags = [*FLAGS, *LIBRARY_FLAGS, "-isystem", linked_libraries(folder)]

    def compiled_headers(self, module, are_alone=True):
        """The number of the module's headers that compile, and the number that was tried."""
        headers = headers_of(module)
        groups = [[header] for header in headers] if are_alone else together(headers)
        good = self.pool.map(self.compile_headers, groups)
        return sum(len(group) for group, is_good in zip(groups, good) if is_good), len(headers)

    def compile_headers(self, headers):
        source = self.folder / f"{headers[0].replace('/', '_')}.cpp"
        source.write_text(source_of(headers), encoding="utf-8")
        return run([*self.compiler, *self.flags, "-c", source, "-o", source.with_suffix(".o")], self.log)

    def compile(self, source):
        """The object of one source, or None."""
        target = self.folder / f"{source.parent.name}_{source.stem}.o"
        own = ["-w", f"-I{GOOGLETEST}"] if GOOGLETEST in source.parents else self.flags
        command = [*self.compiler, "-isystem", GOOGLETEST / "include", *own, "-c", source, "-o", target]
        return target if run(command, self.log) else None

    def compiled_support(self):
        """The objects that each program of tests needs."""
        sources = [GOOGLETEST / "src/gtest-all.cc"]
        sources += [ROOT / "tests/support" / name for name in ("test_main.cpp", "watchdog.cpp")]
        objects = list(self.pool.map(self.compile, sources))
        if None in objects:
            sys.exit("the tests' support does not compile")
        return objects

    def link(self, objects, program, *options):
        return run([*self.compiler, *options, *objects, "-o", program], self.log)

    def execute(self, command, **options):
        """The numbers of tests that passed and that failed. The program is stopped after TEST_LIMIT."""
        try:
            output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    errors="replace", check=False, timeout=TEST_LIMIT, **options).stdout
        except subprocess.TimeoutExpired as late:
            output = late.stdout or b""
            output = output if isinstance(output, str) else output.decode(errors="replace")
        self.log.write(output)
        counts = {word: int(count) for word, count in SUMMARY.findall(output)}
        broke = "PASSED" not in counts  # a program that crashes or hangs prints no summary
        return counts.get("PASSED", 0), counts.get("FAILED", 0) + broke


class SystemTarget(Target):
    """A target of one of the SYSTEMS."""

    def __init__(self, system, triple, folder, log, pool):
        super().__init__(triple, folder / triple, log, pool, system.flags)
        self.system = system

    def built_demo(self):
        """True if the host watcher is built and runs. The static program needs no file of this machine."""
        folder = ROOT / "examples/hostwatch"
        program = self.folder / "hostwatch"
        command = [*self.compiler, *self.flags, "-Os", "-s", "-w", f"-I{folder}", f"-I{folder.parent}"]
        return (run([*command, *sorted(folder.glob("*.cpp")), "-o", program], self.log) and
                run([program, "--seconds", "1"], self.log))

    def run_tests(self, module, support):
        """(sources built, sources, outcome, failures) of the module's unit tests."""
        sources = sorted((ROOT / "tests/unit" / module).glob("*_test.cpp"))
        wanted = [source for source in sources if source.stem not in self.system.no_tests | NEEDS_CMAKE]
        objects = [done for done in self.pool.map(self.compile, wanted) if done]
        missing = len(wanted) - len(objects)
        program = self.folder / f"{module}_test"
        if not self.link([*support, *objects], program):
            return len(objects), len(sources), "not linked", missing + 1
        if not self.system.runs_here:
            return len(objects), len(sources), "linked, not run", missing
        passed, failed = self.execute([program])
        return len(objects), len(sources), f"{passed} passed, {failed} failed", missing + failed


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
            built, sources, outcome, wrong = target.run_tests(module, support)
            row += f" {built} of {sources} | {outcome} |"
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
        for triple in system.triples:
            print(f"{triple}:\n", flush=True)
            counts = run_target(SystemTarget(system, triple, folder, log, pool), wanted)
            passed += counts[0]
            failed += counts[1]
            print(flush=True)
    if failed:
        print(f"what failed: {folder / 'log.txt'}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main(sys.argv[1:])
