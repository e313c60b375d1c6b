"""Recipes: what the columns are, what is promised, and how."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from scumble import _files, _internal, _page, _progress
from scumble._errors import RecipeError
from scumble._files import path_of as _path
from scumble._release import Release
from scumble._table import _type_name, given, taken

#: What a column is for, or that and more; see :func:`quasi`.
Column = Union[str, Mapping[str, Any]]

#: What the table is called, in recipes that do not say and in messages.
FRAME = "frame"


def quasi(
    *,
    type: str | None = None,
    hierarchy: Any = None,
    format: str | None = None,
    domain: Any = None,
    weight: float | None = None,
    lowest: int | None = None,
    highest: int | None = None,
    step: float | None = None,
) -> dict[str, Any]:
    """A column that may be known to an adversary from elsewhere, so that it is coarsened.

    ``type`` is ``"category"``, ``"number"`` or ``"date"``. ``hierarchy`` says how values
    coarsen: ``{"widths": [5, 10]}``, ``{"cuts": [18, 30, 65]}``, ``{"mask": "right"}``,
    ``{"dates": ["month", "year"]}``, ``{"csv": "file.csv"}``, or a table or a list of lists
    with a line for each value, itself first and ``*`` last. The recipe reference
    (docs/recipe.md) has the other keys.

    >>> import scumble as sb
    >>> sb.quasi(type="number", hierarchy={"widths": [5, 10, 20]})
    {'role': 'quasi', 'type': 'number', 'hierarchy': {'widths': [5, 10, 20]}}
    """
    return _column("quasi", locals())


def sensitive(
    *,
    type: str | None = None,
    hierarchy: Any = None,
    format: str | None = None,
    domain: Any = None,
    step: float | None = None,
) -> dict[str, Any]:
    """A column that an adversary wants to know, with the keys of :func:`quasi`.

    >>> import scumble as sb
    >>> sb.sensitive(domain=["negative", "positive"])
    {'role': 'sensitive', 'domain': ['negative', 'positive']}
    """
    return _column("sensitive", locals())


def _column(role: str, said: dict[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in said.items() if value is not None and key != "role"}
    return {"role": role, **known}


def _remade(has_table: bool, make: Any, said: tuple[Any, ...]) -> Recipe:
    """A recipe as it was made before."""
    made = Recipe.__new__(Recipe)
    made._has_table = has_table
    made._made_by = (make, said)
    made._engine = make(*said)
    return made


class Recipe:
    """What the columns of a table are, what is promised of them, and how.

    The keys are those of a recipe file (docs/recipe.md).

    >>> import scumble as sb
    >>> recipe = sb.Recipe(
    ...     columns={
    ...         "id": "identifier",
    ...         "age": sb.quasi(type="number", hierarchy={"widths": [10, 20]}),
    ...         "illness": "sensitive",
    ...     },
    ...     promise={"k-anonymity": 2},
    ... )
    >>> release = recipe.publish({
    ...     "id": [1, 2, 3, 4],
    ...     "age": [31, 35, 52, 58],
    ...     "illness": ["flu", "cough", "flu", "ulcer"],
    ... })
    >>> sorted(set(release.table()["age"]))
    ['[30, 40)', '[50, 60)']
    """

    _engine: _internal.Recipe
    #: What makes the same engine again, on another process.
    _made_by: tuple[Any, tuple[Any, ...]]
    _has_table: bool

    def __init__(
        self,
        columns: Mapping[str, Column],
        promise: Mapping[str, Any],
        method: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None = None,
        input: Mapping[str, Any] | None = None,
        release: Mapping[str, Any] | None = None,
        folder: str | os.PathLike[str] = "",
    ) -> None:
        """``columns`` says what each column is for, ``promise`` what must hold.

        ``input`` has ``person``, ``missing`` and so on, ``release`` the ``format``. Files
        that the recipe names are looked for in ``folder``.
        """
        sections: dict[str, Any] = {"columns": columns, "promise": promise}
        sections.update({"input": input or {}, "release": release or {}})
        for name, value in sections.items():
            if not isinstance(value, Mapping):
                raise _wrong_type(name, value, "a dict")
        files: dict[str, bytes] = {}
        said: dict[str, Any] = {
            "input": {"table": FRAME, **_plain(input or {}, "input")},
            "columns": {
                _name(name): _column_of(name, column, files) for name, column in columns.items()
            },
            "promise": _plain(promise, "promise"),
        }
        if method is not None:
            said["method"] = _method(method)
        if release is not None:
            said["release"] = _plain(release, "release")
        self._has_table = "table" in sections["input"]
        self._made_by = (_internal.Recipe.of, (json.dumps(said), _toml(said), _folder(folder), files))
        self._engine = _internal.Recipe.of(*self._made_by[1])

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Recipe:
        """Reads a recipe file; what it names is in its folder."""
        file = _path(path, "the path of a recipe")
        text = _files.text(file)
        return cls._parsed(text, file, os.path.dirname(file))

    @classmethod
    def parse(cls, text: str, folder: str | os.PathLike[str] = "") -> Recipe:
        """A recipe in TOML; files that it names are looked for in ``folder``.

        >>> import scumble as sb
        >>> sb.Recipe.parse('''
        ... [input]
        ... table = "people.csv"
        ... [columns]
        ... age = "quasi"
        ... [promise]
        ... k-anonymity = 2
        ... ''')
        <scumble.Recipe: age quasi>
        """
        if not isinstance(text, str):
            raise _wrong_type("text", text, "a recipe in TOML")
        return cls._parsed(text, "the recipe", _folder(folder))

    @classmethod
    def _parsed(cls, text: str, file: str, folder: str, has_table: bool = True) -> Recipe:
        return _remade(has_table, _internal.Recipe.parse, (text, file, folder))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self._has_table, *self._made_by)

    def __str__(self) -> str:
        return self._engine.text

    def __repr__(self) -> str:
        roles = ", ".join(f"{name} {role}" for name, role in self._engine.roles())
        return f"<scumble.Recipe: {roles}>"

    def _repr_html_(self) -> str:
        from html import escape

        return _page.page(f"<pre>{escape(self._engine.text)}</pre>")

    @property
    def columns(self) -> dict[str, str]:
        """Each column with its role."""
        return dict(self._engine.roles())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the recipe as a TOML file, for the command ``scumble publish``."""
        _files.written(_path(path, "the path of a recipe"), self._engine.text)

    def publish(
        self,
        table: Any = None,
        directory: str | os.PathLike[str] | None = None,
        *,
        seed: int | None = None,
        population: Any = None,
        replace: bool = False,
        ledger: str | os.PathLike[str] | None = None,
        strict_ledger: bool = False,
        progress: _progress.Progress = None,
    ) -> Release:
        """Publishes a table: in memory, or in ``directory``, which appears whole or not at all.

        ``table`` is a data frame, anything with ``__arrow_c_stream__``, a dict of lists, or
        the path of a file; without one the recipe's own is read. ``population`` is everyone
        who may be in it, if presence is promised. A ``seed`` makes an experiment, which is
        marked as such. ``ledger`` is a file that lists the releases that are out.

        Raises :class:`CannotBeMet` if no release keeps the promise. Nothing is written on
        errors.
        """
        return self._published(
            table, directory, seed, population, replace, ledger, strict_ledger, progress, None
        )

    def _published(
        self,
        table: Any,
        directory: str | os.PathLike[str] | None,
        seed: int | None,
        population: Any,
        replace: bool,
        ledger: str | os.PathLike[str] | None,
        strict_ledger: bool,
        progress: _progress.Progress,
        plan: _internal.Plan | None,
    ) -> Release:
        if table is None and not self._has_table:
            raise RecipeError(
                "there is no table", None, 'give one, or name its file: input={"table": "people.csv"}'
            )
        whole = None if table is None else given(table)
        people = None if population is None else given(population, "the population")
        _check_seed(seed)
        with _progress.shown(progress) as tell:
            made = self._engine.publish(
                whole,
                directory=None if directory is None else _path(directory, "`directory`"),
                replace=bool(replace),
                seed=seed,
                population=people,
                ledger=None if ledger is None else _path(ledger, "`ledger`"),
                strict_ledger=bool(strict_ledger),
                plan=plan,
                progress=tell,
            )
        where = None if directory is None else _path(directory, "`directory`")
        return Release._of(made, where)

    def plan(
        self,
        table: Any = None,
        *,
        population: Any = None,
        seed: int | None = None,
        progress: _progress.Progress = None,
    ) -> Plan:
        """Finds how to publish a table like this one, to be applied to others.

        The plan is certified on this table. It is private: it holds values of it.

        >>> import scumble as sb
        >>> recipe = sb.Recipe(
        ...     columns={"age": sb.quasi(type="number", hierarchy={"widths": [10, 20]})},
        ...     promise={"k-anonymity": 2},
        ...     method="full-domain",
        ... )
        >>> plan = recipe.plan({"age": [31, 35, 52, 58]})
        >>> plan.apply({"age": [41, 42, 43, 66, 67]}).table()["age"]
        ['[40, 50)', '[40, 50)', '[40, 50)', '[60, 70)', '[60, 70)']
        """
        release = self.publish(table, population=population, seed=seed, progress=progress)
        plan = release._engine.plan()
        assert plan is not None, "a release that was published here has a plan"
        return Plan._of(self, plan)


