"""Reports: figures, findings, claims, tables and facts as one HTML file that opens without a network.

`data` makes figures small enough to embed, `numbers` says them in tables for whoever sees no chart, `page` writes the
HTML with `charts`, `claims` and `markup`, `chart.js` draws and `page.css` dresses it. `sides` is what a report opens
with and what it is held against. Nothing on the page can send a request: its policy forbids it.
"""

from ucls.paper.report.page import write_report
from ucls.paper.report.sides import Opening, Reference
from ucls.paper.report.verdict import Verdict

__all__ = ["Opening", "Reference", "Verdict", "write_report"]
