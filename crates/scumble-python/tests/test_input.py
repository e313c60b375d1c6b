"""What comes in, from every library, and what is refused."""

import datetime
import decimal
import subprocess
import sys
import textwrap

import pytest

import scumble as sb

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")


def kept(table, *names, **column):
    """What is published of columns that are published as they are."""
    columns = {name: {"role": "other", **column} for name in names}
    recipe = sb.Recipe(columns={"q": "quasi", **columns}, promise={"k-anonymity": 2})
    return recipe.publish(table)


def texts(release, name):
    import csv
    import io

    rows = csv.DictReader(io.StringIO(release.read("data.csv").decode()))
    return sorted(row[name] for row in rows)


@pytest.fixture
def frame():
    return {"q": ["a", "a", "a", "a"], "x": ["u", "v", "007", "NA"], "n": [1, 2, 3, 4]}


def test_every_library_gives_the_same_release(frame, people, recipe):
    tables = [
        people,
        pandas.DataFrame(people),
        pandas.DataFrame(people).astype({"sex": "category"}),
        pandas.DataFrame(people).astype({"sex": object}),
        pandas.DataFrame(people).set_index("id", drop=False)[::1],
        polars.DataFrame(people),
        polars.DataFrame(people).with_columns(polars.col("sex").cast(polars.Categorical)),
        pyarrow.table(people),
        pyarrow.table(people).cast(
            pyarrow.schema([("id", "int32"), ("age", "int16"), ("sex", "large_string"), ("illness", "string_view")])
        ),
        pyarrow.RecordBatchReader.from_batches(
            pyarrow.table(people).schema, pyarrow.table(people).to_batches(max_chunksize=7)
        ),
        duckdb.from_arrow(pyarrow.table(people)),
    ]
    made = [recipe.publish(table, seed=1).read("data.csv") for table in tables]
    assert len(set(made)) == 1


def test_out_into_every_library(people, recipe):
    release = recipe.publish(people)
    expected = release.table()
    assert release.to_pandas().to_dict("list") == expected
    assert release.to_polars().to_dict(as_series=False) == expected
    assert release.to_arrow().to_pydict() == expected
    assert polars.DataFrame(release).to_dict(as_series=False) == expected
    assert duckdb.from_arrow(release.to_arrow()).fetchall()
    assert release.estimate("SELECT sex, COUNT(*) FROM r GROUP BY sex").to_pandas().shape[0] >= 2
    draws = release.sample(draws=3).to_pandas()
    assert draws.index.names[0] == "draw" and draws["age"].dtype == "int64"


def test_the_same_value_gives_the_same_text_as_from_csv(tmp_path):
    day = datetime.date(2024, 2, 29)
    table = pyarrow.table(
        {
            "q": ["a"] * 2,
            "int": pyarrow.array([7, None], "uint8"),
            "float": pyarrow.array([0.1, None]),
            "whole": pyarrow.array([2.0, None]),
            "bool": pyarrow.array([True, None]),
            "day": pyarrow.array([day, None], "date32"),
            "midnight": pyarrow.array([datetime.datetime(2024, 2, 29), None], "timestamp[us]"),
            "decimal": pyarrow.array([decimal.Decimal("1.50"), None]),
            "text": pyarrow.array(["007", None]),
            "words": pyarrow.array(["x", None]).dictionary_encode(),
        }
    )
    names = [name for name in table.column_names if name != "q"]
    release = kept(table, *names)
    expected = ["7", "0.1", "2.0", "true", "2024-02-29", "2024-02-29", "1.50", "007", "x"]
    assert [texts(release, name) for name in names] == [["", text] for text in expected]
    lists = {
        "q": ["a"] * 2,
        "int": [7, None],
        "float": [0.1, float("nan")],
        "whole": [2.0, None],
        "bool": [True, None],
        "day": [day, None],
        "midnight": [datetime.datetime(2024, 2, 29), None],
        "decimal": [decimal.Decimal("1.50"), None],
        "text": ["007", None],
        "words": ["x", None],
    }
    made = kept(lists, *names)
    assert [texts(made, name) for name in names] == [["", text] for text in expected]
    # And as from a CSV file with these texts.
    file = tmp_path / "t.csv"
    file.write_text(",".join(["q", *names]) + "\na," + ",".join(expected) + "\na" + "," * 9 + "\n")
    from_csv = kept(file, *names)
    assert [texts(from_csv, name) for name in names] == [texts(release, name) for name in names]


