"""The page for practitioners is complete; `test_pages` runs its code."""

from pathlib import Path

import ucls

PAGE = Path(__file__).parents[1] / "docs" / "practice.md"


def test_every_callback_is_on_the_page():
    for name in ucls.callbacks.__all__:
        assert name in PAGE.read_text() or name == "Log"
