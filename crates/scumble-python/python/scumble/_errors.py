"""What can go wrong."""

from __future__ import annotations


class ScumbleError(Exception):
    """What all errors of scumble have in common.

    No error holds a value of a table: it says which row and column instead.

    >>> import scumble as sb
    >>> try:
    ...     sb.Recipe(columns={"age": "quasi"}, promise={"k-anonymity": 1})
    ... except sb.ScumbleError as error:
    ...     print(error.message)
    ...     print(error.hint)
    the recipe: `k` is 1, but must be at least 2
    k = 1 asks for no protection
    """

    #: What went wrong, in one line.
    message: str
    #: Where: a file with line and column, or the name of a table; if it is anywhere.
    place: str | None
    #: What to do about it, if there is advice.
    hint: str | None

    def __init__(self, message: str, place: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, place, hint)
        self.message = message
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        if self.hint is None:
            return self.message
        return f"{self.message}\n\nhint: {self.hint}"


class CannotBeMet(ScumbleError):
    """No release of this table can keep the promise: an answer, not an accident."""


class PromiseBroken(ScumbleError):
    """A release does not keep what it promises."""


class RecipeError(ScumbleError, ValueError):
    """A recipe, a question or an argument says something that cannot be meant."""


class InputError(ScumbleError, ValueError):
    """A table, a hierarchy, a plan or a release is not what it must be."""


class FileError(ScumbleError, OSError):
    """A file could not be read, written or created."""

    def __init__(self, message: str, place: str | None = None, hint: str | None = None) -> None:
        ScumbleError.__init__(self, message, place, hint)
        # As an OSError has them.
        self.errno, self.strerror, self.filename = None, message, place

    def __str__(self) -> str:
        return ScumbleError.__str__(self)
