"""A real browser for the tests of pages: Debian's chromium, or whichever `UCLS_CHROMIUM` names."""

import os
import shutil
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = os.environ.get("UCLS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), "/usr/bin/chromium")


def missing():
    """Why no browser can be had here, and what to do; empty if one can."""
    if find_spec("playwright") is None:
        return "playwright is not installed (pip install playwright)"
    if not os.access(BROWSER, os.X_OK):
        return f"there is no browser at {BROWSER} (apt-get install chromium, or name one in UCLS_CHROMIUM)"
    return ""


MARKS = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]


def in_a_browser(test):
    """Mark a test that needs a browser."""
    for mark in MARKS:
        test = mark(test)
    return test


@contextmanager
def launched():
    """A browser that runs, until the end of the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


def skipped_line(reports):
    """How many of the skipped tests wanted a browser, and why they had none; empty if none did."""
    wanted = [report for report in reports if "browser" in getattr(report, "keywords", ())]
    if not wanted:
        return ""
    reason = str(wanted[0].longrepr[2]).removeprefix("Skipped: ")
    return f"{len(wanted)} browser test{'s were' if len(wanted) > 1 else ' was'} skipped: {reason}"
