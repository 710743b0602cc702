"""Write frames as a video: a GIF, or an MP4 with ffmpeg; files are written atomically."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageColor

from ucls._util.files import write_atomic
from ucls._util.html import refuse_file
from ucls.errors import UserError

MARK = b"made by ucls record-video"
SUFFIXES = (".gif", ".mp4")
FASTEST = 50  # frames per second: browsers show a GIF that asks for more slowly
NEAR = 8  # steps of a color that are not visible
HOLD = 1.5  # seconds that the last frame of an episode stays


def refuse_clip(path: Path) -> None:
    """Refuse, before the work, a video that cannot be written or would replace another file."""
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"a video cannot be {path.name!r}: give a name that ends in .gif or .mp4")
    refuse_file(path, "video", MARK, path / "video.gif")
    if path.suffix.lower() == ".mp4":
        _ffmpeg()


def write_clip(path: Path, frames: Iterable[tuple[Image.Image, bool]], palette: Image.Image, fps: int) -> Path:
    """Write frames, each with whether it is the last of an episode; `palette` has the colors that a GIF may have."""
    if path.suffix.lower() == ".mp4":
        write_atomic(path, lambda target: _write_mp4(target, frames, fps))
    else:
        write_atomic(path, lambda target: _write_gif(target, frames, palette, fps))
    return path


def palette_of(pictures: Sequence[Image.Image], flat: Sequence[str], smooth: Sequence[str]) -> Image.Image:
    """Colors for all frames: some that must be right, of which the smooth ones fade into white, and the pictures'.

    One palette for all lets a GIF keep only what changes from frame to frame.
    """
    exact = [ImageColor.getrgb(color) for color in flat]
    fading = [ImageColor.getrgb(color) for color in smooth]
    exact += [tuple(round(c + (255 - c) * part) for c in color) for color in fading for part in (0, 0.25, 0.5, 0.75)]
    side = Image.new("RGB", (sum(picture.width for picture in pictures), max(picture.height for picture in pictures)))
    at = 0
    for picture in pictures:
        side.paste(picture, (at, 0))
        at += picture.width
    few = side.quantize(255 - len(exact), Image.Quantize.MEDIANCUT)
    seen = np.array(few.getpalette(), np.int64).reshape(-1, 3)
    near = np.abs(seen[:, None] - np.array(exact)[None]).max(axis=2).min(axis=1) < NEAR
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.concatenate([exact, seen[~near]]).astype(np.uint8).tobytes())
    return palette


def _write_gif(target: Path, frames: Iterable[tuple[Image.Image, bool]], palette: Image.Image, fps: int) -> None:
    durations: list[int] = []

    def indexed() -> Iterator[Image.Image]:
        for frame, last in frames:
            durations.append(10 * round(100 * (HOLD if last else 1 / fps)))  # a GIF counts in hundredths
            yield frame.quantize(palette=palette, dither=Image.Dither.NONE)

    images = list(indexed())
    images[0].save(
        target, "GIF", save_all=True, append_images=images[1:], duration=durations, loop=0, comment=MARK, optimize=False
    )


def _write_mp4(target: Path, frames: Iterable[tuple[Image.Image, bool]], fps: int) -> None:
    frames = iter(frames)
    first = next(frames)
    options = ["-movflags", "+faststart", "-metadata", f"comment={MARK.decode()}"]
    film = _ffmpeg().write_frames(
        str(target), first[0].size, fps=fps, macro_block_size=2, output_params=options, ffmpeg_log_level="error"
    )
    film.send(None)
    try:
        for frame, last in chain([first], frames):
            for _ in range(max(1, round(HOLD * fps)) if last else 1):
                film.send(np.ascontiguousarray(frame))
    finally:
        film.close()


def _ffmpeg() -> Any:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise UserError(
            "an MP4 needs imageio-ffmpeg: pip install 'ucls[render]', or give a name ending in .gif"
        ) from None
    return imageio_ffmpeg
