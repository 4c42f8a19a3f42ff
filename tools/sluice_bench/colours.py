"""One colour for each library: the same in every chart, on every page and in every run."""

import colorsys
import zlib

KNOWN = {
    "sluice": "#4c78a8",
    "boost": "#f58518",
    "Boost.Lockfree": "#f58518",
    "Boost.Pool": "#f58518",
    "Boost.Signals2": "#f58518",
    "moodycamel": "#54a24b",
    "mccc": "#e45756",
    "eventpp": "#b279a2",
    "eventpp-fork": "#d67195",
    "quill": "#9d755d",
    "spdlog": "#3f9894",
    "spdlog-peer": "#72b7b2",
    "oneTBB": "#b79a20",
    "atomic_queue": "#8a6fd1",
    "rigtorp": "#d88fb4",
    "CAF": "#79706e",
    "SObjectizer": "#83bcb6",
    "mimalloc": "#7f9c1b",
    "jemalloc": "#c06c2e",
    "libsigc++": "#5e9bd1",
    "GNU C library": "#8d8d8d",
    "libstdc++": "#a39a7c",
    "C++ standard library": "#a39a7c",
    "C++": "#a39a7c",
    "none": "#9a9a9a",
}


def colour_of(library):
    """The colour of a library. The name of an unknown library decides its colour, in each run the same."""
    if library in KNOWN:
        return KNOWN[library]
    number = zlib.crc32(library.encode("utf-8"))
    red, green, blue = colorsys.hls_to_rgb((number >> 8) % 360 / 360, 0.5 + number % 7 / 50, 0.45)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


# Subjects of one library share its colour, so lines tell them apart by their strokes.
STROKES = [[1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [12, 4], [4, 2, 1, 2], [1, 3], [8, 2, 2, 2, 2, 2]]


def strokes(subjects, library):
    """A stroke for each subject; `library` maps a subject to its library."""
    used, found = {}, []
    for subject in subjects:
        number = used.get(library[subject], 0)
        used[library[subject]] = number + 1
        found.append(STROKES[number % len(STROKES)])
    return found
