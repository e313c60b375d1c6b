"""Releases, audits, answers and draws."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scumble import _internal, _page, _progress
from scumble._errors import RecipeError
from scumble._files import path_of as _path
from scumble._files import read, written
from scumble._table import Table, _type_name, given, taken

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Release:
    """A release: a table about people, and what is promised to them.

    It comes from :meth:`Recipe.publish`, :meth:`Plan.apply` or :func:`open`, and lives in
    memory or in a folder.
    """

    _engine: _internal.Release
    _directory: str | None
    _table: Table | None

    def __init__(self) -> None:
        raise TypeError("a release comes from `recipe.publish(table)` or `sb.open(folder)`")

    @classmethod
    def _of(cls, engine: _internal.Release, directory: str | None) -> Release:
        made = cls.__new__(cls)
        made._engine = engine
        made._directory = directory
        made._table = None
        return made

    @property
    def directory(self) -> str | None:
        """The folder that it is in; ``None`` if it is in memory."""
        return self._directory

    @property
    def manifest(self) -> dict[str, Any]:
        """What it says about itself, as docs/manifest.md explains it."""
        return json.loads(self._engine.manifest_json())

    @property
    def notes(self) -> list[str]:
        """What a steward should look at before handing it out."""
        notes = list(self._engine.notes)
        if self._engine.unnamed:
            names = ", ".join(f"`{name}`" for name in self._engine.unnamed)
            notes.insert(0, f"left out, because the recipe does not name them: {names}")
        return notes

    @property
    def holds(self) -> bool | None:
        """Whether every promise held when it was published here; ``None`` if it was opened."""
        report = self._engine.report_json()
        return None if report is None else json.loads(report)["holds"]

    @property
    def files(self) -> list[str]:
        """The names of its files."""
        return self._engine.files()

    def read(self, file: str) -> bytes:
        """A file of it, such as ``manifest.json`` or ``report.html``."""
        return self._engine.read(file)

    def __len__(self) -> int:
        return self.manifest["rows"]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow stream (PyCapsule interface)."""
        return self._rows().__arrow_c_stream__(requested_schema)

    def _rows(self) -> Table:
        if self._table is None:
            self._table = Table._of(self._engine.rows())
        return self._table

    def table(self) -> dict[str, list[Any]]:
        """The rows, each column as a list."""
        return self._rows().to_pydict()

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a table of pyarrow."""
        return self._rows().to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame of pandas."""
        return self._rows().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The rows as a data frame of polars."""
        return self._rows().to_polars()

    def save(self, directory: str | os.PathLike[str], *, replace: bool = False) -> Release:
        """Saves it as a folder, which appears whole or not at all."""
        where = _path(directory, "`directory`")
        return Release._of(self._engine.save(where, bool(replace)), where)

    def audit(
        self,
        original: Any = None,
        *,
        population: Any = None,
        knowledge: Any = None,
        also: Release | Sequence[Release] = (),
        progress: _progress.Progress = None,
    ) -> Audit:
        """Rechecks every promise from the files, and attacks the release.

        ``original`` is the table it was made from: for attacks and for what the release
        costs. ``population`` is everyone who may be in it. ``knowledge`` is what an
        adversary knows of how sensitive values depend on other columns: ``"table"`` for what
        the original tells, a table of such columns, a value and its ``probability``, the
        path of such a file, or a list of these. ``also`` are other releases of the same
        people.
        """
        whole = None if original is None else given(original, "the original")
        people = None if population is None else given(population, "the population")
        of_table = isinstance(knowledge, str) and knowledge == "table"
        if of_table and original is None:
            raise RecipeError(
                '`knowledge="table"` needs the table', None, "give it with `original=`"
            )
        files = None if knowledge is None or of_table else _files(knowledge)
        others = [also] if isinstance(also, Release) else list(also)
        for other in others:
            if not isinstance(other, Release):
                raise RecipeError(
                    f"`also` has something of the type `{_type_name(other)}`, "
                    "but must have releases"
                )
        with _progress.shown(progress) as tell:
            report, html = self._engine.audit(
                whole, people, files, of_table, [other._engine for other in others], tell
            )
        return Audit(json.loads(report), html)

    def estimate(
        self, question: str, *, way: str = "inverse", progress: _progress.Progress = None
    ) -> Estimate:
        """Estimates numbers of the table behind the release, with standard errors.

        The question is SQL: ``COUNT(*)``, ``SUM``, ``AVG``, ``SHARE``, with ``WHERE`` and
        ``GROUP BY`` over any columns of the table; ``FROM`` may name anything. ``way`` says
        how noise is undone: ``"inverse"``, ``"iterative"`` or ``"simplex"``.

        >>> import scumble as sb
        >>> recipe = sb.Recipe(columns={"age": "quasi", "sex": "other"},
        ...                    promise={"k-anonymity": 2})
        >>> release = recipe.publish({"age": [31, 31, 58, 58], "sex": list("fmff")})
        >>> release.estimate("SELECT sex, COUNT(*) FROM release GROUP BY sex")
        sex  estimate  ± s.e.  95 % interval
        f    3         0       exact
        m    1         0       exact
        """
        if not isinstance(question, str):
            raise RecipeError(f"the question is of the type `{_type_name(question)}`, not text")
        with _progress.shown(progress) as tell:
            answer = self._engine.estimate(question, way, tell)
        return Estimate(json.loads(answer))

    def sample(
        self, draws: int = 5, *, seed: int | None = None, progress: _progress.Progress = None
    ) -> Draws:
        """Draws whole tables, each of which may be the one behind the release.

        Fit a model to each, and combine the results: how much they differ from draw to draw
        says how far they may be off (docs/sample.md).
        """
        if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
            raise RecipeError("`draws` must be a whole number from 1 to 1000")
        with _progress.shown(progress) as tell:
            drawn = self._engine.sample(draws, seed, tell)
        return Draws([Table._of(table) for table in drawn])

    def __repr__(self) -> str:
        manifest = self.manifest
        where = "in memory" if self._directory is None else f"in {self._directory}"
        promises = ", ".join(
            f"{promise['name']} ({_page.parameters(promise['asked'])})"
            for promise in manifest["promises"]
        )
        left_out = f", {manifest['left_out']:,} left out" if manifest["left_out"] else ""
        return f"<scumble.Release {where}: {manifest['rows']:,} rows{left_out}; {promises}>"

    def _repr_html_(self) -> str:
        manifest = self.manifest
        text = self._engine.report_json()
        report = None if text is None else json.loads(text)
        where = "in memory" if self._directory is None else f"in {self._directory}"
        rows = f"{manifest['rows']:,} rows"
        if manifest["left_out"]:
            rows += f", {manifest['left_out']:,} left out"
        parts = [_page.paragraph(f"Release {where}: {rows}.")]
        if manifest["experiment"]:
            parts.append(
                _page.paragraph(
                    "Randomness was fixed by a seed: an experiment, not for publication.", "bad"
                )
            )
        if report is not None:
            parts += [_promises(report), _losses(report)]
        else:
            rows_of = [
                [
                    promise["name"],
                    _page.parameters(promise["asked"]),
                    _page.parameters(promise.get("measured")),
                    promise.get("certified") or "when it was published",
                ]
                for promise in manifest["promises"]
            ]
            parts.append(_page.table(["promise", "asked", "measured", "certified"], rows_of))
            parts.append(_losses(manifest))
        parts += [_page.paragraph(note, "faint") for note in self.notes]
        return _page.page(*parts)


class Audit:
    """What an audit found: for the steward, unless only what is public was given."""

    def __init__(self, report: dict[str, Any], html: str) -> None:
        self._report = report
        #: The whole report as a page.
        self.page = html

    @property
    def holds(self) -> bool:
        """Whether every promise holds; false, too, if one could not be decided."""
        return self._report["holds"]

    @property
    def promises(self) -> list[dict[str, Any]]:
        """Each promise: ``asked``, ``measured``, and whether it ``holds``."""
        return [p for p in self._report["promises"] if p["holds"] is not None]

    @property
    def undecided(self) -> dict[str, str]:
        """Promises that could not be decided with what was given, and why."""
        return {p["name"]: p["reason"] for p in self._report["promises"] if p["holds"] is None}

    @property
    def attacks(self) -> list[dict[str, Any]]:
        """Each attack that was tried: how often it succeeds, and how often chance does."""
        return [a for a in self._report["attacks"] if "not_applicable" not in a]

    @property
    def not_tried(self) -> dict[str, str]:
        """Attacks that do not apply, and why."""
        return {
            a["name"]: a["not_applicable"] for a in self._report["attacks"] if "not_applicable" in a
        }

    @property
    def loss(self) -> dict[str, float]:
        """What the release costs, by every loss."""
        return self._report["loss"]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report as a page. It is private if the original was given."""
        written(_path(path, "the path of a report"), self.page)

    def __repr__(self) -> str:
        held = "every promise holds" if self.holds else "A PROMISE DOES NOT HOLD"
        if self.undecided and all(p["holds"] for p in self.promises):
            held = "a promise could not be decided"
        return f"<scumble.Audit: {held}; {len(self.attacks)} attacks tried>"

    def _repr_html_(self) -> str:
        parts = [_promises(self._report)]
        if self.attacks:
            rows = [
                [
                    _attack_name(attack),
                    _page.percent(attack["success"]),
                    _page.percent(attack["chance"]),
                    _page.percent(attack["worst"]),
                ]
                for attack in self.attacks
            ]
            heading = ["attack", "people hit", "by chance", "surest guess"]
            parts.append(_page.table(heading, rows))
        reasons: dict[str, list[str]] = {}
        for name, reason in self.not_tried.items():
            reasons.setdefault(reason, []).append(name)
        for reason, names in reasons.items():
            parts.append(_page.paragraph(f"Not tried: {', '.join(names)} ({reason}).", "faint"))
        parts.append(_losses(self._report))
        return _page.page(*parts)


