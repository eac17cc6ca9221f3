"""A program for gunicorn: each worker opens its client after the fork."""

from __future__ import annotations

import json
import os
import pathlib
import time
from collections.abc import Callable, Iterable
from typing import Any

import mortise

URL = os.environ["MORTISE_TEST_URL"]
# What a program must not use after a fork.
client_of_master = mortise.Client(URL)
clients: list[mortise.Client] = []


def open_client() -> None:
    clients.append(mortise.Client(URL))


def close_client() -> None:
    clients.pop().close()


def count() -> dict[str, int]:
    """Adds 1 to a number in a file, which the lock protects."""
    path = pathlib.Path(os.environ["COUNTER"])
    with clients[0].lock(path.name, timeout=20) as hold:
        value = int(path.read_text())
        time.sleep(0.002)
        path.write_text(str(value + 1))
        return {"process": os.getpid(), "token": hold.token}


def use_client_of_master() -> str:
    try:
        client_of_master.lock("any")
    except mortise.Forked as error:
        return str(error)
    return ""


def application(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    result = count() if environ["PATH_INFO"] == "/count" else use_client_of_master()
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(result).encode()]
