"""Publish tables about people, keep a promise to them, and prove it.

>>> import scumble as sb
>>> recipe = sb.Recipe(
...     columns={
...         "id": "identifier",
...         "age": sb.quasi(type="number", hierarchy={"widths": [10, 20]}),
...         "sex": "quasi",
...         "illness": "sensitive",
...     },
...     promise={"k-anonymity": 2},
... )
>>> release = recipe.publish({
...     "id": [1, 2, 3, 4],
...     "age": [31, 35, 52, 58],
...     "sex": ["f", "f", "m", "m"],
...     "illness": ["flu", "cough", "flu", "ulcer"],
... })
>>> release
<scumble.Release in memory: 4 rows; k-anonymity (k = 2)>
>>> release.audit().holds
True
>>> release.estimate("SELECT COUNT(*) FROM release WHERE illness = 'flu'").value
2.0
"""

from scumble._compare import Comparison, compare
from scumble._errors import (
    CannotBeMet,
    FileError,
    InputError,
    PromiseBroken,
    RecipeError,
    ScumbleError,
)
from scumble._inspect import Findings, inspect
from scumble._page import Picture
from scumble._recipe import Plan, Recipe, quasi, sensitive
from scumble._release import Audit, Draws, Estimate, Release, open
from scumble._table import Table

__all__ = [
    "Audit",
    "CannotBeMet",
    "Comparison",
    "Draws",
    "Estimate",
    "FileError",
    "Findings",
    "InputError",
    "Picture",
    "Plan",
    "PromiseBroken",
    "Recipe",
    "RecipeError",
    "Release",
    "ScumbleError",
    "Table",
    "compare",
    "inspect",
    "open",
    "quasi",
    "sensitive",
]
