"""Compiles the headers of the portable modules alone with mingw-w64, and runs their unit tests under
wine. Prints the table of docs/platforms.md.

    mingw.py BUILD
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.headers import public_headers
from compilers import FLAGS, GOOGLETEST, ROOT, run

COMPILER = ["x86_64-w64-mingw32-g++-posix", "-std=c++17", "-O0"]
WINE = "/usr/lib/wine/wine64"
MODULES = ("base", "fixed", "wait", "queue", "wire")
HEADERS_ONLY = ("memory",)
# Debian has the headers of nlohmann-json for Linux only.
NOT_COMPILED = {"wire/json.hpp"}
# Tests of features of Linux, tests that call Linux, and the test of the header above.
NOT_BUILT = {
    "assert_test", "event_fd_wait_test", "json_test",
}
# Objects that end with their thread crash: mingw-w64 frees a thread's variables before it destroys
# them. For the same reason the tests of `memory` do not end.
NOT_BUILT |= {"reader_registry_test", "thread_slots_test"}
SUMMARY = re.compile(r"^\[  (PASSED|SKIPPED|FAILED)  ?\] (\d+) tests?", re.MULTILINE)


def compiled_headers(module, pool, log):
    """The number of the module's headers that compile alone, and the number that was tried."""
    headers = [path.as_posix() for path in public_headers(ROOT) if path.parts[0] == module]
    headers = [header for header in headers if header not in NOT_COMPILED]
    command = [*COMPILER, *FLAGS, "-fsyntax-only", "-x", "c++", "-"]
    lines = [f"#include <sluice/{header}>\n" for header in headers]
    return sum(pool.map(lambda line: run(command, log, line), lines)), len(headers)


def compile_test(source, folder, log):
    """The object of one source of the tests, or None."""
    target = folder / f"{source.parent.name}_{source.stem}.o"
    own = ["-w", f"-I{GOOGLETEST}"] if GOOGLETEST in source.parents else FLAGS
    command = ["ccache", *COMPILER, "-isystem", GOOGLETEST / "include", *own, "-c", source, "-o", target]
    return target if run(command, log) else None


def run_tests(module, support, folder, pool, log):
    """(sources built, sources, passed, failed) of the module's unit tests."""
    sources = sorted((ROOT / "tests/unit" / module).glob("*_test.cpp"))
    wanted = [source for source in sources if source.stem not in NOT_BUILT]
    objects = list(pool.map(lambda source: compile_test(source, folder, log), wanted))
    program = folder / f"{module}_test.exe"
    if None in objects or not run([*COMPILER, "-static", *support, *objects, "-o", program], log):
        return len(objects) - objects.count(None), len(sources), 0, 1
    environment = os.environ | {"WINEPREFIX": str(folder / "wine"), "WINEDEBUG": "-all"}
    done = subprocess.run([WINE, program], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    log.write(done.stdout)
    counts = {word: int(count) for word, count in SUMMARY.findall(done.stdout)}
    failed = counts.get("FAILED", 0)
    broke = "PASSED" not in counts  # a program that crashes prints no summary
    return len(wanted), len(sources), counts.get("PASSED", 0), failed + broke


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    folder = Path(arguments[0]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    passed = 0
    failed = 0
    print("| module | headers compiled alone | sources of tests built | tests passed | tests failed |")
    print("|---|---|---|---|---|", flush=True)
    with open(folder / "log.txt", "w", 1, encoding="utf-8") as log, ThreadPoolExecutor(2) as pool:
        support = [GOOGLETEST / "src/gtest-all.cc"]
        support += [ROOT / "tests/support" / name for name in ("test_main.cpp", "watchdog.cpp")]
        support = list(pool.map(lambda source: compile_test(source, folder, log), support))
        if None in support:
            sys.exit(f"the tests' support does not compile: {folder / 'log.txt'}")
        for module in MODULES + HEADERS_ONLY:
            good, total = compiled_headers(module, pool, log)
            built, sources, right, wrong = (
                run_tests(module, support, folder, pool, log) if module in MODULES else ("-", "-", 0, 0))
            print(f"| `{module}` | {good} of {total} | {built} of {sources} | {right} | {wrong} |",
                  flush=True)
            passed += right
            failed += wrong + (total - good)
    if failed:
        print(f"what failed: {folder / 'log.txt'}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main(sys.argv[1:])
