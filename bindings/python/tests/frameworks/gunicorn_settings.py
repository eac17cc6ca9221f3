"""The configuration of gunicorn in its test."""

from __future__ import annotations

import gunicorn_program

preload_app = True
workers = 2


def post_fork(server: object, worker: object) -> None:
    gunicorn_program.open_client()


def worker_exit(server: object, worker: object) -> None:
    gunicorn_program.close_client()
