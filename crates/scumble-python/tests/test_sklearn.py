"""The transformer: every row stays, in pipelines, and it is said to be no release."""

import pickle

import pytest

pytest.importorskip("sklearn")

import numpy
import pandas
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import scumble
import scumble.sklearn
from scumble.sklearn import Coarsen

#: Checks that take what a transformer gives for numbers; cells are texts.
OF_NUMBERS = [
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_pipeline_consistency",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
]


def does_not_apply(estimator):
    if estimator.output == "codes":
        return {}
    return dict.fromkeys(OF_NUMBERS, "compares numbers, but cells are texts")


@parametrize_with_checks(
    [Coarsen(k=2), Coarsen(k=2, output="codes")], expected_failed_checks=does_not_apply
)
def test_it_is_an_estimator(estimator, check):
    check(estimator)


def test_every_row_stays_and_left_out_rows_are_stars(people):
    frame = pandas.DataFrame(people)[["age", "sex"]]
    columns = {"age": scumble.quasi(type="number", hierarchy={"widths": [2, 4]})}
    coarsen = Coarsen(k=4, columns=columns, method="full-domain", suppression=0.3)
    cells = coarsen.fit_transform(frame)
    assert cells.shape == (200, 2)
    release = coarsen.plan_.apply(frame)
    left_out = release.manifest["left_out"]
    assert left_out > 0
    assert (cells == "*").all(axis=1).sum() >= left_out
    shown = sorted(map(tuple, cells[~(cells == "*").all(axis=1)]))
    assert shown == sorted(t for t in zip(*release.table().values()) if set(t) != {"*"})
    # In their order.
    for cell, age in zip(cells[:, 0], frame["age"]):
        if cell.startswith("["):
            low, high = cell[1:-1].split(",")
            assert int(low) <= age < int(high)


def test_it_works_in_a_pipeline(people):
    frame = pandas.DataFrame(people)
    model = make_pipeline(
        Coarsen(k=5), OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=200)
    )
    model.fit(frame[["age", "sex"]], frame["illness"])
    assert model.predict(frame[["age", "sex"]].head(3)).shape == (3,)
    assert list(model[0].get_feature_names_out()) == ["age", "sex"]
    coarse = Coarsen(k=5).set_output(transform="pandas").fit_transform(frame[["age", "sex"]])
    assert list(coarse.columns) == ["age", "sex"]


def test_new_rows_get_cells_too(people):
    frame = pandas.DataFrame(people)[["age", "sex"]]
    coarsen = Coarsen(k=5).fit(frame)
    new = pandas.DataFrame({"age": [17, 54, 99], "sex": ["f", "m", "x"]})
    assert coarsen.transform(new).shape == (3, 2)


def test_codes_are_places_of_cells(people):
    frame = pandas.DataFrame(people)[["age", "sex"]]
    cells = Coarsen(k=5).fit(frame)
    codes = Coarsen(k=5, output="codes").fit(frame)
    found = codes.transform(frame)
    for column in range(2):
        names = [codes.cells_[column][int(code)] for code in found[:, column]]
        assert names == list(cells.transform(frame)[:, column])
    with pytest.raises(ValueError, match="output"):
        Coarsen(output="numbers").fit(frame)
    with pytest.raises(ValueError, match="n_samples=3"):
        Coarsen(k=5).fit(frame.head(3))


def test_it_says_that_it_is_no_release():
    assert "no release" in scumble.sklearn.__doc__ and "no release" in Coarsen.__doc__


def test_it_can_be_pickled(people):
    frame = pandas.DataFrame(people)[["age", "sex"]]
    coarsen = Coarsen(k=5).fit(frame)
    again = pickle.loads(pickle.dumps(coarsen))
    assert (again.transform(frame) == coarsen.transform(frame)).all()


def test_missing_numbers_are_taken():
    rows = numpy.array([[1.0, numpy.nan], [1.0, 2.0], [1.0, 2.0], [1.0, numpy.nan]])
    assert Coarsen(k=2).fit_transform(rows).shape == (4, 2)