def test_moments_with_time_zones_are_in_utc():
    zoned = pandas.to_datetime(["2024-06-01 00:30", "2024-06-01 12:00"]).tz_localize("Europe/Berlin")
    release = kept(pandas.DataFrame({"q": ["a", "a"], "t": zoned}), "t")
    assert texts(release, "t") == ["2024-05-31T22:30:00Z", "2024-06-01T10:00:00Z"]
    lists = {"q": ["a", "a"], "t": list(zoned.to_pydatetime())}
    assert texts(kept(lists, "t"), "t") == texts(release, "t")
    dates = sb.Recipe(
        columns={"t": sb.quasi(type="date", hierarchy={"dates": ["month"]})},
        promise={"k-anonymity": 1 + 1},
    )
    days = pandas.DataFrame({"t": pandas.to_datetime(["2024-06-01 00:00", "2024-06-09 10:00"])})
    assert set(dates.publish(days).table()["t"]) == {"2024-06"}


def test_not_a_number_is_not_known():
    nan = float("nan")
    made = [
        kept(table, "x")
        for table in (
            {"q": ["a"] * 3, "x": [1.5, nan, None]},
            pandas.DataFrame({"q": ["a"] * 3, "x": [1.5, nan, None]}),
            pandas.DataFrame({"q": ["a"] * 3, "x": pandas.Series([1.5, nan, None], dtype=object)}),
            polars.DataFrame({"q": ["a"] * 3, "x": [1.5, nan, None]}, strict=False),
            pyarrow.table({"q": ["a"] * 3, "x": [1.5, nan, None]}),
        )
    ]
    assert {tuple(texts(release, "x")) for release in made} == {("", "", "1.5")}


def test_a_table_is_what_it_was_when_it_was_given():
    import numpy

    numbers, floats = numpy.arange(4), numpy.arange(4.0)
    frame = pandas.DataFrame({"n": numbers, "f": floats}, copy=False)
    arrow = pyarrow.table({"n": pyarrow.array(numbers), "f": pyarrow.array(floats)})
    tables = [sb.Table(frame), sb.Table(arrow), sb.Table(arrow.slice(0, 4))]
    numbers[:], floats[:] = 9, 9.5
    assert arrow["n"].to_pylist() == [9] * 4, "pyarrow shows what numpy holds"
    for table in tables:
        assert table.to_pydict() == {"n": [0, 1, 2, 3], "f": [0.0, 1.0, 2.0, 3.0]}


SECRET = "s3cr3t"


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (lambda: pandas.DataFrame([[1, SECRET]], columns=["q", "q"]), "two columns"),
        (lambda: pandas.DataFrame([[1, SECRET]], columns=["q", 5]), "must be text"),
        (lambda: {"q": ["a"], 5: [SECRET]}, "must be text"),
        (lambda: pandas.DataFrame({"q": [1, SECRET]}, dtype=object), "mixes"),
        (lambda: pandas.DataFrame({"q": [b"x", SECRET]}, dtype=object), "mixes"),
        (lambda: {"q": [1, SECRET]}, "mixes"),
        (lambda: {"q": [[SECRET], [SECRET]]}, "one value a row"),
        (lambda: pandas.DataFrame({"q": [[SECRET], [SECRET]]}), "lists or records"),
        (lambda: polars.DataFrame({"q": [[SECRET], [SECRET]]}), "lists or records"),
        (lambda: pyarrow.table({"q": [{"x": SECRET}]}), "lists or records"),
        (lambda: {"q": [SECRET], "x": [1, 2]}, "equally long"),
        (lambda: {"q": SECRET}, "must be a list"),
        (lambda: {"q": []}, "no rows"),
        (lambda: {}, ""),
        (lambda: pandas.DataFrame({"q": []}), "no rows"),
        (lambda: polars.DataFrame(schema={"q": polars.String}), "no rows"),
        (lambda: pyarrow.table({"q": pyarrow.array([], "string")}), "no rows"),
        (lambda: pyarrow.table({"q": [SECRET]}).rename_columns([""]), "no name"),
        (lambda: {"other": [SECRET]}, "no column"),
        (lambda: [SECRET], "no table"),
        (lambda: 5, "no table"),
    ],
)
def test_what_is_no_table_is_refused(table, told, tmp_path):
    recipe = sb.Recipe(columns={"q": "quasi"}, promise={"k-anonymity": 2})
    with pytest.raises(sb.ScumbleError) as caught:
        recipe.publish(table(), tmp_path / "no")
    assert isinstance(caught.value, (sb.InputError, sb.RecipeError))
    assert told in caught.value.message
    assert not list(tmp_path.iterdir())
    error = caught.value
    while error is not None:
        assert SECRET not in str(error) and SECRET not in repr(error)
        error = error.__cause__ or error.__context__


