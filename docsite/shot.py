"""The screenshot of `ucls explain` for README and docs: its page in a browser, down to the end of the maps.

    ucls explain MountainCar-v0 --out maps.html
    python -m docsite.shot maps.html docs/explain.png

A place is held in the second map, so that the panel beside the maps has the intervals there. It needs `chromium`.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

CHROMIUM, WIDTH = "/usr/bin/chromium", 1180
PLACE = (0.65, 0.175)  # from the left and from the top, as parts of a map


def shoot(page: str, picture: str) -> None:
    """Open a page of maps, select a place, and take a screenshot above the list below the maps."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page(
            viewport={"width": WIDTH, "height": 1300}
        )  # as high as the maps, so that nothing moves
        opened.goto(Path(page).resolve().as_uri())
        boxes = [canvas.bounding_box() for canvas in opened.locator("canvas").all()]
        box = [box for box in boxes if box and box["height"] > 150][1]  # the low ones are scales of color
        opened.mouse.click(box["x"] + PLACE[0] * box["width"], box["y"] + PLACE[1] * box["height"])
        bottom = opened.locator("h2", has_text="widest intervals").bounding_box()
        assert bottom is not None
        height = bottom["y"] - 16
        opened.screenshot(path=picture, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
        browser.close()


if __name__ == "__main__":
    shoot(*sys.argv[1:])
