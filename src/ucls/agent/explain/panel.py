"""A frame of a video: the image of the environment, and beside it the interval of every action."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ucls.agent.explain.scenes import Scale, Scene, rows_of, scale_of

PAPER, INK, SOFT, RULE, TINT = "#ffffff", "#1d2329", "#59636e", "#d9dee3", "#eef3f8"
FAINT = "#a9b1b9"  # what is said of invalid actions
UNKNOWN, NOISY = "#5b9bd0", "#f0953f"  # as on the maps
COLORS, SMOOTH = (PAPER, RULE, TINT), (INK, SOFT, UNKNOWN, NOISY)  # flat ones, and those whose edges are smooth

WIDTH, MOST_HIGH, MOST_WIDE = 360, 400, 520  # of the panel; of a picture
HEAD, FOOT, GAP = 58, 56, 16
ROW, HIGH_ROW, SLIM = 46, 68, 24  # a row with its name above the bar, if there is much room, or with it beside the bar
ROWS = 20  # actions that there is room for
THICK = 6  # half of a bar
FINE = 2  # drawn so many times larger, then made small: edges become smooth


class Film(NamedTuple):
    """The properties that all frames share."""

    title: str
    names: Sequence[str]
    rows: list[int]
    scale: Scale
    size: tuple[int, int]  # of the picture
    episodes: int
    split: bool
    bounded: bool

    @property
    def slim(self) -> bool:
        """Whether there are so many actions that their names stand beside the bars."""
        return len(self.rows) > 6

    @property
    def row(self) -> int:
        """The height of a row."""
        room = (self.size[1] - FOOT) // len(self.rows)
        return SLIM if self.slim else min(HIGH_ROW, max(ROW, room))

    @property
    def height(self) -> int:
        """The height of a frame, which is even, as video codecs require."""
        rows = len(self.rows) * self.row
        return (max(HEAD + rows + FOOT, HEAD + self.size[1] + GAP) + 1) // 2 * 2


def film_of(title: str, scenes: Sequence[Scene], names: Sequence[str]) -> Film:
    """Return the properties that the frames of some scenes share."""
    high, wide = scenes[0].picture.shape[:2]
    shrink = min(1.0, MOST_HIGH / high, MOST_WIDE / wide)
    size = max(2, round(wide * shrink)) // 2 * 2, max(2, round(high * shrink)) // 2 * 2
    episodes = max(scene.episode for scene in scenes)
    bounded = any((scene.radius > 0).any() for scene in scenes)
    rows, scale = rows_of(scenes, ROWS), scale_of(scenes)
    return Film(title, names, rows, scale, size, episodes, scenes[0].unknown is not None, bounded)


def picture_of(film: Film, scene: Scene) -> Image.Image:
    """The picture of a scene at the size of the film."""
    picture = Image.fromarray(scene.picture.pixels())
    return picture if picture.size == film.size else picture.resize(film.size, Image.Resampling.LANCZOS)


def frame_of(film: Film, scene: Scene) -> Image.Image:
    """A scene as a frame."""
    frame = Image.new("RGB", (GAP + film.size[0] + GAP + WIDTH + GAP, film.height), PAPER)
    frame.paste(picture_of(film, scene), (GAP, HEAD))
    _head(frame, film, scene)
    panel = Image.new("RGB", (FINE * (WIDTH + GAP), FINE * (film.height - HEAD)), PAPER)
    _draw_panel(_Pen(panel), film, scene)
    small = panel.resize((WIDTH + GAP, film.height - HEAD), Image.Resampling.BOX)
    frame.paste(small, (GAP + film.size[0] + GAP, HEAD))
    return frame


class _Pen:
    """Draws on an enlarged image in the units of the small one, for smooth edges."""

    def __init__(self, image: Image.Image, fine: int = FINE) -> None:
        self._draw, self._fine = ImageDraw.Draw(image), fine

    def text(self, at: tuple[float, float], text: str, size: int, color: str, anchor: str, bold: bool = False) -> None:
        """Write a text; characters that the font lacks become question marks."""
        x, y = (self._fine * part for part in at)
        plain = text.encode("ascii", "replace").decode().replace("+-", "±")
        weight = 0.35 * self._fine if bold else 0
        font = _font(size * self._fine)
        self._draw.text((x, y), plain, color, font, anchor, stroke_width=weight, stroke_fill=color)

    def box(self, x0: float, y0: float, x1: float, y1: float, color: str, round: float = 0.0) -> None:
        """Fill a rectangle."""
        x0, y0, x1, y1 = (self._fine * at for at in (x0, y0, x1, y1))
        if x1 - x0 >= 1:
            self._draw.rounded_rectangle((x0, y0, x1 - 1, y1 - 1), min(self._fine * round, (x1 - x0) / 2), color)

    def disc(self, x: float, y: float, radius: float, color: str) -> None:
        """Fill a disc."""
        f = self._fine
        self._draw.ellipse((f * (x - radius), f * (y - radius), f * (x + radius), f * (y + radius)), color)

    def polygon(self, points: Sequence[tuple[float, float]], color: str) -> None:
        """Fill a polygon."""
        self._draw.polygon([(self._fine * x, self._fine * y) for x, y in points], color)


@cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size)


def _head(frame: Image.Image, film: Film, scene: Scene) -> None:
    pen = _Pen(frame, 1)
    pen.text((GAP, 12), film.title, 17, INK, "lt", bold=True)
    episode = f"episode {scene.episode} of {film.episodes},  " if film.episodes > 1 else ""
    told = f"{episode}step {scene.step:,},  reward so far: {_number(scene.reward)}"
    pen.text((GAP, 36), told, 14, SOFT, "lt")
    left = GAP + film.size[0] + GAP
    against = ", compared with the best mean" if film.scale.relative else ", and how sure that is"
    pen.text((left, 36), "Estimated action values" + against, 14, SOFT, "lt")


def _draw_panel(pen: _Pen, film: Film, scene: Scene) -> None:
    left, right = (118.0, WIDTH - 8.0) if film.slim else (10.0, WIDTH - 8.0)
    height = film.row
    bottom = float(height * len(film.rows))
    across = right - left
    marks = [left + across * film.scale.place(tick) for tick in film.scale.ticks]
    for x, tick in zip(marks, film.scale.ticks, strict=True):
        pen.text((x, bottom + 7), _number(tick), 11, SOFT, "mt")
    for k, a in enumerate(film.rows):
        top, chosen = float(height * k), scene.action == a
        if chosen:
            pen.box(0, top + 1, WIDTH, top + height - 1, TINT, 6)
            pen.box(0, top + 1, 4, top + height - 1, INK, 2)
        y = top + (SLIM / 2 if film.slim else height / 2 + 9)
        for x in marks:
            pen.box(x - 0.5, y - THICK - 4, x + 0.5, y + THICK + 4, RULE)
        _draw_name(pen, film, scene, a, top, chosen)
        _draw_bar(pen, film, scene, a, left, across, y)
    if scene.ending:
        pen.text((10, bottom + 40), scene.ending, 14, INK, "lm", bold=True)
    else:
        _draw_legend(pen, film, bottom + 40)


def _draw_name(pen: _Pen, film: Film, scene: Scene, a: int, top: float, chosen: bool) -> None:
    name, valid = film.names[a], not np.isnan(scene.mean[a])
    if film.slim:
        pen.text((10, top + SLIM / 2), name[:15], 12, INK if valid else FAINT, "lm", chosen)
        return
    y = top + film.row / 2 - 10
    pen.text((10, y), name[:30], 14, INK if valid else FAINT, "lm", chosen)
    radius = f" +- {_number(scene.radius[a])}" if film.bounded else ""
    words = _number(scene.mean[a]) + radius if valid else "invalid"
    pen.text((WIDTH - 8, y), words, 13, INK if chosen else SOFT if valid else FAINT, "rm")


def _draw_bar(pen: _Pen, film: Film, scene: Scene, a: int, left: float, across: float, y: float) -> None:
    """The interval of a valid action: the noise term around the mean, and the prior term around that."""
    if np.isnan(scene.mean[a]):
        return
    mean, noisy, radius = scene.mean[a] - film.scale.origin(scene), scene.noisy[a], scene.radius[a]
    outer = UNKNOWN if film.split else NOISY

    def x(value: float) -> float:
        return left + across * min(1.0, max(0.0, film.scale.place(value)))

    pen.box(x(mean - radius), y - THICK, x(mean + radius), y + THICK, outer, 2)
    if film.split:
        pen.box(x(mean - noisy), y - THICK, x(mean + noisy), y + THICK, NOISY, 2)
    if mean - radius < film.scale.low:  # it goes on beyond the scale
        pen.polygon([(left, y - THICK), (left - THICK, y), (left, y + THICK)], outer)
    if mean + radius > film.scale.high:
        pen.polygon([(left + across, y - THICK), (left + across + THICK, y), (left + across, y + THICK)], outer)
    if film.scale.low <= mean <= film.scale.high:
        pen.disc(x(mean), y, 5, PAPER)
        pen.disc(x(mean), y, 3.5, INK)


def _draw_legend(pen: _Pen, film: Film, y: float) -> None:
    if not film.bounded:
        pen.text((10, y), "Means; the algorithm has no confidence bounds.", 12, SOFT, "lm")
        return
    keys = [(NOISY, "noise"), (UNKNOWN, "prior")] if film.split else [(NOISY, "radius")]
    pen.disc(14, y, 4, INK)
    pen.text((24, y), "mean", 12, SOFT, "lm")
    x = 70.0
    for color, word in keys:
        pen.box(x, y - 5, x + 14, y + 5, color, 2)
        pen.text((x + 20, y), word, 12, SOFT, "lm")
        x += 34 + 7 * len(word)
    pen.box(x + 4, y - 6, x + 18, y + 6, TINT, 2)
    pen.box(x + 4, y - 6, x + 7, y + 6, INK, 1)
    pen.text((x + 24, y), "chosen action", 12, SOFT, "lm")


def _number(value: float) -> str:
    """A number in a few characters.

    >>> [_number(x) for x in (-23.456, 0.0, 1234.5, 0.01234, 1e-9, 2.5e8)]
    ['-23.5', '0', '1,234', '0.0123', '1e-09', '2.5e+08']
    """
    value = float(np.round(value, 12)) if abs(value) < 1e-12 else float(value)
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