def test_numbers_that_are_none_are_refused_without_their_value(tmp_path):
    recipe = sb.Recipe(columns={"q": sb.quasi(type="number")}, promise={"k-anonymity": 2})
    for values in ([1.0, float("inf")], ["1", SECRET]):
        with pytest.raises(sb.InputError) as caught:
            recipe.publish({"q": values}, tmp_path / "no")
        assert SECRET not in str(caught.value) and "row 2" in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sb.Recipe(columns=["q"], promise={"k-anonymity": 2}),
        lambda: sb.Recipe(columns={"q": 5}, promise={"k-anonymity": 2}),
        lambda: sb.Recipe(columns={5: "quasi"}, promise={"k-anonymity": 2}),
        lambda: sb.Recipe(columns={"q": "quasi"}, promise="k-anonymity"),
        lambda: sb.Recipe(columns={"q": "quasi"}, promise={"k-anonymity": object()}),
        lambda: sb.Recipe(columns={"q": "quasi"}, promise={"k-anonymity": float("nan")}),
        lambda: sb.Recipe(columns={"q": "quasi"}, promise={"k-anonimity": 2}),
        lambda: sb.Recipe(columns={"q": "quasy"}, promise={"k-anonymity": 2}),
        lambda: sb.Recipe(columns={"q": "quasi"}, promise={"k-anonymity": 2}, method=5),
        lambda: sb.Recipe(columns={"q": "quasi"}, promise={"k-anonymity": 2}, method={"x": 1}),
        lambda: sb.Recipe(columns={"q": sb.quasi(hierarchy=5)}, promise={"k-anonymity": 2}),
        lambda: sb.Recipe(columns={"q": "quasi"}, promise={"k-anonymity": 2}, input=5),
        lambda: sb.Recipe.parse("not toml"),
        lambda: sb.Recipe.parse(5),
        lambda: sb.Recipe.read(5),
    ],
)
def test_recipes_that_cannot_be_meant(make):
    with pytest.raises(sb.RecipeError):
        make()


def test_hints_name_what_was_meant():
    with pytest.raises(sb.RecipeError) as caught:
        sb.Recipe(columns={"q": "quasi"}, promise={"k-anonimity": 2})
    assert "k-anonymity" in caught.value.hint
    with pytest.raises(sb.RecipeError) as caught:
        sb.Recipe.parse("[input]\ntable = 't'\n[columns]\nq = 'quasi'\n[promise]\nk-anonymity = 1")
    assert caught.value.place == "the recipe:6:15"


def test_wrong_arguments_are_told(people, recipe, tmp_path):
    with pytest.raises(sb.RecipeError, match="there is no table"):
        recipe.publish()
    for wrong in (-1, 2**64, 1.5, "1", True):
        with pytest.raises(sb.RecipeError, match="seed"):
            recipe.publish(people, seed=wrong)
    with pytest.raises(sb.RecipeError, match="path"):
        recipe.publish(people, 5)
    with pytest.raises(sb.FileError):
        sb.Recipe.read(tmp_path / "no.toml")
    with pytest.raises(sb.ScumbleError):
        sb.open(tmp_path)
    with pytest.raises(sb.FileError):
        sb.open(tmp_path / "no")
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(sb.ScumbleError):
        recipe.publish(people, file / "below")
    assert file.read_text() == "x" and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(OSError) as failed:
        sb.Recipe.read(tmp_path / "no.toml")
    assert failed.value.filename == str(tmp_path / "no.toml") and failed.value.errno is None


def test_nothing_but_the_engine_is_needed(people):
    """Without pandas, polars, pyarrow and numpy everything works that does not ask for them."""
    code = """
        import sys
        for name in ("pandas", "polars", "pyarrow", "numpy", "duckdb", "sklearn"):
            sys.modules[name] = None
        import scumble as sb
        recipe = sb.Recipe(columns={"age": sb.quasi(type="number")}, promise={"k-anonymity": 2})
        release = recipe.publish({"age": [31, 31, 58, 58]})
        assert release.audit(original={"age": [31, 31, 58, 58]}).holds
        assert release.estimate("SELECT COUNT(*) FROM r").value == 4
        assert len(release.sample(draws=2)) == 2
        release.estimate("SELECT COUNT(*) FROM r").plot()
        class Stream:
            def __arrow_c_stream__(self, requested_schema=None):
                return sb.Table({"age": [1, 1]}).__arrow_c_stream__()
        assert len(recipe.publish(Stream())) == 2
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_pandas_without_pyarrow(people, recipe):
    code = """
        import sys
        import importlib.util
        found = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *a: None if name == "pyarrow" else found(name, *a)
        sys.modules["pyarrow"] = None
        import pandas, scumble as sb
        frame = pandas.DataFrame({"age": [31, None, 58, 58], "day": pandas.to_datetime(["2024-01-01"] * 4)})
        recipe = sb.Recipe(columns={"age": sb.quasi(type="number"), "day": "other"}, promise={"k-anonymity": 2})
        release = recipe.publish(frame)
        assert release.to_pandas().shape == (4, 2)
        assert set(release.table()["day"]) == {"2024-01-01"}
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
