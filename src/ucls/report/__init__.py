"""Reports: claims, figures, tables and facts as one HTML file that opens without a network.

`data` makes figures small enough to embed, `numbers` says them in tables for whoever sees no chart, `page` writes the
HTML, `chart.js` draws and `page.css` dresses it. Nothing on the page can send a request: its policy forbids it.
"""

from ucls.report.page import write_report
from ucls.report.verdict import Verdict

__all__ = ["Verdict", "write_report"]
