#!/usr/bin/python3 -B
"""site.py FOLDER AXE [REGEX]: the site that ./dev docs has built works, by its files and in headless Chromium.

- Each link and anchor of a page leads somewhere, and nothing is loaded from elsewhere.
- Pages in the browser have no error on the console, no barrier that axe-core finds at WCAG's level AA, such as low contrast, in light
  and in dark, and no content wider than a phone.
- They have the same text without JavaScript, and language tabs work without it.
- The search finds pages, also in the site's files without a server, and a link to a language's section selects its tab.
- llms.txt lists pages that exist, and mortise.md has each page.
- The reference of Python has the public names of the package.

Each check is then made of pages with planted defects, and must find them. AXE is axe.min.js.
With REGEX only the pages are read whose name matches. Otherwise the browser opens each written page, each tenth page of a C
function, and each page with an element, by tag, class and style, that the pages before it do not have. The pages of Doxygen and Javadoc
are read as files only.
"""
import contextlib
import functools
import html.parser
import http.server
import pathlib
import re
import shutil
import sys
import tempfile
import threading
import urllib.parse

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

FOREIGN = ("docs/reference/cxx/", "docs/reference/java/")
FUNCTIONS = "docs/reference/c/mortise_"
PHONE = (390, 844)
DESKTOP = (1280, 900)
PATIENCE_S = 300
AXE = """
const done = arguments[0];
axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then(found => done(
  found.violations.flatMap(one => one.nodes.map(node => `${one.id}: ${node.html.slice(0, 120)}`))),
  problem => done([`axe-core failed: ${problem}`]));
"""
# All tabs, and each mode of colors at once.
SHOW_ALL = """
const style = document.createElement("style");
style.textContent = ".tab-content { display: block !important; } * { transition: none !important; }";
document.head.append(style);
"""
IS_WIDER = """
return [document.documentElement, document.querySelector(".content")].some(
  one => one.scrollWidth > one.clientWidth);
"""
# What is added to the end of a page's article, and what the report of that page must contain.
PLANTED = {
    '<a href="nowhere.html">x</a>': "nowhere.html",
    '<a href="#nowhere">x</a>': "#nowhere",
    '<img alt="x" src="https://example.com/x.png">': "https://example.com/x.png",
    '<script>console.error("planted")</script>': "planted",
    '<p style="color: #999; background: #aaa">planted</p>': "color-contrast",
    '<div style="width: 2000px; height: 9px"></div>': "wider",
    '<p id="p"></p><script>p.textContent = "planted"</script>': "without JavaScript",
}


