"""The table, for people and for programs."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version

from bench.measure import Figure, number

RESULTS = os.path.join(os.path.dirname(__file__), "results")
HEADS = ("what", "figure", "median", "beside", "ratio", "target", "met", "note")


def cells(figure: Figure) -> tuple[str, ...]:
    target = figure.target
    return (
        figure.what,
        number(figure.value, figure.unit),
        number(figure.typical),
        figure.beside,
        number(figure.ratio),
        target.text if target else "",
        ("yes" if target.met else "NO") if target else "",
        figure.note,
    )


def shown(figures: Iterable[Figure]) -> str:
    """As a table for a terminal."""
    rows = [HEADS, *(cells(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)


def as_markdown(subjects: Mapping[str, list[Figure]], about: Mapping[str, object]) -> str:
    """As a page."""
    facts = ", ".join(f"{name} {value}" for name, value in about.items())
    lines = [
        "# What was measured",
        "",
        f"By `python -m bench`: {facts}. `median` beside a figure that is the best of several.",
    ]
    for name, figures in subjects.items():
        lines += ["", f"## {name}", "", _row(HEADS), "|" + "---|" * len(HEADS)]
        lines += (_row(cells(figure)) for figure in figures)
    return "\n".join(lines) + "\n"


def _row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(texts) + " |"


def about_this_run(quick: bool, load: float) -> dict[str, object]:
    """What a figure depends on, and nothing that tells whose machine it was."""
    libraries = ("holdfast", "fasteners", "filelock", "portalocker")
    return {
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "cpus": os.cpu_count(),
        "load before": round(load, 2),
        **({"form": "quick"} if quick else {}),
        **{library: version(library) for library in libraries},
    }


def write(subjects: Mapping[str, list[Figure]], about: Mapping[str, object], *, whole: bool) -> str:
    """Keep the results; those of a partial or quick run do not replace those of a whole one.  Where they are."""
    folder = RESULTS if whole else os.path.join(RESULTS, "local")
    os.makedirs(folder, exist_ok=True)
    figures = {name: [_plain(figure) for figure in figures] for name, figures in subjects.items()}
    with open(os.path.join(folder, "latest.json"), "w", encoding="utf-8") as file:
        json.dump({"about": about, "figures": figures}, file, indent=1, ensure_ascii=False)
        file.write("\n")
    page = os.path.join(folder, "latest.md")
    with open(page, "w", encoding="utf-8") as file:
        file.write(as_markdown(subjects, about))
    return os.path.relpath(page)


def _plain(figure: Figure) -> dict[str, object]:
    """Without what is not there, and with no more digits than were measured."""
    plain = {name: value for name, value in figure._asdict().items() if value not in (None, "")}
    if figure.target:
        plain["target"] = figure.target._asdict()
    return {name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in plain.items()}
