"""From a data frame to a release, its audit, answers and draws."""

import csv
import io
import json
import signal
import threading
import time

import pytest

import scumble as sb


def cells(release):
    return sorted(zip(*release.table().values()))


def test_a_release_in_memory(people, recipe):
    release = recipe.publish(people)
    assert release.directory is None and release.holds
    table = release.table()
    assert list(table) == ["age", "sex", "illness"]
    groups = {}
    for age, sex, _ in zip(*table.values()):
        groups[age, sex] = groups.get((age, sex), 0) + 1
    assert min(groups.values()) >= 5
    assert len(release) + release.manifest["left_out"] == 200
    assert set(release.files) >= {"data.csv", "manifest.json", "report.html"}
    assert b"Release report" in release.read("report.html")
    assert "k-anonymity (k = 5)" in repr(release)
    with pytest.raises(sb.InputError, match="no file"):
        release.read("../data.csv")


def test_the_same_seed_gives_the_same_bytes(people, recipe, tmp_path):
    first = recipe.publish(people, seed=3)
    second = recipe.publish(people, tmp_path / "r", seed=3)
    assert first.read("data.csv") == (tmp_path / "r" / "data.csv").read_bytes()
    assert first.manifest == second.manifest and first.manifest["experiment"]


def test_a_folder_appears_whole_and_is_not_overwritten(people, recipe, tmp_path):
    folder = tmp_path / "release"
    release = recipe.publish(people, folder)
    assert release.directory == str(folder)
    assert json.loads((folder / "manifest.json").read_text())["rows"] == len(release)
    with pytest.raises(sb.ScumbleError) as caught:
        recipe.publish(people, folder)
    assert caught.value.place == str(folder)
    recipe.publish(people, folder, replace=True)
    opened = sb.open(folder)
    assert opened.holds is None and len(opened) == 200 - opened.manifest["left_out"]
    assert opened.audit().holds


def test_saving_is_publishing(people, recipe, tmp_path):
    release = recipe.publish(people)
    saved = release.save(tmp_path / "saved")
    assert cells(saved) == cells(release) == cells(sb.open(tmp_path / "saved"))
    with pytest.raises(sb.ScumbleError):
        release.save(tmp_path / "saved")
    release.save(tmp_path / "saved", replace=True)


def test_what_cannot_be_met_is_an_answer(people, tmp_path):
    recipe = sb.Recipe(
        columns={"age": "quasi", "illness": "sensitive"},
        promise={"k-anonymity": 2, "l-diversity": 9},
    )
    with pytest.raises(sb.CannotBeMet) as caught:
        recipe.publish(people, tmp_path / "no")
    assert "cannot be met" in caught.value.message
    assert not list(tmp_path.iterdir())


def test_the_command_can_read_the_recipe(people, recipe, tmp_path):
    file = tmp_path / "recipe.toml"
    recipe.save(file)
    again = sb.Recipe.read(file)
    assert str(again) == str(recipe) and again.columns == recipe.columns
    assert cells(again.publish(people, seed=1)) == cells(recipe.publish(people, seed=1))
    # Without a table the recipe's own is read.
    with (tmp_path / "frame").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(people)
        writer.writerows(zip(*people.values()))
    assert cells(again.publish(seed=1)) == cells(recipe.publish(people, seed=1))
    assert cells(recipe.publish(tmp_path / "frame", seed=1)) == cells(recipe.publish(people, seed=1))


def test_an_audit_with_the_original_attacks(people, recipe):
    release = recipe.publish(people)
    audit = release.audit(original=people)
    assert audit.holds and [p["name"] for p in audit.promises] == ["k-anonymity"]
    assert audit.promises[0]["measured"]["k"] >= 5
    linkage = next(a for a in audit.attacks if a["name"] == "linkage")
    assert 0 < linkage["worst"] <= 0.2
    assert "loss" in audit.loss and audit.not_tried
    assert "<script" not in audit.page and "<script" not in audit._repr_html_()
    table = release.audit(original=people, knowledge="table")
    assert any(a["name"] == "background-knowledge" for a in table.attacks)
    with pytest.raises(sb.RecipeError, match="needs the table"):
        release.audit(knowledge="table")


def test_another_table_is_not_the_original(people, recipe):
    release = recipe.publish(people)
    other = {name: values[:20] for name, values in people.items()}
    with pytest.raises(sb.ScumbleError):
        release.audit(original={"age": other["age"]})


