"""Examples in docstrings and in the guide, run as they stand."""

import doctest
import importlib
import pathlib
import pkgutil
import re

import pytest

import scumble

MODULES = [
    f"scumble.{module.name}"
    for module in pkgutil.iter_modules(scumble.__path__)
    if module.name != "_internal"
]


@pytest.mark.parametrize("name", ["scumble", *MODULES])
def test_examples_in_docstrings(name):
    if name == "scumble.sklearn":
        pytest.importorskip("sklearn")
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def test_everything_public_is_documented():
    for name in scumble.__all__:
        thing = getattr(scumble, name)
        assert thing.__doc__, name
        for part, value in vars(thing).items() if isinstance(thing, type) else []:
            if not part.startswith("_") and (callable(value) or isinstance(value, property)):
                assert getattr(value, "__doc__", None), f"{name}.{part}"


GUIDE = pathlib.Path(__file__).parents[3] / "docs" / "python.md"


def test_the_guide_runs(tmp_path, monkeypatch, capsys):
    """Every block of the guide, one after the other; what it prints stands below it."""
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", GUIDE.read_text(), re.S)
    assert len(blocks) > 5
    names = {}
    for code, told in blocks:
        capsys.readouterr()
        exec(compile(code, str(GUIDE), "exec"), names)
        if told:
            assert capsys.readouterr().out == told
