"""Compiles the public headers alone for Windows by clang, runs the unit tests and those of
tests/windows under wine, and prints the table of docs/platforms.md.

    windows.py BUILD [MODULE...]

The compiler is `zig c++` of build/venv, which has the headers and libraries of Windows. Without
modules it runs all of them, and the tests with a DLL, which are `dll` in this list.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compilers import ROOT
from cross import MODULES, Target, finish

WINE = "/usr/lib/wine/wine64"
# Tests of features of Linux: signals, event descriptors and fork(). assert_test has regular
# expressions that GoogleTest does not know there.
NO_TESTS = {
    "assert_test", "crash_handler_test", "event_fd_wait_test", "event_loop_test", "fork_test",
    "record_queue_fork_test",
}
WINDOWS_TESTS = ROOT / "tests/windows"
DLL = [ROOT / "tests/libraries/plugin.cpp", WINDOWS_TESTS / "dll.cpp"]


class WindowsTarget(Target):
    """Windows: programs run under wine, and may call the DLL of the tests."""

    def __init__(self, folder, log, pool):
        super().__init__("x86_64-windows-gnu", folder, log, pool, NO_TESTS)
        # Tests of files expect the line ends of Linux.
        self.flags += [f"-I{WINDOWS_TESTS}", '-DSLUICE_TEST_PLUGIN="plugin.dll"', '-DSPDLOG_EOL="\\n"']

    def run_tests(self, module, support):
        """(sources built, sources, passed, failed) of the module's unit tests."""
        return self.run_program(module, *self.sources_of(module), support)

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
        environment = os.environ | {"WINEPREFIX": str(self.folder / "wine"), "WINEDEBUG": "-all"}
        passed, failed = self.execute([WINE, program], env=environment, cwd=self.folder)
        return len(objects), total, passed, failed + len(wanted) - len(objects)


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    folder = Path(arguments[0]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = arguments[1:] or [*MODULES, "dll"]
    passed = 0
    failed = 0
    with open(folder / "log.txt", "w", 1, encoding="utf-8") as log, ThreadPoolExecutor(2) as pool:
        target = WindowsTarget(folder, log, pool)
        support = target.compiled_support()
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
    finish([target], passed, failed, folder / "log.txt")


if __name__ == "__main__":
    main(sys.argv[1:])
