# The functions of mortise.h without their prefix, as bindings/swig/python.i describes them.
from typing import Any

def __getattr__(name: str) -> Any: ...