def test_presence_needs_the_population(people):
    town = {"id": list(range(400)), "age": [a for a in people["age"] for _ in range(2)]}
    few = {"id": town["id"][::8], "age": town["age"][::8]}
    recipe = sb.Recipe(
        columns={"id": "identifier", "age": sb.quasi(type="number")},
        promise={"delta-presence": {"min": 0.0, "max": 0.4}},
        input={"key": ["id"]},
    )
    release = recipe.publish(few, population=town)
    assert release.audit(population=town).holds
    with pytest.raises(sb.ScumbleError):
        recipe.publish(few)


def test_questions_have_answers_with_errors(people, recipe):
    release = recipe.publish(people)
    answer = release.estimate("SELECT sex, COUNT(*) FROM release WHERE age >= 50 GROUP BY sex")
    assert len(answer.rows) >= 2
    assert set(answer.to_pydict()) == {
        "sex", "estimate", "standard_error", "low", "high", "at_least", "at_most", "basis",
    }
    true = sum(age >= 50 for age in people["age"])
    whole = release.estimate("SELECT COUNT(*) FROM release WHERE age >= 50")
    assert whole.rows[0]["at_least"] <= true <= whole.rows[0]["at_most"]
    assert whole.value == pytest.approx(true, abs=30)
    several = release.estimate("SELECT sex, COUNT(*), AVG(age) FROM release GROUP BY sex")
    assert {row["number"] for row in several.rows} == {"COUNT(*)", "AVG(age)"}
    svg = str(answer.plot())
    assert svg.startswith("<svg") and "<script" not in svg
    with pytest.raises(sb.RecipeError) as caught:
        release.estimate("SELECT COUNT(*) FROM release WHERE sexx = 'f'")
    assert caught.value.hint
    with pytest.raises(sb.RecipeError):
        release.estimate("SELECT COUNT(*) FROM release", way="backwards")
    with pytest.raises(sb.RecipeError, match="answers"):
        answer.value


def test_draws_are_whole_tables(people, recipe):
    release = recipe.publish(people)
    draws = release.sample(draws=4, seed=5)
    assert len(draws) == 4 and len(draws[0]) == len(release)
    first = draws[0].to_pydict()
    assert all(isinstance(age, int) for age in first["age"])
    assert sorted(first["illness"]) == sorted(release.table()["illness"])
    again = release.sample(draws=4, seed=5)
    assert [t.to_pydict() for t in draws] == [t.to_pydict() for t in again]
    assert draws[0].to_pydict() != draws[1].to_pydict()
    for wrong in (0, -1, 2000, "5", True):
        with pytest.raises(sb.RecipeError):
            release.sample(draws=wrong)


def test_every_family_goes_all_the_way(people):
    for promise, method, columns in [
        ({"breach": {"prior": 0.3, "posterior": 0.7}}, None, {}),
        ({"l-diversity": 2}, "anatomy", {}),
        ({"expected-anonymity": {"k": 3}}, "blur", {"age": sb.quasi(type="number", domain=[0, 120])}),
        ({"k-anonymity": 4}, {"name": "mondrian", "cells": "set"}, {}),
    ]:
        recipe = sb.Recipe(
            columns={"age": sb.quasi(type="number"), "illness": "sensitive", **columns},
            promise=promise,
            method=method,
        )
        release = recipe.publish(people)
        assert release.holds, promise
        assert release.audit(original=people).holds
        assert release.estimate("SELECT COUNT(*) FROM release WHERE age >= 50").value > 0
        assert len(release.sample(draws=1)[0]) == len(release)
        assert "promise" in release._repr_html_()


def test_a_plan_is_certified_on_other_rows(people, recipe, tmp_path):
    plan = recipe.plan(people)
    assert "full-domain" in repr(plan) or "mondrian" in repr(plan)
    twice = {name: values * 2 for name, values in people.items()}
    assert plan.apply(twice).holds
    plan.save(tmp_path / "plan.json")
    assert (tmp_path / "plan.json").stat().st_mode & 0o077 == 0
    with pytest.raises(sb.FileError):
        plan.save(tmp_path / "plan.json")
    read = sb.Plan.read(recipe, tmp_path / "plan.json")
    assert cells(read.apply(twice, seed=1)) == cells(plan.apply(twice, seed=1))
    alone = {name: values[:3] for name, values in people.items()}
    with pytest.raises(sb.CannotBeMet):
        plan.apply(alone, tmp_path / "alone")
    assert not (tmp_path / "alone").exists()
    with pytest.raises(sb.InputError):
        sb.Plan.read(recipe, __file__)


