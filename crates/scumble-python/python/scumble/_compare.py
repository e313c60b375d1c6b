"""What each level of privacy costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scumble import _internal, _page, _progress
from scumble._errors import RecipeError
from scumble._recipe import Recipe, _inline, _plain, _wrong_type
from scumble._table import given

if TYPE_CHECKING:
    import pandas


class Comparison:
    """Recipes side by side: for the steward, since numbers are about the true table."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found

    @property
    def keys(self) -> list[str]:
        """What differs from point to point."""
        return self._found["keys"]

    @property
    def points(self) -> list[dict[str, Any]]:
        """What was measured of each release, or the ``error`` where there is none."""
        return self._found["points"]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The same in short: the keys, ``risk``, ``query_error``, ``loss``, ``left_out``."""
        rows = []
        for point in self.points:
            row = dict(zip(self.keys, point["values"]))
            risks = {risk["kind"]: risk["gain"] for risk in point.get("risks", [])}
            people = [risks[kind] for kind in ("row", "value") if kind in risks]
            row["risk"] = max(people) if people else risks.get("presence")
            row["query_error"] = point.get("query_error")
            row["loss"] = _headline(point.get("loss") or {})
            row["tree"] = point.get("tree")
            row["left_out"] = point.get("left_out")
            row["holds"] = point.get("holds")
            row["error"] = point.get("error")
            rows.append(row)
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """The points as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.rows)

    def plot(self) -> _page.Picture:
        """What attacks find out against how far answers are off: filled points are those
        that no other beats in both."""
        points = []
        for row in self.rows:
            if row["risk"] is not None and row["query_error"] is not None:
                name = ", ".join(str(row[key]) for key in self.keys)
                points.append((name, row["risk"], row["query_error"]))
        return _page.frontier(
            "Privacy and use", "people found out beyond chance", "error of answers", points
        )

    def _cells(self) -> tuple[list[str], list[list[Any]]]:
        cells = []
        for row in self.rows:
            own = ["" if row[key] is None else str(row[key]) for key in self.keys]
            if row["error"] is not None:
                cells.append([*own, "no release", "", "", "", row["error"]])
                continue
            cells.append(
                [
                    *own,
                    _page.percent(row["risk"]),
                    _page.percent(row["query_error"]),
                    _page.number(row["loss"]),
                    _page.number(row["left_out"]),
                    "",
                ]
            )
        return [*self.keys, "risk", "error of answers", "loss", "left out", ""], cells

    def __repr__(self) -> str:
        return f"<scumble.Comparison: {len(self.points)} points by {', '.join(self.keys)}>"

    def _repr_html_(self) -> str:
        return _page.page(_page.table(*self._cells()), str(self.plot()))


def _headline(loss: Mapping[str, float]) -> float | None:
    for name in ("loss", "reconstruction-error", "spread", "surprise"):
        if name in loss:
            return loss[name]
    return next(iter(loss.values()), None)


def compare(
    recipes: Recipe | Sequence[Recipe],
    table: Any = None,
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    target: str | None = None,
    queries: int = 200,
    questions: str | None = None,
    draws: int = 5,
    seed: int = 1,
    progress: _progress.Progress = None,
) -> Comparison:
    """Publishes recipes for one table, and measures every release.

    ``vary`` has keys and the values they are tried with, as in
    ``{"promise.k-anonymity.k": [2, 5, 10]}``: all combinations are tried. ``target`` is the
    column that learners are to tell. ``questions`` are questions in SQL to ask in place of
    ``queries`` random ones. Releases are thrown away.
    """
    many = [recipes] if isinstance(recipes, Recipe) else recipes
    if not isinstance(many, Sequence) or isinstance(many, str):
        raise _wrong_type("recipes", recipes, "a recipe or a list of recipes")
    if not many:
        raise RecipeError("there is no recipe to compare")
    for recipe in many:
        if not isinstance(recipe, Recipe):
            raise _wrong_type("recipes", recipe, "a recipe or a list of recipes")
    typed = []
    for key, values in (vary or {}).items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise _wrong_type(f"vary[{key!r}]", values, "a list of values")
        typed.append(f"{key}={','.join(_inline(_plain(value, 'vary')) for value in values)}")
    names = ["the recipe"] if len(many) == 1 else [f"recipe {n}" for n in range(1, len(many) + 1)]
    whole = None if table is None else given(table)
    with _progress.shown(progress) as tell:
        found = _internal.compare(
            [recipe._engine for recipe in many],
            names,
            whole,
            typed,
            target,
            queries,
            questions,
            draws,
            seed,
            tell,
        )
    return Comparison(json.loads(found))