class Plan:
    """What was decided about a table, for others of the same kind. Private."""

    def __init__(self) -> None:
        raise TypeError("a plan comes from `recipe.plan(table)` or `sb.Plan.read(recipe, path)`")

    @classmethod
    def _of(cls, recipe: Recipe, engine: _internal.Plan) -> Plan:
        made = cls.__new__(cls)
        made._recipe = recipe
        made._engine = engine
        return made

    _recipe: Recipe
    _engine: _internal.Plan

    @classmethod
    def read(cls, recipe: Recipe, path: str | os.PathLike[str]) -> Plan:
        """Reads a plan that :meth:`save` or ``scumble publish --plan`` wrote."""
        file = _path(path, "the path of a plan")
        text = _files.text(file)
        return cls._of(recipe, _internal.Plan.parse(text, file))

    def __reduce__(self) -> tuple[Any, ...]:
        return _replanned, (self._recipe, self._engine.json())

    def __repr__(self) -> str:
        return f"<scumble.Plan: {self._engine.method}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan, readable for its owner only: it holds values of the table."""
        _files.kept_private(_path(path, "the path of a plan"), self._engine.json())

    def apply(
        self,
        table: Any = None,
        directory: str | os.PathLike[str] | None = None,
        *,
        seed: int | None = None,
        population: Any = None,
        replace: bool = False,
        progress: _progress.Progress = None,
    ) -> Release:
        """Publishes another table by this plan. The promise is certified of the result.

        Raises :class:`CannotBeMet` if the promise cannot be kept of these rows by the plan.
        """
        return self._recipe._published(
            table, directory, seed, population, replace, None, False, progress, self._engine
        )


