"""Tasks for Celery: each worker process opens its client after the fork."""

from __future__ import annotations

import os
import pathlib
import time
from typing import Any

from celery import Celery  # type: ignore[import-not-found]
from celery.signals import (  # type: ignore[import-not-found]
    worker_process_init,
    worker_process_shutdown,
)

import mortise

app = Celery("celery_program", broker=os.environ["MORTISE_TEST_TCP_URL"],
             backend=os.environ["MORTISE_TEST_TCP_URL"])
clients: list[mortise.Client] = []


@worker_process_init.connect  # type: ignore[untyped-decorator]
def open_client(**_: Any) -> None:
    clients.append(mortise.Client(os.environ["MORTISE_TEST_URL"]))


@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def close_client(**_: Any) -> None:
    clients.pop().close()


@app.task  # type: ignore[untyped-decorator]
def count(path_name: str) -> dict[str, int]:
    """Adds 1 to a number in a file, which the lock protects."""
    path = pathlib.Path(path_name)
    with clients[0].lock(path.name, timeout=20) as hold:
        value = int(path.read_text())
        time.sleep(0.002)
        path.write_text(str(value + 1))
        return {"process": os.getpid(), "token": hold.token}
