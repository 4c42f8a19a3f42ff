"""Compiles the public headers alone for Windows by clang, runs the unit tests and those of
tests/windows under wine, and prints the table of docs/platforms.md.

    windows.py BUILD [MODULE...]

The compiler is `zig c++` of build/venv, which has the headers and libraries of Windows. Without
modules it runs all of them, and the tests with a DLL, which are `dll` in this list.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.headers import public_headers
from compilers import FLAGS, GOOGLETEST, ROOT, run

ZIG = [ROOT / "build/venv/bin/python", "-m", "ziglang", "c++", "-target", "x86_64-windows-gnu"]
# -O1 defines NDEBUG there.
COMPILER = [*ZIG, "-std=c++17", "-O1", "-UNDEBUG", "-g0"]
WINE = "/usr/lib/wine/wine64"
MODULES = ("base", "fixed", "wait", "queue", "memory", "event", "bus", "wire", "actor", "log")
# Libraries that are headers only, from Debian. Other headers of /usr/include are those of Linux.
LIBRARIES = ("asio", "asio.hpp", "fmt", "nlohmann", "spdlog")
LIBRARY_FLAGS = ["-DSPDLOG_FMT_EXTERNAL", "-DFMT_HEADER_ONLY", "-DASIO_STANDALONE"]
# Tests of features of Linux, and tests that call Linux.
NOT_BUILT = {
    "assert_test", "crash_handler_test", "event_fd_wait_test", "event_loop_test", "file_rotation_test",
    "file_sink_test", "fork_test", "manual_backend_test", "record_queue_fork_test", "shared_memory_test",
    "version_test",
}
WINDOWS_TESTS = ROOT / "tests/windows"
DLL = [ROOT / "tests/libraries/plugin.cpp", WINDOWS_TESTS / "dll.cpp"]
TEST_LIMIT = 900  # seconds of one program
SUMMARY = re.compile(r"^\[  (PASSED|SKIPPED|FAILED)  ?\] (\d+) tests?", re.MULTILINE)


class Target:
    """The folder, the log and the workers of one run."""

    def __init__(self, folder, log, pool):
        self.folder = folder
        self.log = log
        self.pool = pool
        self.flags = [*FLAGS, *LIBRARY_FLAGS, "-isystem", self.libraries(),
                      f"-I{WINDOWS_TESTS}", '-DSLUICE_TEST_PLUGIN="plugin.dll"']

    def libraries(self):
        """A folder with links to LIBRARIES."""
        place = self.folder / "include"
        place.mkdir(exist_ok=True)
        for name in LIBRARIES:
            link = place / name
            if not link.is_symlink():
                link.symlink_to(Path("/usr/include") / name)
        return place

    def compiled_headers(self, module):
        """The number of the module's headers that compile alone, and the number that was tried."""
        headers = [path.as_posix() for path in public_headers(ROOT) if path.parts[0] == module]
        return sum(self.pool.map(self.compile_header, headers)), len(headers)

    def compile_header(self, header):
        source = self.folder / f"{header.replace('/', '_')}.cpp"
        source.write_text(f"#include <sluice/{header}>\n", encoding="utf-8")
        return run([*COMPILER, *self.flags, "-c", source, "-o", source.with_suffix(".o")], self.log)

    def compile(self, source):
        """The object of one source, or None."""
        target = self.folder / f"{source.parent.name}_{source.stem}.o"
        own = ["-w", f"-I{GOOGLETEST}"] if GOOGLETEST in source.parents else self.flags
        command = [*COMPILER, "-isystem", GOOGLETEST / "include", *own, "-c", source, "-o", target]
        return target if run(command, self.log) else None

    def link(self, objects, program, *options):
        return run([*COMPILER, *options, *objects, "-o", program], self.log)

    def execute(self, program):
        """The output of a program, which is stopped after TEST_LIMIT."""
        environment = os.environ | {"WINEPREFIX": str(self.folder / "wine"), "WINEDEBUG": "-all"}
        try:
            done = subprocess.run([WINE, program], env=environment, stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.STDOUT, errors="replace", check=False,
                                  timeout=TEST_LIMIT, cwd=self.folder)
            return done.stdout
        except subprocess.TimeoutExpired as late:
            output = late.stdout or b""
            return output if isinstance(output, str) else output.decode(errors="replace")

    def run_tests(self, module, support):
        """(sources built, sources, passed, failed) of the module's unit tests."""
        sources = sorted((ROOT / "tests/unit" / module).glob("*_test.cpp"))
        wanted = [source for source in sources if source.stem not in NOT_BUILT]
        return self.run_program(module, wanted, len(sources), support)

    def run_dll_tests(self, support):
        """The same for tests of Windows alone, most of which call a DLL."""
        dll = [self.compile(source) for source in DLL]
        if None in dll or not self.link(dll, self.folder / "plugin.dll", "-shared"):
            return 0, len(DLL), 0, 1
        sources = [ROOT / "tests/libraries/plugin_test.cpp", *sorted(WINDOWS_TESTS.glob("*_test.cpp"))]
        return self.run_program("dll", sources, len(sources), support)

    def run_program(self, name, wanted, total, support):
        objects = [done for done in self.pool.map(self.compile, wanted) if done]
        program = self.folder / f"{name}_test.exe"
        if not self.link([*support, *objects], program):
            return len(objects), total, 0, 1
        output = self.execute(program)
        self.log.write(output)
        counts = {word: int(count) for word, count in SUMMARY.findall(output)}
        broke = "PASSED" not in counts  # a program that crashes or hangs prints no summary
        failed = counts.get("FAILED", 0) + broke + len(wanted) - len(objects)
        return len(objects), total, counts.get("PASSED", 0), failed


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    folder = Path(arguments[0]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = arguments[1:] or [*MODULES, "dll"]
    passed = 0
    failed = 0
    with open(folder / "log.txt", "w", 1, encoding="utf-8") as log, ThreadPoolExecutor(2) as pool:
        target = Target(folder, log, pool)
        support = [GOOGLETEST / "src/gtest-all.cc"]
        support += [ROOT / "tests/support" / name for name in ("test_main.cpp", "watchdog.cpp")]
        support = list(pool.map(target.compile, support))
        if None in support:
            sys.exit(f"the tests' support does not compile: {folder / 'log.txt'}")
        print("| module | headers compiled alone | sources of tests built | tests passed | tests failed |")
        print("|---|---|---|---|---|", flush=True)
        for module in (module for module in MODULES if module in wanted):
            good, total = target.compiled_headers(module)
            built, sources, right, wrong = target.run_tests(module, support)
            print(f"| `{module}` | {good} of {total} | {built} of {sources} | {right} | {wrong} |",
                  flush=True)
            passed += right
            failed += wrong + (total - good)
        if "dll" in wanted:
            built, sources, right, wrong = target.run_dll_tests(support)
            print(f"| programs with a DLL | - | {built} of {sources} | {right} | {wrong} |", flush=True)
            passed += right
            failed += wrong
    if failed:
        print(f"what failed: {folder / 'log.txt'}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main(sys.argv[1:])
