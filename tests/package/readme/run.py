"""Runs the commands of the README and of the page behind its part `Add it to your program`, in their order and
from the folder of a clone: `run.py <tree> <folder>`. The Chinese README has the same commands."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

TREE, FOLDER = (Path(argument).resolve() for argument in sys.argv[1:3])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
IN_THE_TREE, INSTALLED = "add_subdirectory(sluice)", "find_package(sluice 0.1 CONFIG REQUIRED)"


def blocks(name):
    return BLOCK.findall((TREE / name).read_text(encoding="utf-8"))


def run(commands, folder):
    print(commands)
    done = subprocess.run(["sh", "-exc", commands], cwd=FOLDER / folder, stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    if done.returncode:
        sys.exit(f"the commands fail: {commands}")
    return done.stdout


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    found = blocks("README.md")
    if found != blocks("README.zh-CN.md"):
        sys.exit("the READMEs have different programs or commands")
    program, first, own = found
    copy, project, build, install = blocks("docs/how-to/add-it-to-your-program.md")
    if not own[1].startswith(copy[1]):
        sys.exit("the README and the page have different copies")
    if program[1] != (TREE / "docs/snippets/first_messages.cpp").read_text(encoding="utf-8"):
        sys.exit("the program of the README is not the one that its commands compile")
    run(f"git clone --quiet '{TREE}' checkout", ".")
    outputs = [run(commands, "checkout") for commands in (first[1], own[1])]
    (FOLDER / "app/CMakeLists.txt").write_text(project[1], encoding="utf-8")
    outputs.append(run(build[1], "app"))
    if not all("5000050000" in output for output in outputs):
        sys.exit("the program does not print its sum")
    (FOLDER / "app/CMakeLists.txt").write_text(project[1].replace(IN_THE_TREE, INSTALLED), encoding="utf-8")
    run(install[1], "app")


if __name__ == "__main__":
    main()
