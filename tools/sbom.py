"""Writes the bill of materials of a release in the format of SPDX 2.3: `sbom.py FILE`.

Sluice contains no code of others. The libraries that some modules need are named as optional
dependencies, with the licence that each states for itself.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPTIONAL = (
    ("spdlog", "MIT", "sluice::log"),
    ("nlohmann-json", "MIT", "sluice::wire_json"),
    ("nats.c", "Apache-2.0", "bridge/nats"),
)


def git(*arguments):
    run = subprocess.run(
        ["git", *arguments],
        cwd=ROOT,
        env={**os.environ, "TZ": "UTC"},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def package(name, licence, comment, version="NOASSERTION"):
    return {
        "SPDXID": f"SPDXRef-{name}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "supplier": "NOASSERTION",
        "comment": comment,
    }


def bill():
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text("utf-8"))[1]
    commit = git("rev-parse", "HEAD")
    others = [package(name, licence, f"needed by {user} only") for name, licence, user in OPTIONAL]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"sluice-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/sluice-{version}-{commit}",
        "creationInfo": {
            "created": git("show", "-s", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: tools/sbom.py"],
        },
        "packages": [package("sluice", "Apache-2.0", f"commit {commit}", version), *others],
        "relationships": [
            relationship("DOCUMENT", "DESCRIBES", "sluice"),
            *(relationship(name, "OPTIONAL_DEPENDENCY_OF", "sluice") for name, _, _ in OPTIONAL),
        ],
    }


def relationship(one, kind, other):
    return {
        "spdxElementId": f"SPDXRef-{one}",
        "relationshipType": kind,
        "relatedSpdxElement": f"SPDXRef-{other}",
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(bill(), indent=2) + "\n", encoding="utf-8")