def test_recipes_are_compared(people, recipe):
    compared = sb.compare(recipe, people, vary={"promise.k-anonymity": [2, 5, 20]}, queries=30)
    assert compared.keys == ["promise.k-anonymity"]
    assert [row["promise.k-anonymity"] for row in compared.rows] == [2, 5, 20]
    risks = [row["risk"] for row in compared.rows]
    assert risks[0] > risks[-1]
    assert str(compared.plot()).startswith("<svg") and "<table>" in compared._repr_html_()
    other = sb.Recipe(
        columns={"age": sb.quasi(type="number"), "sex": "quasi", "illness": "sensitive"},
        promise={"k-anonymity": 5},
        method="mondrian",
    )
    both = sb.compare([recipe, other], people, queries=30, draws=1)
    assert [p["recipe"] for p in both.points] == ["recipe 1", "recipe 2"]
    assert both.points[1]["method"] == "mondrian" and both.rows[1]["holds"]
    assert list(both.to_pandas()["recipe"]) == ["recipe 1", "recipe 2"]
    with pytest.raises(sb.RecipeError):
        sb.compare([], people)
    with pytest.raises(sb.RecipeError):
        sb.compare(recipe, people, vary={"promise.nothing": [1]})


def test_a_first_look_proposes_a_recipe(people):
    found = sb.inspect(people)
    assert found.rows == 200
    assert {c["name"]: c["role"] for c in found.columns}["id"] == "identifier"
    assert found.recipe.publish(people).holds
    assert "<script" not in found._repr_html_() and "age" in repr(found)


def test_hierarchies_may_be_tables(people):
    lines = [["flu", "airways", "*"], ["cough", "airways", "*"], ["asthma", "airways", "*"], ["ulcer", "stomach", "*"]]
    table = {"leaf": [l[0] for l in lines], "group": [l[1] for l in lines], "all": [l[2] for l in lines]}
    made = []
    for hierarchy in (lines, sb.Table(table)):
        recipe = sb.Recipe(
            columns={"illness": sb.quasi(hierarchy=hierarchy)},
            promise={"k-anonymity": 60},
            method="full-domain",
        )
        made.append(recipe.publish(people, seed=1).table()["illness"])
    assert made[0] == made[1] and set(made[0]) <= {"airways", "stomach", "*"}


def test_progress_is_told_and_can_stop(people, recipe):
    big = {name: values * 400 for name, values in people.items()}
    told = []
    recipe.publish(big, progress=lambda stage, share: told.append((stage, share)))
    assert all(share is None or 0 <= share <= 1 for _, share in told)

    class Enough(Exception):
        pass

    def stop(stage, share):
        raise Enough

    slow = sb.Recipe(
        columns={"age": sb.quasi(type="number", domain=[0, 120])},
        promise={"expected-anonymity": {"k": 50}},
        method="blur",
    )
    with pytest.raises(Enough):
        slow.publish(big, progress=stop)


def test_ctrl_c_stops_and_leaves_nothing(people, tmp_path):
    big = {name: values * 400 for name, values in people.items()}
    slow = sb.Recipe(
        columns={"age": sb.quasi(type="number", domain=[0, 120])},
        promise={"expected-anonymity": {"k": 50}},
        method="blur",
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        slow.publish(big, tmp_path / "stopped")
    assert time.monotonic() - begun < 20
    assert not list(tmp_path.iterdir())


def test_python_goes_on_while_the_engine_works(people):
    big = {name: values * 400 for name, values in people.items()}
    slow = sb.Recipe(
        columns={"age": sb.quasi(type="number", domain=[0, 120])},
        promise={"expected-anonymity": {"k": 5}},
        method="blur",
    )
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    stopped = threading.Event()
    try:
        slow.publish(big, progress=lambda *_: stopped.is_set() or (len(ticks) > 5 and 1 / 0))
    except ZeroDivisionError:
        pass
    done.set()
    thread.join()
    assert len(ticks) > 5


def test_the_csv_of_a_release_is_the_table(people, recipe):
    release = recipe.publish(people)
    rows = list(csv.reader(io.StringIO(release.read("data.csv").decode())))
    assert rows[0] == list(release.table())
    assert [tuple(row) for row in rows[1:]] == list(zip(*release.table().values()))


def test_a_person_may_have_several_rows():
    visits = {"id": [1, 1, 2, 3, 4, 4], "age": [30, 30, 30, 50, 50, 50]}
    recipe = sb.Recipe(
        columns={"id": "identifier", "age": sb.quasi(type="number")},
        promise={"k-anonymity": 2},
        input={"person": "id"},
    )
    assert recipe.publish(visits).holds
