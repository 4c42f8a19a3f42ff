import contextlib
import io
import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from planted_tree import PlantedTree

import run_tidy

COMPILER = os.environ.get("CXX", "c++")


class RunTidyTest(PlantedTree):
    """With a stand-in for clang-tidy that refuses every source that says `wrong`."""

    flags = ""

    def setUp(self):
        super().setUp()
        self.root = self.root.resolve()
        self.cache = self.root / "cache"
        self.plant(".clang-tidy", "Checks: '*'")
        self.plant("include/part.hpp", "int part();")
        self.source = self.plant("tests/good.cpp", '#include "../include/part.hpp"')
        tidy = self.plant("tidy", "#!/bin/sh", 'for source; do :; done; ! grep wrong "$source"')
        tidy.chmod(0o755)
        self.list_sources(self.source)

    def list_sources(self, *sources):
        commands = [
            {
                "directory": str(self.root),
                "file": str(source),
                "command": f"{COMPILER} {self.flags} -o out.o -MD -MT out.o -MF out.d -c '{source}'",
            }
            for source in sources
        ]
        self.plant("build/compile_commands.json", json.dumps(commands))

    def run_tidy(self):
        runner = run_tidy.Runner(
            self.root, self.root / "build", str(self.root / "tidy"), self.cache
        )
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            outcome = runner.run([], 2)
        self.printed = printed.getvalue()
        return outcome

    def test_reads_again_when_a_header_or_the_settings_change(self):
        self.run_tidy()
        self.plant("include/part.hpp", "long part();")
        self.assertEqual(self.run_tidy(), (1, 1, []))
        self.plant(".clang-tidy", "Checks: '-*'")
        self.assertEqual(self.run_tidy(), (1, 1, []))

    def test_reads_nothing_in_a_clone_with_the_same_text(self):
        self.run_tidy()
        with tempfile.TemporaryDirectory() as other:
            clone = Path(other).resolve() / "clone"
            shutil.copytree(self.root, clone, ignore=shutil.ignore_patterns("cache"))
            self.root = clone
            self.list_sources(clone / "tests/good.cpp")
            self.assertEqual(self.run_tidy(), (1, 0, []))
            self.plant("include/part.hpp", "long part();")
            self.assertEqual(self.run_tidy(), (1, 1, []))

    def test_names_a_file_that_is_not_compiled(self):
        runner = run_tidy.Runner(
            self.root, self.root / "build", str(self.root / "tidy"), self.cache
        )
        self.assertEqual(runner.not_compiled([self.source, Path("typo.cpp")]), ["typo.cpp"])

    def test_refuses_a_violation_every_time_and_prints_it(self):
        bad = self.plant("tests/bad.cpp", "int wrong;")
        self.list_sources(self.source, bad)
        for read in (2, 1):
            count, was_read, refused = self.run_tidy()
            self.assertEqual((count, was_read), (2, read))
            self.assertEqual([str(name) for name in refused], ["tests/bad.cpp"])
            self.assertIn("int wrong;", self.printed)

    def test_leaves_out_what_is_generated_or_foreign(self):
        generated = self.plant("build/generated.cpp", "int wrong;")
        self.list_sources(self.source, generated, self.root.parent / "foreign.cpp")
        self.assertEqual(self.run_tidy(), (1, 1, []))


if __name__ == "__main__":
    unittest.main()
