#!/usr/bin/env python3
"""Checks the sources against the project's rules: `check_sources.py [--root DIR] [CHECK...]`.

Without a name all checks run. Prints a line `file:line: problem` for each problem. Exits with 1 if there is any.
"""

import argparse
import sys
from pathlib import Path

from checks import coding_rules, figures, headers, layering, pages, pictures, snippets
from checks import wording

CHECKS = {
    "layering": layering.check,
    "length": headers.check_length,
    "paths": headers.check_named_paths,
    "umbrella": headers.check_umbrellas,
    "snippets": snippets.check,
    "coding": coding_rules.check,
    "pages": pages.check,
    "pictures": pictures.check,
    "figures": figures.check,
    "wording": wording.check,
}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="run only these checks: " + ", ".join(CHECKS))
    options = parser.parse_args(arguments)
    unknown = [name for name in options.checks if name not in CHECKS]
    if unknown:
        parser.error(f"no such check: {', '.join(unknown)}; there are {', '.join(CHECKS)}")

    refused = 0
    for name in options.checks or CHECKS:
        problems = CHECKS[name](options.root)
        for problem in problems:
            print(problem)
        broken = sum(problem.refused for problem in problems)
        print(f"{name}: {'ok' if not broken else f'{broken} refused'}")
        refused += broken
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
