"""Remembers which sources have passed clang-tidy, for every clone of this user.

The folder is $XDG_CACHE_HOME/sluice/tidy, or ~/.cache/sluice/tidy. It holds two kinds of files:

- `includes-<key>`: the files that a source included when it was last read. The key is made of the
  source's place in the tree, its flags and the settings.
- `passed-<fingerprint>`: empty. The fingerprint is made of the same, and of the contents of those
  files. While none of these files has changed, the source includes the same files again.

A folder that cannot be written costs time and nothing else, and so does a file that is damaged.
"""

import contextlib
import hashlib
import os
import shlex
import subprocess
import threading
from pathlib import Path

KEPT = 8192  # files; a full run of the tree makes about 800


def default_folder():
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "sluice" / "tidy"


def digest_of(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class TidyCache:
    def __init__(self, root, settings, folder=None):
        self.root = root
        self.settings = settings
        self.folder = folder or default_folder()
        self.digests = {}
        self.lock = threading.Lock()
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)

    def entry(self, source, folder, arguments):
        return Entry(self, source, folder, arguments)

    def place(self, path):
        """The path as every clone has it."""
        return str(path).replace(str(self.root), ".")

    def content(self, path):
        """Changes with the file. Headers of the system are known by their size and date."""
        facts = path.stat()
        state = f"{facts.st_size} {facts.st_mtime_ns}"
        if not path.is_relative_to(self.root):
            return state
        with self.lock:
            known = self.digests.get((path, state))
        if known is None:
            known = hashlib.sha256(path.read_bytes()).hexdigest()
            with self.lock:
                self.digests[path, state] = known
        return known

    def prune(self):
        """Keeps the KEPT files that were used last, and removes the others."""
        with contextlib.suppress(OSError):
            files = sorted(self.folder.iterdir(), key=lambda file: -file.stat().st_mtime)
            for file in files[KEPT:]:
                file.unlink(missing_ok=True)


class Entry:
    """One source with its flags."""

    def __init__(self, cache, source, folder, arguments):
        self.cache = cache
        self.folder = folder
        self.arguments = arguments
        flags = cache.place(" ".join(arguments))
        self.key = digest_of(cache.place(source), flags, cache.settings)
        self.includes = cache.folder / f"includes-{self.key}"
        self.files = []
        self.seen = None  # the `passed-` file of this source, as it is now

    def has_passed(self):
        with contextlib.suppress(OSError, ValueError):
            names = self.includes.read_text(encoding="utf-8").splitlines()
            passed = self.passed([self.cache.root / name for name in names])
            passed.stat()
            for used in (self.includes, passed):
                os.utime(used)
            return True
        return False

    def look(self):
        """Called before clang-tidy reads the source. Notes its present files."""
        with contextlib.suppress(OSError):
            self.files = self.listed_includes()
            self.seen = self.passed(self.files) if self.files else None

    def keep(self):
        """Called when the source has passed. Keeps nothing if a file has changed since look()."""
        with contextlib.suppress(OSError):
            if self.seen and self.passed(self.files) == self.seen:
                own = self.cache.root
                names = (os.path.relpath(f, own) if self.is_own(f) else f for f in self.files)
                self.includes.write_text("\n".join(map(str, names)), encoding="utf-8")
                self.seen.touch()

    def is_own(self, file):
        return file.is_relative_to(self.cache.root)

    def passed(self, files):
        contents = (f"{self.cache.place(file)} {self.cache.content(file)}" for file in files)
        return self.cache.folder / f"passed-{digest_of(self.key, *contents)}"

    def listed_includes(self):
        """The source and the files that it includes; empty if the preprocessor fails."""
        words = iter(self.arguments)
        kept = []
        for word in words:
            if word in ("-o", "-MF", "-MT"):
                next(words)
            elif word not in ("-c", "-MD", "ccache"):
                kept.append(word)
        listing = subprocess.run(
            [*kept, "-M"], cwd=self.folder, capture_output=True, text=True, check=False
        )
        if listing.returncode != 0:
            return []
        # A rule of make: a space in a name has a backslash.
        names = shlex.split(listing.stdout.replace("\\\n", " ").split(":", 1)[1])
        return sorted({Path(os.path.normpath(Path(self.folder) / name)) for name in names})
