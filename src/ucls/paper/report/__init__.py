"""Reports: figures, findings, claims, tables and facts as one HTML file that opens without a network.

`data` makes figures small enough to embed, `numbers` has them as tables for readers without charts, `page` writes the
HTML with `charts`, `claims` and `markup`; `chart.js` draws the charts, and `page.css` is the style. `sides` has what a
report opens with and what it is compared with. The page's policy forbids it to send requests.
"""

from ucls.paper.report.page import write_report
from ucls.paper.report.sides import Opening, Reference
from ucls.paper.report.verdict import Verdict

__all__ = ["Opening", "Reference", "Verdict", "write_report"]
