"""Tables and pictures for notebooks: HTML and SVG without scripts, for light and dark."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from scumble._files import path_of, written

# Colours are those of the page that it is shown on, and shades of them.
_STYLE = """<style>
.scumble { line-height: 1.45; max-width: 64em; }
.scumble table { border-collapse: collapse; margin: .4em 0 .8em; }
.scumble th, .scumble td { text-align: left; padding: .15em .9em .15em 0; border: 0;
  border-bottom: 1px solid rgba(128,128,128,.35); background: transparent; color: inherit; }
.scumble .n { text-align: right; font-variant-numeric: tabular-nums; }
.scumble .good { color: #1a7f37; } .scumble .bad { color: #cf222e; font-weight: 600; }
.scumble .faint { opacity: .72; }
@media (prefers-color-scheme: dark) {
  .scumble .good { color: #4ac26b; } .scumble .bad { color: #ff7b72; } }
[data-jp-theme-light="false"] .scumble .good { color: #4ac26b; }
[data-jp-theme-light="false"] .scumble .bad { color: #ff7b72; }
</style>"""


def page(*parts: str) -> str:
    """A piece of a page."""
    return f'{_STYLE}<div class="scumble">{"".join(parts)}</div>'


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph, escaped."""
    style = f' class="{kind}"' if kind else ""
    return f"<p{style}>{escape(text)}</p>"


def table(heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers stand on the right. Cells are escaped, save those that are `Cell`s."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heading)
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Cell(str):
    """A cell that is HTML already."""


def verdict(holds: bool | None) -> Cell:
    """Whether something holds."""
    if holds is None:
        return Cell('<span class="faint">not decided</span>')
    return Cell(f'<span class="{"good" if holds else "bad"}">{"yes" if holds else "NO"}</span>')


def _cell(cell: Any) -> str:
    if isinstance(cell, Cell):
        return f"<td>{cell}</td>"
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return f'<td class="n">{number(cell)}</td>'
    return f"<td>{escape('' if cell is None else str(cell))}</td>"


def number(value: float | None) -> str:
    """A number with as many digits as people read."""
    if value is None:
        return ""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:,.1f}"
    digits = 2 if abs(value) >= 1 else min(6, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def percent(share: float | None) -> str:
    """A share."""
    if share is None:
        return ""
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %".replace(".0 %", " %")


def parameters(value: Any) -> str:
    """`{"l": 3, "kind": "distinct"}` as "l = 3, distinct"."""
    if not isinstance(value, dict):
        return "" if value is None else str(value)
    words = []
    for key, part in value.items():
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, (int, float)) and not isinstance(part, bool):
            words.append(f"{key} = {number(part)}")
        else:
            words.append(f"{key} = {part}")
    return ", ".join(words)


class Picture:
    """A picture as SVG: shown by notebooks, saved with :meth:`save`."""

    def __init__(self, svg: str) -> None:
        self._svg = svg

    def _repr_html_(self) -> str:
        return self._svg

    def __str__(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        return f"<scumble.Picture: {len(self._svg)} characters of SVG>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
        written(path_of(path, "the path of a picture"), self._svg)


_WIDTH = 640.0


def _svg(height: float, label: str, parts: Iterable[str]) -> Picture:
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" '
        f'width="{_WIDTH:.0f}" role="img" aria-label="{escape(label)}" fill="currentColor" '
        'font-family="sans-serif" font-size="12" style="max-width:100%;height:auto">'
        f"<title>{escape(label)}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _short(text: str, longest: int = 28) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def intervals(
    label: str, rows: Sequence[tuple[str, float, float | None, float | None]]
) -> Picture:
    """Estimates below each other, each with its interval."""
    known = [v for _, *own in rows for v in own if v is not None and math.isfinite(v)]
    low, high = min([0.0, *known]), max([0.0, *known])
    span = (high - low) or 1.0
    left, right, tall, top = 190.0, 90.0, 24.0, 28.0

    def place(value: float) -> float:
        return left + (value - low) / span * (_WIDTH - left - right)

    parts = [_text(left, 14, label)]
    bottom = top + tall * len(rows)
    zero = place(0.0)
    parts.append(
        f'<line x1="{zero:.1f}" y1="{top - 4:.1f}" x2="{zero:.1f}" y2="{bottom:.1f}" '
        'stroke="currentColor" stroke-opacity=".4"/>'
    )
    for at, (name, estimate, least, most) in enumerate(rows):
        y = top + tall * at + tall / 2
        parts.append(_text(left - 10, y + 4, _short(name), "end"))
        parts.append(_text(_WIDTH - right + 12, y + 4, number(estimate)))
        if least is not None and most is not None:
            parts.append(
                f'<line x1="{place(least):.1f}" y1="{y:.1f}" x2="{place(most):.1f}" '
                f'y2="{y:.1f}" stroke="#4c78a8" stroke-width="3" stroke-opacity=".55"/>'
            )
        parts.append(f'<circle cx="{place(estimate):.1f}" cy="{y:.1f}" r="4" fill="#4c78a8"/>')
    return _svg(bottom + 8, label, parts)


def frontier(
    label: str, across: str, up: str, points: Sequence[tuple[str, float, float]]
) -> Picture:
    """Points by two numbers, both of which are better if they are smaller."""
    height, left, right, top, bottom = 360.0, 60.0, 150.0, 30.0, 44.0
    most_x = max([x for _, x, _ in points] or [1.0]) * 1.05 or 1.0
    most_y = max([y for _, _, y in points] or [1.0]) * 1.05 or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        wide, tall = _WIDTH - left - right, height - top - bottom
        return left + x / most_x * wide, height - bottom - y / most_y * tall

    parts = [
        _text(left, 16, label),
        _text(_WIDTH - right, height - 10, across, "end"),
        _text(8, top - 2, up),
    ]
    for part in range(5):
        x, y = at(most_x * part / 4, most_y * part / 4)
        parts.append(_text(x, height - bottom + 16, number(most_x * part / 4), "middle"))
        parts.append(_text(left - 6, y + 4, number(most_y * part / 4), "end"))
        parts.append(
            f'<line x1="{left:.1f}" y1="{y:.1f}" x2="{_WIDTH - right:.1f}" y2="{y:.1f}" '
            'stroke="currentColor" stroke-opacity=".15"/>'
        )
    best = math.inf
    for name, x, y in sorted(points, key=lambda point: (point[1], point[2])):
        cx, cy = at(x, y)
        # On the frontier: no other is better in both.
        fill = "#4c78a8" if y < best else "none"
        best = min(best, y)
        parts.append(
            f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="5" fill="{fill}" stroke="#4c78a8">'
            f"<title>{escape(name)}</title></circle>"
        )
        parts.append(_text(cx + 9, cy + 4, _short(name, 22)))
    return _svg(height, label, parts)
