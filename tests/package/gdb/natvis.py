"""Shows a variable by tools/sluice.natvis, as the debug engine of VS Code does with gdb: it puts the
variable before each member that an expression names, and asks gdb. Inside gdb:

    python natvis_file = "tools/sluice.natvis"
    source natvis.py
    natvis VARIABLE
"""

import fnmatch
import re
import xml.etree.ElementTree as xml

import gdb

SPACE = "{http://schemas.microsoft.com/vstudio/debugger/natvis/2010}"
TYPES = list(xml.parse(natvis_file).getroot().iter(f"{SPACE}Type"))  # noqa: F821
NAME = re.compile(r"(?<![\w.>])[A-Za-z_$]\w*")  # not that of a member of a member
STRING = re.compile(r"(.*),sb$")


def members(kind):
    """The names of the members, those of bases and of unions without a name too."""
    for field in kind.strip_typedefs().fields():
        if field.is_base_class or not field.name:
            yield from members(field.type)
        else:
            yield field.name


def type_of(value):
    """The natvis file's element for the value, if there is one."""
    name = value.type.strip_typedefs().unqualified().name or ""
    return next((each for each in TYPES if fnmatch.fnmatchcase(name, each.get("Name").replace(",*", ""))), None)


def expanded(expression, path, kind):
    def replaced(match):
        if match[0] in set(members(kind)):
            return f"({path}).{match[0]}"
        is_argument = match[0].startswith("$T")
        return str(kind.template_argument(int(match[0][2:]) - 1)) if is_argument else match[0]

    return NAME.sub(replaced, STRING.sub(r"(const char*)(\1)", expression))


def text_of(path):
    value = gdb.parse_and_eval(path)
    found, kind = type_of(value), value.type.strip_typedefs()
    if found is None:
        is_text = str(value.type) == "const char *"
        return value.string() if is_text else str(value)

    def ask(expression):
        return gdb.parse_and_eval(expanded(expression, path, kind))

    shown = next(each for each in found.iter(f"{SPACE}DisplayString") if ask(each.get("Condition", "1")))
    text = shown.text.replace("{{", "\0").replace("}}", "\1")
    text = re.sub(r"\{([^}]*)\}", lambda match: text_of(expanded(match[1], path, kind)), text)
    for items in found.iter(f"{SPACE}ArrayItems"):
        first = ask(items.find(f"{SPACE}ValuePointer").text)
        text += " " + ", ".join(str(first[index]) for index in range(int(ask(items.find(f"{SPACE}Size").text))))
    return text.replace("\0", "{").replace("\1", "}")


class Natvis(gdb.Command):
    def __init__(self):
        super().__init__("natvis", gdb.COMMAND_DATA)

    def invoke(self, argument, _):
        print(f"{argument}: {text_of(argument)}")


Natvis()
