"""Text that must not break across lines: an interval such as [-1.5, 2], a number such as 9e-06, an option such as
--out.

>>> whole("<td>3 [-1.5, 2]</td>")
'<td>3 <span class="whole">[-1.5, 2]</span></td>'
>>> whole("<pre>[1, 2]</pre>"), whole('<a title="1e-05">')
('<pre>[1, 2]</pre>', '<a title="1e-05">')
"""

import re

NUMBER = r"-?\d[\d,.]*(?:e[-+]?\d+)?"
LEFT = r"<pre.*?</pre>|<svg.*?</svg>|<[^>]+>"
KEPT = re.compile(rf"(?P<left>{LEFT})|\[{NUMBER}, {NUMBER}\]|(?<![\w-])(?:-?\d[\d.]*e-\d+|--[a-z][a-z-]*)", re.S)


def whole(html: str) -> str:
    """Return a page whose intervals, numbers and options stay on one line each."""
    return KEPT.sub(lambda found: found[0] if found["left"] else f'<span class="whole">{found[0]}</span>', html)
