"""A transformer for scikit-learn: coarse cells in place of values, for models.

>>> import pandas as pd
>>> from scumble.sklearn import Coarsen
>>> people = pd.DataFrame({"age": [31, 35, 38, 52, 55, 58], "sex": list("ffmmmf")})
>>> Coarsen(k=3).fit_transform(people)
array([['[30, 40)', '{f, m}'],
       ['[30, 40)', '{f, m}'],
       ['[30, 40)', '{f, m}'],
       ['[52, 60)', '{f, m}'],
       ['[52, 60)', '{f, m}'],
       ['[52, 60)', '{f, m}']], dtype=object)

**What comes out is no release.** A transformer must give a row for each row it is given, in
their order, so rows that a release would leave out stay, with ``*`` in every cell; the order
tells who is who; rows that come after fitting may be alone in their group; and nothing is
audited. Use it to find out how much coarse columns cost a model. To hand a table out, use
:meth:`scumble.Recipe.publish`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from scumble._recipe import Recipe
from scumble._table import Table

if TYPE_CHECKING:
    import pandas

__all__ = ["Coarsen"]


class Coarsen(TransformerMixin, BaseEstimator):
    """Coarsens columns, until every row of the data it is fitted to is one of at least ``k``.

    What comes out is **no release**; see the module. ``k`` is how many rows are to look
    alike, ``columns`` says how columns coarsen, as in a recipe (by default each is a number
    or a word as its values are), ``method`` is ``"mondrian"`` or ``"full-domain"``, and
    ``suppression`` the largest share of rows that are given up: they become ``*``.
    ``output`` is ``"cells"`` for texts, or ``"codes"`` for numbers: the place of a cell among
    the sorted cells of its column that were there at fitting, -1 for others.
    """

    def __init__(
        self,
        k: int = 5,
        *,
        columns: dict[str, Any] | None = None,
        method: str = "mondrian",
        suppression: float = 0.0,
        output: str = "cells",
    ) -> None:
        self.k = k
        self.columns = columns
        self.method = method
        self.suppression = suppression
        self.output = output

    def fit(self, X: Any, y: Any = None) -> Coarsen:  # noqa: N803
        """Finds how to coarsen these rows."""
        if self.output not in ("cells", "codes"):
            raise ValueError(f"`output` is {self.output!r}, but must be 'cells' or 'codes'")
        frame = self._frame(X, reset=True)
        n_samples = len(next(iter(frame.values())))
        if n_samples < self.k:
            raise ValueError(f"n_samples={n_samples} is less than k={self.k}: rows cannot look alike")
        said = {} if self.columns is None else dict(self.columns)
        for name in said:
            if name not in frame:
                raise ValueError(f"`columns` names `{name}`, which X does not have")
        columns = {name: said.get(name, "quasi") for name in frame}
        method: dict[str, Any] = {"name": self.method}
        if self.suppression:
            method["suppression"] = self.suppression
        recipe = Recipe(columns=columns, promise={"k-anonymity": self.k}, method=method)
        self.plan_ = recipe.plan(frame)
        #: The cells of each column, sorted.
        self.cells_ = [sorted(set(column)) for column in self._cells(frame)]
        return self

    def transform(self, X: Any) -> numpy.ndarray:  # noqa: N803
        """The cells of all rows, in their order; ``*`` where nothing is said."""
        check_is_fitted(self)
        columns = self._cells(self._frame(X, reset=False))
        if self.output == "codes":
            known = [{cell: code for code, cell in enumerate(cells)} for cells in self.cells_]
            coded = [
                [codes.get(cell, -1) for cell in column] for codes, column in zip(known, columns)
            ]
            return numpy.array(coded, dtype=float).T
        return numpy.array(columns, dtype=object).T

    def _cells(self, frame: dict[str, list[Any]]) -> list[list[str]]:
        """The cells of each column, row by row."""
        plan = self.plan_
        cells = plan._engine.cells(plan._recipe._engine, Table(frame)._table)
        lists, _ = cells.lists()
        return [lists[name] for name in frame]

    def get_feature_names_out(self, input_features: Any = None) -> numpy.ndarray:
        """The names of the columns, which stay what they are."""
        from sklearn.utils.validation import _check_feature_names_in

        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)

    def _frame(self, X: Any, *, reset: bool) -> dict[str, list[Any]]:  # noqa: N803
        """The columns by their names."""
        rows = validate_data(
            self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=1
        )
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{place}" for place in range(rows.shape[1])]
        return {str(name): list(rows[:, place]) for place, name in enumerate(names)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags
