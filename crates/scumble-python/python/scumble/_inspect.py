"""A first look at a table."""

from __future__ import annotations

import json
from typing import Any

from scumble import _internal, _page, _progress
from scumble._recipe import FRAME, Recipe
from scumble._table import given


class Findings:
    """What columns hold, who is singled out by what, and a recipe to begin with."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self._found["rows"]

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Each column: ``name``, ``type``, ``distinct``, ``missing``, the ``role`` it
        probably has, and why."""
        return self._found["columns"]

    @property
    def risks(self) -> list[dict[str, Any]]:
        """Sets of columns, and the share of people that each singles out."""
        return self._found["risk"]

    @property
    def recipe(self) -> Recipe:
        """A recipe to begin with. Its roles are guesses: look at them."""
        return Recipe._parsed(self._found["recipe"], "the recipe", "", has_table=False)

    def _cells(self) -> tuple[list[str], list[list[Any]]]:
        rows = []
        for column in self.columns:
            about = "" if column["exact"] else "~"
            rows.append(
                [
                    column["name"],
                    column["type"],
                    f"{about}{column['distinct']:,}",
                    _page.percent(column["missing"]),
                    _page.percent(column["unique_share"]),
                    column["role"],
                    column["reason"],
                ]
            )
        return ["column", "type", "distinct", "missing", "unique", "role", "why"], rows

    def __repr__(self) -> str:
        heading, rows = self._cells()
        widths = [max(len(row[place]) for row in [heading, *rows]) for place in range(len(heading))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
            for row in [heading, *rows]
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        risks = [
            [", ".join(risk["columns"]), _page.percent(risk["unique"]), _page.percent(risk["below_5"])]
            for risk in self.risks
        ]
        return _page.page(
            _page.paragraph(f"{self.rows:,} rows, {len(self.columns)} columns."),
            _page.table(*self._cells()),
            _page.table(["who knows only this", "finds alone", "among fewer than 5"], risks),
            _page.paragraph("Roles are guesses: look at them in .recipe.", "faint"),
        )


def inspect(table: Any, *, progress: _progress.Progress = None) -> Findings:
    """Looks at a table: what its columns hold, which of them single people out.

    >>> import scumble as sb
    >>> found = sb.inspect({"age": [31, 35, 52, 58] * 5, "sex": ["f", "m"] * 10})
    >>> found.rows, [column["role"] for column in found.columns]
    (20, ['quasi', 'quasi'])
    """
    whole = given(table)
    with _progress.shown(progress) as tell:
        return Findings(json.loads(_internal.inspect(whole, FRAME, tell)))