class Page(html.parser.HTMLParser):
    """The links, the loaded files, the anchors and the kinds of elements of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors, self.kinds = [], [], set(), set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.kinds.add((tag, given.get("class"), given.get("style")))
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag != "a":
            self.loaded += [given[name] for name in ("href", "src") if given.get(name)]


@functools.cache
def parsed(path):
    return Page(path)


def broken_links(folder, path, page):
    for link in page.links + page.loaded:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            if link in page.loaded and parts.scheme != "data":
                yield f"loads {link}"
            continue
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
        anchor = urllib.parse.unquote(parts.fragment)
        if not target.is_file() or folder not in target.parents:
            yield f"{link} leads nowhere"
        elif anchor and target.suffix == ".html" and anchor not in parsed(target).anchors:
            yield f"{link} has no such anchor"


def for_browser(folder, names):
    """The pages that show all kinds of elements."""
    written = [name for name in names if not name.startswith((*FOREIGN, FUNCTIONS))]
    functions = [name for name in names if name.startswith(FUNCTIONS)]
    chosen = written + functions[::10]
    seen = set().union(*(parsed(folder / name).kinds for name in chosen))
    for name in functions:
        kinds = parsed(folder / name).kinds
        if not kinds <= seen:
            chosen.append(name)
            seen |= kinds
    return chosen


class Browser:
    """Headless Chromium at the files of a folder."""

    def __init__(self, folder, axe):
        handler = functools.partial(QuietHandler, directory=folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.root = f"http://127.0.0.1:{self.server.server_port}/"
        self.axe = axe.read_text("utf-8")
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options)
        self.driver.set_script_timeout(PATIENCE_S)
        self.driver.set_window_size(*DESKTOP)

    def close(self):
        self.driver.quit()
        self.server.shutdown()

    def run(self, script):
        return self.driver.execute_script(script)

    def command(self, name, **arguments):
        self.driver.execute_cdp_cmd(name, arguments)

    def show(self, width=DESKTOP[0], height=DESKTOP[1], scheme="light"):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=1, mobile=width < DESKTOP[0])
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, page, scripts=True):
        self.show()
        self.command("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.driver.get(self.root + page)

    def text(self):
        return self.run("return document.querySelector('article').innerText")

    def problems(self, page):
        """Of one page, in both modes, on a phone, and without JavaScript."""
        self.open(page)
        text, found = self.text(), self.foreign()
        self.run(SHOW_ALL)
        self.run(self.axe)
        for scheme in "light", "dark":
            self.show(scheme=scheme)
            found += [f"{scheme}: {one}" for one in self.driver.execute_async_script(AXE)]
        self.show(*PHONE)
        if self.run(IS_WIDER):
            found.append("wider than a phone")
        self.open(page, scripts=False)
        if self.text() != text and not page.startswith("search.html"):
            found.append("other text without JavaScript")
        return found + [f"console: {one}" for one in self.errors()]

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def foreign(self):
        loaded = self.run("return performance.getEntriesByType('resource').map(one => one.name)")
        return [f"loads {one}" for one in loaded if not one.startswith((self.root, "data:"))]

    def click(self, *selector):
        element = self.driver.find_element(*selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    def await_that(self, what, condition):
        WebDriverWait(self.driver, PATIENCE_S).until(lambda _: condition(), what)

    def is_shown(self, words):
        return words in self.text()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check_search(browser, root):
    browser.root = root
    browser.open("index.html")
    browser.driver.find_element(By.CSS_SELECTOR, "input[name=q]").send_keys("lease\n")
    found = ".search a[href*='docs/leases.html']"
    browser.await_that("the search finds docs/leases.html",
                       lambda: browser.driver.find_elements(By.CSS_SELECTOR, found))
    browser.click(By.CSS_SELECTOR, found)
    browser.await_that("its page opens", lambda: browser.is_shown("Leases and fencing"))


def check_tabs(browser):
    page, code = "docs/recipes/one_job.html", "once.lua SECONDS"
    for scripts in True, False:
        browser.open(page, scripts=scripts)
        assert not browser.is_shown(code), "the tab of another language is shown"
        browser.click(By.XPATH, "//label[.='Lua']")
        assert browser.is_shown(code), "a click shows no tab"
    browser.open(page + "#lua")
    browser.await_that("the anchor selects a tab", lambda: browser.is_shown(code))


def check_text(folder):
    listed = re.findall(r"^- \[.*?\]\((.*?)\)", (folder / "llms.txt").read_text("utf-8"), re.M)
    everything = (folder / "mortise.md").read_text("utf-8")
    assert len(listed) > 40, "llms.txt lists few pages"
    for link in re.findall(r"\]\(([\w/.-]+\.html)", everything):
        assert (folder / link).is_file(), f"mortise.md leads to {link}"
    for name in listed:
        title = (folder / name).read_text("utf-8").splitlines()[0]
        assert title in everything, f"mortise.md has no {title}"


def check_python(folder):
    anchors = parsed(folder / "docs/reference/python/mortise.html").anchors
    for name in ("Client.lock", "Lock.acquire", "Hold.release_async", "Timeout", "Health.json",
                 "Severity.BAD"):
        assert f"mortise.{name}" in anchors, f"the reference of Python has no {name}"


def planted_defects(folder, axe):
    """Those that the checks do not find."""
    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work).resolve() / "site"
        shutil.copytree(folder, copy)
        text = (copy / "SECURITY.html").read_text("utf-8")
        with contextlib.closing(Browser(copy, axe)) as browser:
            for number, (defect, report) in enumerate(PLANTED.items()):
                # A name of its own, because the browser keeps pages.
                page = copy / f"planted_{number}.html"
                page.write_text(text.replace("</article>", defect + "</article>"), "utf-8")
                found = [*broken_links(copy, page, Page(page)), *browser.problems(page.name)]
                if not any(report in one for one in found):
                    yield f"a planted defect is not found: {defect}: {found}"


def main():
    folder, axe = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.html"))]
    count = 0
    if sys.argv[3:]:
        names = [name for name in names if re.search(sys.argv[3], name)]
    opened = names if sys.argv[3:] else for_browser(folder, names)
    with contextlib.closing(Browser(folder, axe)) as browser:
        for name in names:
            path = folder / name
            problems = list(broken_links(folder, path, parsed(path)))
            if name.startswith(FOREIGN):
                # Doxygen links to sections that it hides.
                problems = [one for one in problems if one.endswith("leads nowhere")]
            elif name in opened:
                problems += browser.problems(name)
            for problem in problems:
                print(f"{name}: {problem}", file=sys.stderr)
                count += 1
        check_tabs(browser)
        for root in browser.root, folder.as_uri() + "/":
            check_search(browser, root)
            errors = browser.errors()
            assert not errors, errors
    check_text(folder)
    check_python(folder)
    for problem in planted_defects(folder, axe):
        print(problem, file=sys.stderr)
        count += 1
    print(f"{len(names)} pages, {len(opened)} of them in the browser, {count} problems")
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
