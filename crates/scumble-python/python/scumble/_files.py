"""Files, with errors that say what could not be done with which."""

from __future__ import annotations

import os

from scumble._errors import FileError, InputError, RecipeError


def path_of(path: object, what: str) -> str:
    """A path as text."""
    if not isinstance(path, (str, os.PathLike)):
        raise RecipeError(f"{what} is of the type `{type(path).__name__}`, but must be a path")
    found = os.fspath(path)
    if isinstance(found, bytes):
        raise RecipeError(f"{what} must be a path of text, not of bytes")
    return found


def read(path: str) -> bytes:
    """The bytes of a file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise _failed("read", path, error) from None


def text(path: str) -> str:
    """The text of a file."""
    try:
        return read(path).decode()
    except UnicodeDecodeError:
        pass
    # Outside of the handler: the bytes may be private.
    raise InputError(f"{path}: the file is not valid UTF-8", path, "save the file as UTF-8")


def written(path: str, content: str) -> None:
    """Writes a file."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    except OSError as error:
        raise _failed("write", path, error) from None


def kept_private(path: str, content: str) -> None:
    """Writes a file for its owner only, where there is none yet."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
    except OSError as error:
        raise _failed("write", path, error) from None


def _failed(action: str, path: str, error: OSError) -> FileError:
    return FileError(f"{path}: cannot {action} the file: {str(error.strerror).lower()}", path)
