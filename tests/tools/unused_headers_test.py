"""A unit that includes a header and uses nothing of it has no code."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def symbols_of(unit):
    """What the object of this unit defines."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "unit.o"
        subprocess.run(
            [os.environ["CXX"], "-std=c++17", "-O1", f"-I{ROOT / 'include'}",
             "-x", "c++", "-c", "-", "-o", compiled],
            input=unit, text=True, check=True,
        )
        return subprocess.run(
            [os.environ["NM"], "--defined-only", "--demangle", compiled],
            capture_output=True, text=True, check=True,
        ).stdout


class UnusedHeadersTest(unittest.TestCase):
    def test_modules_have_no_code_in_a_unit_that_uses_nothing(self):
        for module in ("base", "fixed", "wait", "queue", "event", "bus", "wire"):
            with self.subTest(module):
                self.assertEqual(symbols_of(f"#include <sluice/{module}.hpp>\n"), "")


if __name__ == "__main__":
    unittest.main()
