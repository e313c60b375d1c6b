"""A line that says how far long work is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

#: Whether to show how far the work is: by itself on terminals and in notebooks, always, never,
#: or by calling a function with the stage and, where that is known, the share that is done.
Progress = Union[bool, Callable[[str, Union[float, None]], Any], None]

#: Work shorter than this, in seconds, shows nothing.
_PATIENCE = 0.7


@contextmanager
def shown(progress: Progress) -> Iterator[Callable[[str, float | None], Any] | None]:
    """What the engine is to call."""
    if callable(progress):
        yield progress
        return
    line: _Notebook | _Terminal | None = _notebook() if progress is not False else None
    if line is None and (progress is True or (progress is None and sys.stderr.isatty())):
        line = _Terminal()
    if line is None:
        yield None
        return
    started = time.monotonic()

    def tell(stage: str, share: float | None) -> None:
        if time.monotonic() - started > _PATIENCE:
            line.show(stage if share is None else f"{stage} {share:.0%}", share)

    try:
        yield tell
    finally:
        line.clear()


class _Terminal:
    _width = 0

    def show(self, text: str, _share: float | None) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def clear(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class _Notebook:
    def __init__(self, display: Any, html: Any) -> None:
        self._display = display
        self._html = html
        self._handle: Any = None

    def show(self, text: str, share: float | None) -> None:
        value = "" if share is None else f' value="{share:.3f}"'
        drawn = self._html(f"<progress{value}></progress> {text}")
        if self._handle is None:
            self._handle = self._display(drawn, display_id=True)
        else:
            self._handle.update(drawn)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update(self._html(""))


def _notebook() -> _Notebook | None:
    """Where pages can be shown: only somebody who loaded IPython's kernel sees them."""
    if "ipykernel" not in sys.modules:
        return None
    try:
        from IPython import get_ipython
        from IPython.display import HTML, display
    except ImportError:
        return None
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return _Notebook(display, HTML)
