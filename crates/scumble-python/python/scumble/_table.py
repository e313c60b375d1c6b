"""Tables in and out: every library that speaks Arrow, and plain lists."""

from __future__ import annotations

import datetime
import decimal
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scumble import _internal
from scumble._errors import InputError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_EPOCH = datetime.date(1970, 1, 1).toordinal()


class Table:
    """Rows in memory, for any library that reads Arrow.

    >>> import scumble as sb
    >>> table = sb.Table({"age": [31, 58], "sex": ["f", "m"]})
    >>> table
    <scumble.Table: 2 rows, columns age, sex>
    >>> table.to_pydict()
    {'age': [31, 58], 'sex': ['f', 'm']}
    """

    def __init__(self, table: Any) -> None:
        """``table`` is anything with ``__arrow_c_stream__``, or a mapping of names to lists."""
        self._table = taken(table)

    @classmethod
    def _of(cls, table: _internal.Table) -> Table:
        made = cls.__new__(cls)
        made._table = table
        return made

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow stream (PyCapsule interface)."""
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """What the columns hold (PyCapsule interface)."""
        return self._table.__arrow_c_schema__()

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._table.column_names

    def __len__(self) -> int:
        return self._table.num_rows

    def __repr__(self) -> str:
        return f"<scumble.Table: {len(self)} rows, columns {', '.join(self.columns)}>"

    def to_pydict(self) -> dict[str, list[Any]]:
        """Each column as a list."""
        lists, dates = self._table.lists()
        for name in dates:
            lists[name] = [
                None if day is None else datetime.date.fromordinal(day + _EPOCH)
                for day in lists[name]
            ]
        return lists

    def to_arrow(self) -> pyarrow.Table:
        """As a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a data frame of pandas; pyarrow is used if it is there."""
        import pandas

        if importlib.util.find_spec("pyarrow") is not None:
            return self.to_arrow().to_pandas()
        return pandas.DataFrame(self.to_pydict())

    def to_polars(self) -> polars.DataFrame:
        """As a data frame of polars."""
        import polars

        return polars.DataFrame(self)


def taken(table: Any, what: str = "the table") -> _internal.Table:
    """A table as the engine takes it; an error if it is none."""
    if isinstance(table, Table):
        return table._table
    if isinstance(table, Mapping):
        return _of_lists(table, what)
    if _is_pandas(table):
        return _of_pandas(table, what)
    if not hasattr(table, "__arrow_c_stream__"):
        raise InputError(
            f"{what} is of the type `{_type_name(table)}`, which is no table",
            what,
            "give a DataFrame of pandas or polars, a table of pyarrow or DuckDB, or a dict of lists",
        )
    return _of_stream(table, what)


def given(table: Any, what: str = "the table") -> Any:
    """The same, or the path of a file."""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table)
    return taken(table, what)


def _of_stream(table: Any, what: str) -> _internal.Table:
    try:
        return _internal.Table.from_stream(table)
    except InputError:
        raise
    except Exception as error:
        failed = _type_name(error)
    # Outside of the handler: what another library says may hold values of the table.
    raise InputError(
        f"{what} cannot be read as Arrow ({failed})",
        what,
        "columns of mixed types must be made text or numbers first",
    )


def _is_pandas(table: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame)


def _of_pandas(frame: Any, what: str) -> _internal.Table:
    import pandas

    for place, name in enumerate(frame.columns, start=1):
        if not isinstance(name, str):
            raise InputError(
                f"the name of column {place} of {what} is of the type `{_type_name(name)}`, "
                "but names must be text",
                what,
                "df.columns = df.columns.map(str)",
            )
    _check_names(list(frame.columns), what)
    for name in frame.columns:
        column = frame[name]
        if column.dtype == object:
            kinds = _kinds(column)
            if len(kinds) > 1 and kinds != {"int", "float"}:
                raise _mixed(name, kinds, what)
    if importlib.util.find_spec("pyarrow") is None:
        return _of_lists({name: _listed(frame[name]) for name in frame.columns}, what)
    # The index is not part of the table, as in a CSV file without it.
    frame = frame.set_axis(pandas.RangeIndex(len(frame)), axis="index")
    return _of_stream(frame, what)


def _listed(column: Any) -> list[Any]:
    return column.astype(object).where(column.notna(), None).tolist()


def _kinds(column: Any) -> set[str]:
    """The types of the values of a column of objects."""
    import pandas

    known = {type(value) for value in column[pandas.notna(column)].array}
    return {_kind_name(kind) for kind in known}


def _kind_name(kind: type) -> str:
    if issubclass(kind, bool) or kind.__name__ == "bool_":
        return "bool"
    if issubclass(kind, int) or kind.__module__ == "numpy" and "int" in kind.__name__:
        return "int"
    if issubclass(kind, float) or kind.__module__ == "numpy" and "float" in kind.__name__:
        return "float"
    if issubclass(kind, str):
        return "str"
    return kind.__name__


def _mixed(name: str, kinds: set[str], what: str) -> InputError:
    return InputError(
        f"column `{name}` of {what} mixes values of the types {', '.join(sorted(kinds))}",
        what,
        f'make them one type, as in df["{name}"] = df["{name}"].astype("string")',
    )


def _check_names(names: Sequence[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"two columns of {what} are called `{name}`", what, "rename one of them"
            )
        seen.add(name)


def _of_lists(columns: Mapping[Any, Any], what: str) -> _internal.Table:
    """A table of lists, without any library."""
    made = []
    for place, (name, values) in enumerate(columns.items(), start=1):
        if not isinstance(name, str):
            raise InputError(
                f"the name of column {place} of {what} is of the type `{_type_name(name)}`, "
                "but names must be text",
                what,
                "write names in quotes",
            )
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise InputError(
                f"column `{name}` of {what} is of the type `{_type_name(values)}`, "
                "but must be a list",
                what,
            )
        made.append((name, *_typed(name, list(values), what)))
    if len({len(values) for _, _, values in made}) > 1:
        raise InputError(
            f"the columns of {what} are not equally long", what, "every row has all columns"
        )
    return _internal.Table.from_columns(made)


def _typed(name: str, values: list[Any], what: str) -> tuple[str, list[Any]]:
    values = [value.item() if hasattr(value, "item") else value for value in values]
    values = [None if isinstance(value, float) and value != value else value for value in values]
    kinds = {_kind_name(type(value)) for value in values if value is not None}
    if kinds == {"int"}:
        if all(value is None or -(2**63) <= value < 2**63 for value in values):
            return "int", values
        return "text", [None if value is None else str(value) for value in values]
    if kinds and kinds <= {"int", "float"}:
        return "float", [None if value is None else float(value) for value in values]
    if kinds == {"bool"}:
        return "bool", values
    if kinds <= {"str"}:
        return "text", values
    if len(kinds) > 1:
        raise _mixed(name, kinds, what)
    sample = next(value for value in values if value is not None)
    if isinstance(sample, datetime.datetime):
        return _moments(values)
    if isinstance(sample, datetime.date):
        days = [None if value is None else value.toordinal() - _EPOCH for value in values]
        return "date", days
    if isinstance(sample, decimal.Decimal):
        return "text", [None if value is None else f"{value:f}" for value in values]
    raise InputError(
        f"column `{name}` of {what} holds values of the type `{_type_name(sample)}`, "
        "but must hold one value a row: text, a number, a date, true or false",
        what,
        "leave the column out, or flatten it first",
    )


def _moments(values: list[Any]) -> tuple[str, list[Any]]:
    utc = datetime.timezone.utc
    known = [
        value.astimezone(utc) if value is not None and value.tzinfo else value for value in values
    ]
    zoned = any(value is not None and value.tzinfo for value in known)
    midnight = datetime.time()
    if not zoned and all(value is None or value.time() == midnight for value in known):
        return "date", [
            None if value is None else value.date().toordinal() - _EPOCH for value in known
        ]
    return "text", [
        None if value is None else value.isoformat().replace("+00:00", "Z") for value in known
    ]


def _type_name(value: object) -> str:
    kind = type(value)
    module = kind.__module__.split(".")[0]
    return kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"
