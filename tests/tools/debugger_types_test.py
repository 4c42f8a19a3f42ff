"""gdb's printers and the natvis file name types and fields that the headers have."""

import re
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NATVIS = ROOT / "tools/sluice.natvis"
GDB = ROOT / "tools/gdb_printers.py"
# The library's fields end in an underscore, and begin with none; those of libstdc++ begin with one.
FIELD = re.compile(r"\b([a-z]\w*_)\b")
TYPE = re.compile(r"^sluice::(\w+)")


class DebuggerTypesTest(unittest.TestCase):
    def setUp(self):
        headers = (ROOT / "include/sluice").rglob("*.hpp")
        self.text = "\n".join(header.read_text(encoding="utf-8") for header in headers)

    def expect_there(self, fields, types):
        self.assertTrue(fields and types)
        self.assertEqual([name for name in fields if not re.search(rf"\b{name}\b", self.text)], [])
        missing = [name for name in types if not re.search(rf"\bclass (\[\[\w+\]\] )?{name}\b", self.text)]
        self.assertEqual(missing, [])

    def test_natvis(self):
        tree = xml.parse(NATVIS)
        named = [each.get("Name") for each in tree.iter() if each.get("Name", "").startswith("sluice")]
        said = " ".join(f"{each.text} {' '.join(each.attrib.values())}" for each in tree.iter())
        self.expect_there(set(FIELD.findall(said)), {TYPE.match(name)[1] for name in named})

    def test_gdb(self):
        text = GDB.read_text(encoding="utf-8")
        types = re.findall(r'^    "(\w+)": \w+,$', text, re.MULTILINE)
        self.expect_there(set(re.findall(r'"([a-z]\w*_)"', text)), types)


if __name__ == "__main__":
    unittest.main()