def _replanned(recipe: Recipe, text: str) -> Plan:
    return Plan._of(recipe, _internal.Plan.parse(text, "the plan"))


def _check_seed(seed: int | None) -> None:
    whole = isinstance(seed, int) and not isinstance(seed, bool)
    if seed is not None and not (whole and 0 <= seed < 2**64):
        raise RecipeError("`seed` must be a whole number from 0 to 2^64 - 1")


def _wrong_type(name: str, value: object, wanted: str) -> RecipeError:
    return RecipeError(f"`{name}` is of the type `{_type_name(value)}`, but must be {wanted}")


def _folder(folder: str | os.PathLike[str]) -> str:
    return _path(folder, "`folder`")


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise _wrong_type("columns", name, "named by text")
    return name


def _column_of(name: str, column: object, files: dict[str, bytes]) -> object:
    if isinstance(column, str):
        return column
    if not isinstance(column, Mapping):
        raise RecipeError(
            f"column `{name}` is of the type `{_type_name(column)}`, but must be a role or a dict",
            None,
            'as in "quasi", or sb.quasi(type="number")',
        )
    said = dict(column)
    hierarchy = said.get("hierarchy")
    if hierarchy is not None and not isinstance(hierarchy, (Mapping, str)):
        file = f"the hierarchy of {name}"
        files[file] = _lines(hierarchy, name)
        said["hierarchy"] = {"csv": file}
    return _plain(said, f"columns.{name}")


def _lines(hierarchy: Any, name: str) -> bytes:
    """A hierarchy as the file it would be in."""
    if hasattr(hierarchy, "__arrow_c_stream__") or hasattr(hierarchy, "columns"):
        return taken(hierarchy, f"the hierarchy of {name}").csv(header=False)
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if not isinstance(hierarchy, Iterable):
        raise _wrong_type(f"columns.{name}.hierarchy", hierarchy, "a dict, a table or lines")
    for line in hierarchy:
        if isinstance(line, str) or not isinstance(line, Iterable):
            raise _wrong_type(f"columns.{name}.hierarchy", line, "lines, each a list of texts")
        writer.writerow(["" if cell is None else str(cell) for cell in line])
    return out.getvalue().encode()


def _method(method: object) -> object:
    if isinstance(method, str):
        return {"name": method}
    if isinstance(method, Mapping):
        return _plain(method, "method")
    if isinstance(method, Sequence):
        return [_method(one) for one in method]
    raise _wrong_type("method", method, "a name, a dict, or a list of these")


def _plain(value: Any, place: str) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {
            _text(key, place): _plain(part, f"{place}.{key}")
            for key, part in value.items()
            if part is not None
        }
    if isinstance(value, (str, bool)):
        return value
    if hasattr(value, "item") and not isinstance(value, (list, tuple)) and _is_scalar(value):
        value = value.item()
    if isinstance(value, (int, float)):
        if value != value or value in (float("inf"), float("-inf")):
            raise RecipeError(f"`{place}` must be a finite number")
        return value
    if isinstance(value, (list, tuple, range)) or hasattr(value, "tolist"):
        parts = value.tolist() if hasattr(value, "tolist") else value
        return [_plain(part, place) for part in parts]
    raise _wrong_type(place, value, "text, a number, true or false, a list or a dict")


def _is_scalar(value: Any) -> bool:
    return getattr(value, "shape", ()) == ()


def _text(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise _wrong_type(place, key, "a dict with keys of text")
    return key


def _toml(said: Mapping[str, Any]) -> str:
    """A recipe as a person would write it."""
    parts = []
    for section, value in said.items():
        for own in value if isinstance(value, list) else [value]:
            head = f"[[{section}]]" if isinstance(value, list) else f"[{section}]"
            lines = [f"{_key(key)} = {_inline(part)}" for key, part in own.items()]
            parts.append("\n".join([head, *lines]))
    return "\n\n".join(parts) + "\n"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _inline(key)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        parts = ", ".join(f"{_key(key)} = {_inline(part)}" for key, part in value.items())
        return f"{{ {parts} }}"
    if isinstance(value, list):
        return f"[{', '.join(_inline(part) for part in value)}]"
    # Texts, numbers and truth are written as in JSON, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
