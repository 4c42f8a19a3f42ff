"""Compiles the public headers, those of a module together, and runs the unit tests of base and queue,
with each compiler that is installed, in C++17, C++20 and C++23. Prints the table of docs/platforms.md.

    compilers.py BUILD [headers] [COMPILER...]

`headers` leaves out the tests. `zig` is the clang of build/venv, if it is there.
"""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.headers import NAMES_OF_ANOTHER, public_headers

ROOT = Path(__file__).resolve().parent.parent
NAMES = [f"g++-{n}" for n in range(10, 16)] + [f"clang++-{n}" for n in range(13, 23)] + ["zig"]
# clang 13 to 16 know C++23 only by its working name.
STANDARDS = {"C++17": "c++17", "C++20": "c++20", "C++23": "c++2b"}
FLAGS = ["-pthread", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", f"-I{ROOT / 'tests'}"]
GOOGLETEST = Path("/usr/src/googletest/googletest")
TESTED = ("base", "queue")
ZIG = [ROOT / "build/venv/bin/python", "-m", "ziglang", "c++"]
# Libraries that are headers only, from Debian.
LIBRARIES = ("asio", "asio.hpp", "fmt", "nlohmann", "spdlog")
LIBRARY_FLAGS = ["-DSPDLOG_FMT_EXTERNAL", "-DFMT_HEADER_ONLY", "-DASIO_STANDALONE"]


def variants(names):
    """(title, command) of each installed compiler; clang also with its own standard library."""
    for name in names:
        if name == "zig" and ZIG[0].exists() and subprocess.run([*ZIG, "--version"], capture_output=True,
                                                                check=False).returncode == 0:
            yield "clang 22 and libc++ of ziglang", ZIG
        elif shutil.which(name):
            yield name, [name]
            version = name.rpartition("-")[2]
            library = Path(f"/usr/lib/llvm-{version}/include/c++/v1")
            if name.startswith("clang") and library.is_dir():
                yield f"{name}, libc++", [name, "-stdlib=libc++"]


def run(command, log, text=None):
    """True if the command succeeds. Otherwise its output and its status go to the log."""
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode:
        log.write(f"{' '.join(map(str, command))}\n{done.stdout}ended with status {done.returncode}\n")
    return done.returncode == 0


def linked_libraries(folder):
    """A folder with the LIBRARIES. Other headers of /usr/include are for this machine's compiler."""
    place = folder / "include"
    place.mkdir(parents=True, exist_ok=True)
    for name in LIBRARIES:
        link = place / name
        if not link.is_symlink():
            link.symlink_to(Path("/usr/include") / name)
    return place


def headers_of(module=None):
    """The public headers of a module, or of all."""
    return [path.as_posix() for path in public_headers(ROOT) if module in (None, path.parts[0])]


def together(headers):
    """The headers in groups: those of a module compile in one source, but for conflicts."""
    groups = {}
    for header in headers:
        key = header if header in NAMES_OF_ANOTHER else header.partition("/")[0]
        groups.setdefault(key, []).append(header)
    return list(groups.values())


def source_of(headers):
    return "".join(f"#include <sluice/{header}>\n" for header in headers)


def compiled_headers(compiler, standard, folder, pool, log):
    """The number of public headers that compile, and the number of all."""
    headers = headers_of()
    flags = [*FLAGS, *LIBRARY_FLAGS, "-isystem", linked_libraries(folder)]
    # With -fsyntax-only, zig would first build its standard library.
    action = ["-c", "-o", folder / "headers.o"] if compiler == ZIG else ["-fsyntax-only"]
    command = [*compiler, f"-std={standard}", *flags, *action, "-x", "c++", "-"]
    groups = together(headers)
    good = pool.map(lambda group: run(command, log, source_of(group)), groups)
    return sum(len(group) for group, is_good in zip(groups, good) if is_good), len(headers)


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
    has_tests = "headers" not in arguments
    names = [name for name in arguments[1:] if name != "headers"] or NAMES
    failed = 0
    rows = 0
    print("| compiler | language | headers compiled | unit tests of base and queue |")
    print("|---|---|---|---|", flush=True)
    with open(build / "log.txt", "w", 1, encoding="utf-8") as log, ThreadPoolExecutor(2) as pool:
        for title, compiler in variants(names):
            for language, standard in STANDARDS.items():
                good, total = compiled_headers(compiler, standard, build, pool, log)
                tests = not has_tests or passed_tests(compiler, standard, build, pool, log)
                outcome = "-" if not has_tests else "pass" if tests else "fail"
                print(f"| {title} | {language} | {good} of {total} | {outcome} |", flush=True)
                rows += 1
                failed += not (tests and good == total)
    if failed:
        print(f"what failed: {build / 'log.txt'}", file=sys.stderr)
    print(f"{rows - failed} passed, {failed} failed")
    sys.exit(failed > 0 or rows == 0)


if __name__ == "__main__":
    main(sys.argv[1:])
