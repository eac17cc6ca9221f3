"""Arguments in Python's forms, turned into those of the C layer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Union

from mortise import _core
from mortise._constants import DURATIONS, FOREVER, MAX_MS
from mortise.errors import InvalidArgument, invalid

Seconds = Union[int, float, timedelta]


def milliseconds(value: object, argument: str) -> int:
    """A duration in whole milliseconds, rounded up."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        kind = type(value).__name__
        raise TypeError(f"{argument}: give seconds as a number or a timedelta, not {kind}")
    if not 0 <= value <= MAX_MS / 1000:  # also refuses NaN
        raise invalid(argument, value, f"is out of range; give 0 to {MAX_MS // 1000} seconds")
    # The sum of a few tenths is a little more than it should be.
    return math.ceil(round(value * 1000, 6))


def timeout_ms(value: Seconds | None) -> int:
    """None and infinity wait as long as necessary."""
    if value is None or value == math.inf:
        return FOREVER
    return milliseconds(value, "timeout")


def lease_ms(value: Seconds | None) -> int:
    """None is the lease of the lock."""
    return 0 if value is None else milliseconds(value, "lease")


def name_bytes(name: str | bytes, argument: str = "name") -> bytes:
    """A name is any bytes, or a text as UTF-8."""
    if isinstance(name, bytes):
        return name
    if not isinstance(name, str):
        raise TypeError(f"{argument}: give str or bytes, not {type(name).__name__}")
    try:
        return name.encode()
    except UnicodeEncodeError as error:
        # Without the text, which may be a password.
        raise InvalidArgument(f"{argument}: contains a surrogate at index {error.start}; "
                              "give bytes instead") from None


def name_text(name: str | bytes) -> str:
    """A name for people."""
    return name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")


def count(value: object, argument: str) -> int:
    """A whole number, whose range the C library checks."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{argument}: give an int, not {type(value).__name__}")
    if not -(2**63) <= value < 2**63:
        raise invalid(argument, value, "is out of range; give a smaller number")
    return value


_COROUTINE = 0x80  # in the flags of a function's code


def check_callback(callback: object) -> None:
    """A callback is called, and nobody would await it."""
    if not callable(callback):
        raise TypeError(f"callback: give a function, not {type(callback).__name__}")
    if getattr(getattr(callback, "__code__", None), "co_flags", 0) & _COROUTINE:
        raise TypeError("callback: give a function, not a coroutine function; the function may "
                        "start a task")


def _option_text(key: str, value: object) -> bytes:
    if isinstance(value, bool):
        return b"on" if value else b"off"
    if isinstance(value, (str, bytes)):
        return name_bytes(value, key)
    if value == math.inf:
        return b"unlimited"
    if key in DURATIONS:
        return b"%dms" % milliseconds(value, key)
    if isinstance(value, (int, float)):
        return str(value).encode()
    raise TypeError(f"{key}: give a str, a number, a bool or a timedelta, "
                    f"not {type(value).__name__}")


def options_of(options: Mapping[str, object], client: Any = None) -> Any:
    """Options for the C layer, which override those of a client. None without options."""
    if not options:
        return None
    made = _core.options_new() if client is None else _core.options_new_from(client)
    for key, value in options.items():
        text = _option_text(key, value)
        try:
            _core.options_set(made, name_bytes(key, "option"), text)
        except InvalidArgument as error:
            message = str(error)
            if message.startswith("value"):
                error.args = (f"{key}: {message}",)
            raise
    return made
