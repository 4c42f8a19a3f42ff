#!/usr/bin/env python3
"""Runs clang-tidy over the sources, in parallel: `run_tidy.py BUILD_DIR [--jobs N] [--all] [FILE...]`.

Takes the sources from BUILD_DIR/compile_commands.json. Without --all it leaves out the tests and the benchmarks.
Headers are seen through the sources that include them. A source that passed is not read again until its text, a file that it includes, the
settings or clang-tidy change. tidy_cache.py remembers that for every clone of this user.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tidy_cache import TidyCache

TIDY = "clang-tidy-16"


def is_left_to_all(source):
    """`source`: relative to the root."""
    return "tests" in source.parts or source.parts[0] == "bench"


class Runner:
    def __init__(self, root, build, tidy=TIDY, cache=None, options=()):
        self.root = root.resolve()
        self.build = build.resolve()
        self.tidy = tidy
        self.options = list(options)
        self.cache = TidyCache(self.root, self.settings(), cache)

    def settings(self):
        """The inputs that decide the outcome besides a source, its headers and its flags."""
        version = subprocess.run(
            [self.tidy, "--version"], capture_output=True, text=True, check=False
        ).stdout
        files = [self.root / ".clang-tidy", *sorted((self.root / "include").rglob(".clang-tidy"))]
        return "\0".join([version, *self.options, *(file.read_text(encoding="utf-8") for file in files)])

    def sources(self):
        """{source: (folder, compiler's arguments)} of the project, nothing generated."""
        database = self.build / "compile_commands.json"
        commands = json.loads(database.read_text(encoding="utf-8"))
        return {
            Path(command["file"]): (command["directory"], shlex.split(command["command"]))
            for command in commands
            if Path(command["file"]).is_relative_to(self.root)
            and not Path(command["file"]).is_relative_to(self.build)
        }

    def not_compiled(self, files):
        """Names of files that are no sources, so clang-tidy would not check them."""
        sources = self.sources()
        return [str(file) for file in files if file.resolve() not in sources]

    def check(self, source, folder, arguments):
        """(passed?, was it read?, the output of clang-tidy)"""
        entry = self.cache.entry(source, folder, arguments)
        if entry.has_passed():
            return True, False, ""
        entry.look()
        command = [self.tidy, *self.options, "--quiet", "-p", str(self.build), str(source)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            return False, True, result.stdout or result.stderr
        entry.keep()
        return True, True, ""

    def run(self, files, jobs):
        """(number of sources, number of sources that were read, refused sources)"""
        wanted = {file.resolve() for file in files}
        work = {file: how for file, how in self.sources().items() if not wanted or file in wanted}
        read, refused = 0, []
        # The longest first, so that the last one to end is short.
        longest_first = sorted(work.items(), key=lambda item: -item[0].stat().st_size)
        with ThreadPoolExecutor(jobs) as pool:
            pending = {pool.submit(self.check, file, *how): file for file, how in longest_first}
            for number, job in enumerate(as_completed(pending), 1):
                passed, was_read, output = job.result()
                name = pending[job].relative_to(self.root)
                if was_read:
                    read += 1
                    outcome = "" if passed else ": refused"
                    print(f"[{number}/{len(pending)}] {name}{outcome}", flush=True)
                if not passed:
                    refused.append(name)
                    print(output, flush=True)
        self.cache.prune()
        return len(work), read, refused


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--all", action="store_true", help="read all sources, and run clang's static analyzer"
    )
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(arguments)

    started = time.monotonic()
    root = Path(__file__).resolve().parent.parent
    more = ["--checks=clang-analyzer-*"] if options.all else []
    runner = Runner(root, options.build, options=more)
    files = options.files
    if unknown := runner.not_compiled(files):
        print(f"run_tidy: {options.build} compiles no {', '.join(unknown)}", file=sys.stderr)
        return 2
    if not files and not options.all:
        files = [file for file in runner.sources() if not is_left_to_all(file.relative_to(root))]
    count, read, refused = runner.run(files, options.jobs)
    if count == 0:
        parser.error(f"{options.build}/compile_commands.json names none of the sources")
    seconds = time.monotonic() - started
    print(f"clang-tidy: {count} sources, {read} read in {seconds:.0f} s, {len(refused)} refused")
    for name in sorted(refused):
        print(f"  {name}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
