"""The pictures of docs/architecture.md and docs/guide/bus.md are those that tools/draw_architecture.py draws today."""

import draw_architecture

from .problem import Problem


def check(root):
    try:
        pictures = draw_architecture.draw(root)
    except draw_architecture.Incomplete as reason:
        return [Problem(draw_architecture.PAGE, 1, str(reason))]
    return [
        Problem(file, 1, "it is not what tools/draw_architecture.py draws: run that, and commit it")
        for file, text in pictures.items()
        if not (root / file).is_file() or (root / file).read_text(encoding="utf-8") != text
    ]
