"""The site: the project's Markdown pages as HTML with search, by Sphinx, MyST and the theme Furo.

The pages stay plain Markdown that other viewers show well, so this file adds at build time what only
the site has: the navigation, from the tables of docs/README.md, tabs for sections that are named by a
language, and copies of all pages for programs that read text.
"""
import html
import itertools
import pathlib
import re
import shutil
import sys

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_inline_tabs._impl import TabContainer

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = (ROOT / "capi/include/mortise/mortise.h").read_text("utf-8")

project = "Mortise"
version = release = re.search(r'MORTISE_VERSION_TEXT "(.+)"', HEADER)[1]
sys.path.insert(0, str(ROOT / "packaging/site"))
extensions = ["myst_parser", "sphinx_inline_tabs", "python_reference"]
default_role = "py:obj"  # of docstrings, whose names are in single backticks
smartquotes = False
add_module_names = False
autodoc_preserve_defaults = True
autodoc_type_aliases = {"Limit": "Limit", "Seconds": "Seconds"}
include_patterns = ["**/*.md", "*.md"]
exclude_patterns = ["build", ".*", "**/.*", "docs/reference/java"]
root_doc = "README"
myst_heading_anchors = 6
suppress_warnings = ["myst.header", "toc.not_included"]

html_theme = "furo"
html_title = f"Mortise {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_sourcelink_suffix = ""
html_show_copyright = False
html_favicon = "static/logo.svg"
pygments_dark_style = "a11y-high-contrast-dark"
html_use_index = False

# The end of the page about references, which leads to what packaging/site/build has generated.
REFERENCES = """
## Pages of this site

- [C](reference/c/README.md)
- <a href="reference/cxx/index.html">C++</a>
- Go: [mortise](reference/go/mortise.md), [metrics](reference/go/metrics.md),
  [mortiseotel](reference/go/mortiseotel.md)
- <a href="reference/java/index.html">Java</a>, with the packages for Micrometer, OpenTelemetry and
  Spring
- Lua: [mortise](reference/lua/mortise.md), [client](reference/lua/client.md),
  [locks](reference/lua/locks.md), [hold](reference/lua/hold.md), [queue](reference/lua/queue.md),
  [dispatcher](reference/lua/dispatcher.md)
- [Python](reference/python/mortise.md)
"""
LANGUAGES = {"C", "C++", "Go", "Java", "Lua", "Python", "Shell", "On the command line"}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#:]+)([^)\s]*)\)")
TABLE_ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)]+)\) \| (.*) \|$")


def chapters():
    """(heading, [(title, document, question)]) of docs/README.md, in reading order."""
    found = []
    for line in (ROOT / "docs/README.md").read_text("utf-8").splitlines():
        row = TABLE_ROW.match(line)
        if line.startswith("## "):
            found.append((line[3:], []))
        elif row:
            path = (ROOT / "docs" / row[2]).resolve()
            path = path / "README.md" if path.is_dir() else path
            if path.is_file():  # MyST reports a missing page
                found[-1][1].append((row[1], path.relative_to(ROOT), row[3]))
    return found


def prepare(app, name, source):
    """A link to a folder leads to its page, or is text if the folder has none. The first page has
    the navigation, and the page of the reference leads to the generated pages."""
    folder = (ROOT / name).parent

    def with_page(link):
        text, target, anchor = link.groups()
        if not (folder / target).is_dir():
            return link[0]
        if not (folder / target / "README.md").is_file():
            return text
        return f"[{text}]({target.rstrip('/')}/README.md{anchor})"

    source[0] = LINK.sub(with_page, source[0])
    if name == "docs/reference":
        source[0] += REFERENCES
    if name == root_doc:
        for heading, pages in chapters():
            entries = "\n".join(f"{title} <{path.with_suffix('')}>" for title, path, _ in pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{entries}\n```\n"


class LanguageTabs(SphinxTransform):
    """Turns sections in a row that are named by a language into tabs."""

    default_priority = 500

    def apply(self):
        for parent in list(self.document.findall(nodes.section)):
            for is_language, row in itertools.groupby(list(parent.children), self.is_named_by_one):
                sections = list(row)
                if is_language and len(sections) > 1:
                    for section in sections:
                        section.replace_self(self.tab(section))

    @staticmethod
    def is_named_by_one(node):
        return isinstance(node, nodes.section) and node[0].astext() in LANGUAGES

    @staticmethod
    def tab(section):
        """Its label has the section's anchors, so that a link finds what is visible."""
        label = nodes.label("", "", nodes.inline("", "", *section[0].children, ids=section["ids"]))
        content = nodes.container("", *section[1:], is_div=True, classes=["tab-content"])
        return TabContainer("", label, content, type="tab", new_set=False)


class Diagrams(SphinxPostTransform):
    """Puts drawings into the page, so that they have the colors of its mode."""

    default_priority = 500
    formats = ("html",)

    def run(self, **_):
        for image in list(self.document.findall(nodes.image)):
            if image["uri"].startswith("docs/diagrams/"):
                drawing = (ROOT / image["uri"]).read_text("utf-8")
                label = html.escape(image["alt"])
                drawing = drawing.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
                drawing = f'<div class="diagram" tabindex="0">{drawing}</div>'
                image.replace_self(nodes.raw("", drawing, format="html"))


def write_text(app, problem):
    """index.html, llms.txt, and mortise.md, all pages in one."""
    if problem:
        return
    shutil.copyfile(app.outdir / "README.html", app.outdir / "index.html")
    summary = (ROOT / "README.md").read_text("utf-8").split("\n\n")[1].replace("\n", " ")
    index, everything = f"# Mortise {version}\n\n> {summary}\n", []
    first = ("Overview", [("README", pathlib.Path("README.md"), "What is Mortise?")])
    for heading, pages in [first, *chapters()]:
        index += f"\n## {heading}\n\n"
        for title, path, question in pages:
            index += f"- [{title}](_sources/{path}): {question}\n"
            everything.append(for_one_file(path))
    (app.outdir / "llms.txt").write_text(index, "utf-8")
    (app.outdir / "mortise.md").write_text("\n".join(everything), "utf-8")


def make_accessible(app, name, template, context, doctree):
    """What scrolls can be reached by keys, and headings of the navigation have a level."""
    scrolling = r'<pre(?=>)|<div(?= class="table-wrapper)'
    context["body"] = re.sub(scrolling, r'\g<0> tabindex="0"', context.get("body", ""))
    context["furo_navigation_tree"] = context["furo_navigation_tree"].replace(
        'role="heading"', 'role="heading" aria-level="2"')


def for_one_file(path):
    """The text of a page, whose links lead to pages of the site."""
    def on_site(link):
        text, target, anchor = link.groups()
        file = (ROOT / path.parent / target).resolve()
        file = file / "README.md" if file.is_dir() else file
        if file.suffix == ".md" and file.is_file():
            return f"[{text}]({file.relative_to(ROOT).with_suffix('.html')}{anchor})"
        return text if file.exists() else link[0]

    return LINK.sub(on_site, (ROOT / path).read_text("utf-8"))


def setup(app):
    app.connect("source-read", prepare)
    app.add_transform(LanguageTabs)
    app.add_post_transform(Diagrams)
    app.connect("html-page-context", make_accessible, priority=900)
    app.connect("build-finished", write_text)
