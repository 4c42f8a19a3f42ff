"""Runs the commands of the README's part `Add it to your program` and of the page behind it, in their
order and in one folder: `run.py <tree> <folder>`. The tree stands in for the clone. The Chinese README
has the same commands."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

TREE, FOLDER = (Path(argument).resolve() for argument in sys.argv[1:3])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CLONE = re.compile(r"^git clone <.*> sluice$", re.MULTILINE)
IN_THE_TREE, INSTALLED = "add_subdirectory(sluice)", "find_package(sluice CONFIG REQUIRED)"


def blocks(name):
    text = (TREE / name).read_text(encoding="utf-8")
    return [(kind, CLONE.sub("git clone", block)) for kind, block in BLOCK.findall(text)]


def run(commands):
    print(commands)
    done = subprocess.run(["sh", "-exc", commands], cwd=FOLDER, stdout=subprocess.PIPE, text=True)
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
    program, compiler = found
    clone, project, build, install = blocks("docs/how-to/add-it-to-your-program.md")
    if clone[1] != "git clone\n":
        sys.exit("the page does not begin with the clone")
    (FOLDER / "app.cpp").write_text(program[1], encoding="utf-8")
    (FOLDER / "CMakeLists.txt").write_text(project[1], encoding="utf-8")
    (FOLDER / "sluice").symlink_to(TREE, target_is_directory=True)
    for commands in (compiler[1].replace("git clone\n", ""), build[1]):
        if "5000050000" not in run(commands):
            sys.exit("the program does not print its sum")
    (FOLDER / "CMakeLists.txt").write_text(project[1].replace(IN_THE_TREE, INSTALLED), encoding="utf-8")
    run(install[1])


if __name__ == "__main__":
    main()
