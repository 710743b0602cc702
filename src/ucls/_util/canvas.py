"""A small canvas: shapes painted by their signed distance, so that edges are smooth, in plain NumPy."""

from collections.abc import Sequence

import numpy as np

Color = tuple[float, float, float]
Point = Sequence[float]

INK: Color = (0.16, 0.20, 0.26)
MIST: Color = (0.84, 0.91, 0.95)
WHITE: Color = (0.985, 0.985, 0.975)
WATER: Color = (0.45, 0.69, 0.84)
DEEP: Color = (0.13, 0.39, 0.60)
SAND: Color = (0.91, 0.84, 0.68)
GRASS: Color = (0.80, 0.88, 0.72)
LEAF: Color = (0.52, 0.70, 0.49)
GOLD: Color = (0.97, 0.79, 0.33)
ORANGE: Color = (0.91, 0.45, 0.23)


def mix(one: Color, other: Color, share: float) -> Color:
    """The color that lies `share` of the way from `one` to `other`."""
    a, b, c = ((1 - share) * p + share * q for p, q in zip(one, other, strict=True))
    return a, b, c


class Canvas:
    """A picture that is painted over, shape by shape; x points right and y down, in pixels."""

    def __init__(self, width: int = 480, height: int = 320) -> None:
        self.width = width
        self.height = height
        self.pixels = np.ones((height, width, 3))

    def image(self) -> np.ndarray:
        """The picture so far, as bytes."""
        return np.round(255 * np.clip(self.pixels, 0, 1)).astype(np.uint8)

    def gradient(self, top: Color, bottom: Color) -> None:
        """Paint everything, from one color at the top to another at the bottom."""
        share = np.linspace(0, 1, self.height)[:, None, None]
        self.pixels[:] = (1 - share) * np.array(top) + share * np.array(bottom)

    def below(self, curve: np.ndarray, color: Color, alpha: float = 1.0) -> None:
        """Paint what lies below a curve that gives y for every column."""
        y = np.arange(self.height)[:, None] + 0.5
        self._paint(slice(None), slice(None), (curve - y) / np.hypot(1, np.gradient(curve)), color, alpha)

    def disc(self, center: Point, radius: float, color: Color, alpha: float = 1.0) -> None:
        """Paint a disc."""
        self.ellipse(center, (radius, radius), color, alpha)

    def ellipse(self, center: Point, radii: Point, color: Color, alpha: float = 1.0) -> None:
        """Paint an ellipse with upright axes."""
        rows, columns, x, y = self._window([center], max(radii))
        u, v = (x - center[0]) / radii[0], (y - center[1]) / radii[1]
        norm = np.hypot(u, v)
        slope = np.hypot(u / radii[0], v / radii[1])
        # To first order: the value of the implicit function over the length of its gradient.
        distance = norm * (norm - 1) / np.maximum(slope, 1e-9)
        self._paint(rows, columns, np.where(norm > 0, distance, -1.0), color, alpha)

    def line(self, start: Point, end: Point, width: float, color: Color, alpha: float = 1.0) -> None:
        """Paint a line with round ends."""
        rows, columns, x, y = self._window([start, end], width / 2)
        dx, dy = end[0] - start[0], end[1] - start[1]
        along = np.clip(((x - start[0]) * dx + (y - start[1]) * dy) / (dx * dx + dy * dy), 0, 1)
        distance = np.hypot(x - start[0] - along * dx, y - start[1] - along * dy) - width / 2
        self._paint(rows, columns, distance, color, alpha)

    def box(self, center: Point, half: Point, radius: float, color: Color, alpha: float = 1.0) -> None:
        """Paint a rectangle with round corners, given half its width and height."""
        rows, columns, x, y = self._window([center], max(half))
        radius = min(radius, *half)
        dx, dy = np.abs(x - center[0]) - half[0] + radius, np.abs(y - center[1]) - half[1] + radius
        distance = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0)) + np.minimum(np.maximum(dx, dy), 0) - radius
        self._paint(rows, columns, distance, color, alpha)

    def polygon(self, corners: Sequence[Point], color: Color, alpha: float = 1.0) -> None:
        """Paint a polygon that does not cross itself."""
        rows, columns, x, y = self._window(corners, 0)
        distance = np.full((y.size, x.size), np.inf)
        inside = np.zeros((y.size, x.size), dtype=bool)
        for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
            dx, dy = x1 - x0, y1 - y0
            along = np.clip(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy), 0, 1)
            distance = np.minimum(distance, np.hypot(x - x0 - along * dx, y - y0 - along * dy))
            if dy != 0:
                inside ^= ((y0 <= y) != (y1 <= y)) & (x < x0 + (y - y0) * dx / dy)
        self._paint(rows, columns, np.where(inside, -distance, distance), color, alpha)

    def _window(self, points: Sequence[Point], margin: float) -> tuple[slice, slice, np.ndarray, np.ndarray]:
        """The rows and columns around some points, and the coordinates of the pixels there."""
        low, high = np.min(points, axis=0) - margin - 1, np.max(points, axis=0) + margin + 2
        columns = slice(*np.clip((low[0], high[0]), 0, self.width).astype(int))
        rows = slice(*np.clip((low[1], high[1]), 0, self.height).astype(int))
        return rows, columns, np.arange(self.width)[columns] + 0.5, np.arange(self.height)[rows, None] + 0.5

    def _paint(self, rows: slice, columns: slice, distance: np.ndarray, color: Color, alpha: float) -> None:
        """Paint where the signed distance is negative; the pixels on the edge are partly covered."""
        cover = alpha * np.clip(0.5 - distance, 0, 1)[..., None]
        self.pixels[rows, columns] += cover * (np.array(color) - self.pixels[rows, columns])