class Estimate:
    """Answers to a question, each with its error."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self._answer = answer

    @property
    def question(self) -> str:
        """The question."""
        return self._answer["question"]

    @property
    def notes(self) -> list[str]:
        """What a reader of the answers must know."""
        return self._answer["notes"]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Each answer: the values it is about, ``estimate``, ``standard_error``, ``low`` and
        ``high`` of a 95 % interval, and ``at_least`` and ``at_most``, which the truth cannot
        leave."""
        answers = self._answer["answers"]
        named = len(answers) > 1
        rows = []
        for answer in answers:
            for estimate in answer["estimates"]:
                row = dict(estimate["values"])
                if named:
                    row["number"] = answer["name"]
                row.update({key: estimate[key] for key in _NUMBERS})
                rows.append(row)
        return rows

    @property
    def value(self) -> float:
        """The one number that was asked for."""
        rows = self.rows
        if len(rows) != 1:
            raise RecipeError(f"the question has {len(rows)} answers", None, "use `.rows`")
        return rows[0]["estimate"]

    def to_pydict(self) -> dict[str, list[Any]]:
        """The answers as a table, each column as a list."""
        rows = self.rows
        answers = self._answer["answers"]
        names = list(answers[0]["group_by"]) if answers else []
        names += ["number"] if len(answers) > 1 else []
        return {name: [row[name] for row in rows] for name in [*names, *_NUMBERS]}

    def to_pandas(self) -> pandas.DataFrame:
        """The answers as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.to_pydict())

    def to_polars(self) -> polars.DataFrame:
        """The answers as a data frame of polars."""
        import polars

        return polars.DataFrame(self.to_pydict())

    def plot(self) -> _page.Picture:
        """The answers with their intervals, as a picture."""
        rows = [
            (name or "all rows", row["estimate"], row["low"], row["high"])
            for name, row in zip(self._labels(), self.rows)
        ]
        return _page.intervals(self.question, rows)

    def _labels(self) -> list[str]:
        labels = []
        for row in self.rows:
            own = [row[key] for key in row if key not in _NUMBERS]
            labels.append(", ".join("(missing)" if text == "" else text for text in own))
        return labels

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        names = [name for name in self.to_pydict() if name not in _NUMBERS]
        cells = []
        for row in self.rows:
            error = row["standard_error"]
            if error == 0 and row["basis"] != "limits":
                interval = "exact"
            elif row["low"] is None or row["basis"] == "limits":
                interval = "unknown"
            else:
                interval = f"{_page.number(row['low'])} to {_page.number(row['high'])}"
            own = ["(missing)" if row[name] == "" else row[name] for name in names]
            shown = "unknown" if error is None else _page.number(error)
            cells.append([*own, _page.number(row["estimate"]), shown, interval])
        return [*names, "estimate", "± s.e.", "95 % interval"], cells

    def __repr__(self) -> str:
        heading, rows = self._cells()
        widths = [max(len(row[place]) for row in [heading, *rows]) for place in range(len(heading))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
            for row in [heading, *rows]
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        notes = [_page.paragraph(note, "faint") for note in self.notes]
        return _page.page(_page.table(*self._cells()), *notes)


_NUMBERS = ("estimate", "standard_error", "low", "high", "at_least", "at_most", "basis")


class Draws(Sequence[Table]):
    """Tables that were drawn from a release, one after the other."""

    def __init__(self, tables: list[Table]) -> None:
        self._tables = tables

    def __len__(self) -> int:
        return len(self._tables)

    def __getitem__(self, place: Any) -> Any:
        found = self._tables[place]
        return Draws(found) if isinstance(place, slice) else found

    def __iter__(self) -> Iterator[Table]:
        return iter(self._tables)

    def __repr__(self) -> str:
        rows = len(self._tables[0]) if self._tables else 0
        return f"<scumble.Draws: {len(self)} tables of {rows:,} rows>"

    def to_pandas(self) -> pandas.DataFrame:
        """All draws below each other; the index ``draw`` tells them apart."""
        import pandas

        frames = {number: table.to_pandas() for number, table in enumerate(self, start=1)}
        return pandas.concat(frames, names=["draw", None])


def open(directory: str | os.PathLike[str]) -> Release:
    """Opens a release in a folder."""
    where = _path(directory, "`directory`")
    return Release._of(_internal.Release.open(where), where)


def _files(knowledge: Any) -> list[tuple[str, bytes]]:
    """What an adversary knows, as files."""
    many = knowledge if isinstance(knowledge, (list, tuple)) else [knowledge]
    files = []
    for place, one in enumerate(many, start=1):
        if isinstance(one, (str, os.PathLike)):
            name = _path(one, "`knowledge`")
            files.append((name, read(name)))
        else:
            name = f"the knowledge {place}" if len(many) > 1 else "the knowledge"
            files.append((name, taken(one, name).csv(header=True)))
    return files




def _attack_name(attack: dict[str, Any]) -> str:
    column = attack.get("column")
    return f"{attack['name']} ({column})" if column else attack["name"]


def _promises(report: dict[str, Any]) -> str:
    rows = []
    for promise in report["promises"]:
        holds = promise["holds"]
        told = _page.verdict(holds)
        if holds is False:
            told = _page.Cell(f"{told}, {promise['rows_at_risk']:,} rows at risk")
        rows.append(
            [
                promise["name"],
                _page.parameters(promise.get("asked")),
                _page.parameters(promise.get("measured")) or promise.get("reason", ""),
                told,
            ]
        )
    return _page.table(["promise", "asked", "measured", "holds"], rows)


def _losses(report: dict[str, Any]) -> str:
    if not report["loss"]:
        return ""
    return _page.table(["what it cost", ""], [[name, loss] for name, loss in report["loss"].items()])
