"""Compiles every public header alone, and runs the unit tests of base and queue, with each compiler
that is installed, in C++17, C++20 and C++23. Prints the table of docs/platforms.md.

    compilers.py BUILD [COMPILER...]
"""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.headers import public_headers

ROOT = Path(__file__).resolve().parent.parent
NAMES = [f"g++-{n}" for n in range(10, 15)] + [f"clang++-{n}" for n in range(13, 20)]
# clang 13 to 16 know C++23 only by its working name.
STANDARDS = {"C++17": "c++17", "C++20": "c++20", "C++23": "c++2b"}
FLAGS = ["-pthread", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", f"-I{ROOT / 'tests'}"]
GOOGLETEST = Path("/usr/src/googletest/googletest")
TESTED = ("base", "queue")


def variants(names):
    """(title, command) of each installed compiler; clang also with its own standard library."""
    for name in names:
        if shutil.which(name):
            yield name, [name]
            version = name.rpartition("-")[2]
            library = Path(f"/usr/lib/llvm-{version}/include/c++/v1")
            if name.startswith("clang") and library.is_dir():
                yield f"{name}, libc++", [name, "-stdlib=libc++"]


def run(command, log, text=None):
    """True if the command succeeds. Otherwise its output goes to the log."""
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode:
        log.write(f"{' '.join(map(str, command))}\n{done.stdout}\n")
    return done.returncode == 0


def compiled_headers(compiler, standard, pool, log):
    """The number of public headers that compile alone, and the number of all."""
    headers = [path.as_posix() for path in public_headers(ROOT)]
    # Debian builds spdlog and prometheus-cpp with one compiler and one standard library.
    headers = [h for h in headers if not h.startswith("log/") and "prometheus" not in h]
    command = [*compiler, f"-std={standard}", *FLAGS, "-fsyntax-only", "-x", "c++", "-"]
    lines = [f"#include <sluice/{header}>\n" for header in headers]
    return sum(pool.map(lambda line: run(command, log, line), lines)), len(headers)


def passed_tests(compiler, standard, folder, pool, log):
    """True if the unit tests build and pass."""
    sources = [ROOT / "tests/support" / name for name in ("test_main.cpp", "watchdog.cpp")]
    for module in TESTED:
        sources += sorted((ROOT / "tests/unit" / module).glob("*_test.cpp"))
    command = [*compiler, f"-std={standard}", "-O0", "-isystem", GOOGLETEST / "include"]
    jobs = [([*command, "-w", f"-I{GOOGLETEST}"], GOOGLETEST / "src/gtest-all.cc")]
    jobs += [([*command, *FLAGS], source) for source in sources]
    objects = [folder / f"{source.parent.name}_{source.stem}.o" for _, source in jobs]

    def compile_one(job, target):
        return run(["ccache", *job[0], "-c", job[1], "-o", target], log)

    program = folder / "unit_tests"
    link = [*compiler, "-pthread", *objects, "-o", program]
    return all(pool.map(compile_one, jobs, objects)) and run(link, log) and run([program], log)


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    build = Path(arguments[0])
    build.mkdir(parents=True, exist_ok=True)
    failed = 0
    rows = 0
    print("| compiler | language | headers compiled alone | unit tests of base and queue |")
    print("|---|---|---|---|", flush=True)
    with open(build / "log.txt", "w", 1, encoding="utf-8") as log, ThreadPoolExecutor(2) as pool:
        for language, standard in STANDARDS.items():
            for title, compiler in variants(arguments[1:] or NAMES):
                good, total = compiled_headers(compiler, standard, pool, log)
                tests = passed_tests(compiler, standard, build, pool, log)
                print(f"| {title} | {language} | {good} of {total} | "
                      f"{'pass' if tests else 'fail'} |", flush=True)
                rows += 1
                failed += not (tests and good == total)
    if failed:
        print(f"what failed: {build / 'log.txt'}", file=sys.stderr)
    print(f"{rows - failed} passed, {failed} failed")
    sys.exit(failed > 0 or rows == 0)


if __name__ == "__main__":
    main(sys.argv[1:])
