"""The reference of Python, by autodoc from the docstrings of the package.

It needs no compiled library: a mock takes the place of the C layer, whose calls the package makes
at its import. The page has each public name, in the groups of the modules that define them.
"""
import pathlib
import re
import sys
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = "docs/reference/python"
GROUPS = {
    "client": "Client",
    "locks": "Locks",
    "hold": "Holds",
    "_owner": "Notices",
    "errors": "Exceptions",
    "reports": "Reports",
    "_constants": "Constants and options",
}
# Of typing, and not among the public names.
OPTIONS = ["mortise._constants.ClientOptions", "mortise._constants.LockOptions"]


def load():
    core = mock.MagicMock(name="mortise._core")
    core.check_abi.return_value = 0
    sys.modules["mortise._core"] = core
    sys.path.insert(0, str(ROOT / "bindings/python"))
    import mortise
    return mortise


def directive(title, name, is_class):
    """The one of a public name. Each exception has the attributes of the first."""
    if not is_class:
        return [f".. autodata:: {name}", ""]
    lines = [f".. autoclass:: {name}", "   :members:", "   :member-order: bysource"]
    if title != "Exceptions":
        lines.append("   :inherited-members: int, tuple, dict, Generic")
    else:
        lines.append("   :show-inheritance:")
        if name != "Error":
            lines.append("   :exclude-members: status")
    return [*lines, ""]


def text_of(mortise):
    """The page: a section for each group, and in it a directive for each name."""
    groups = {title: [] for title in GROUPS.values()}
    for name in mortise.__all__:
        module = getattr(getattr(mortise, name), "__module__", "").removeprefix("mortise.")
        groups[GROUPS.get(module, GROUPS["_constants"])].append(name)
    groups[GROUPS["_constants"]] += OPTIONS
    lines = ["# Mortise for Python", "", "```{eval-rst}", ".. automodule:: mortise",
             "   :no-members:", "```"]
    for title, names in groups.items():
        lines += ["", f"## {title}", "", "```{eval-rst}", ".. currentmodule:: mortise", ""]
        for name in names:
            lines += directive(title, name, isinstance(getattr(mortise, name, type), type))
        lines += ["```"]
    return "\n".join(lines) + "\n"


def write(app):
    folder = app.srcdir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mortise.md").write_text(text_of(load()), "utf-8")


def simplify(app, what, name, obj, options, signature, returned):
    """Only a client is made by its class. A timeout that is not given is that of the object."""
    if not signature:
        return None
    if what in ("class", "exception") and name != "mortise.Client":
        return "", None
    signature = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature)
    signature = re.sub(r"\bName\b", "str | bytes", signature)
    signature = signature.replace("Limit = _DEFAULT", "Seconds | None = ...")
    return signature, (returned or "").replace("HoldType", "Hold") or None


def clean(app, what, name, obj, options, lines):
    """What Python itself adds to a field of a tuple says nothing. An asterisk is no markup."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()
    lines[:] = [line.replace("*", r"\*") for line in lines]


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("builder-inited", write)
    app.connect("autodoc-process-signature", simplify)
    app.connect("autodoc-process-docstring", clean)
    return {"parallel_read_safe": True}
