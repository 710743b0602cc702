"""See what an agent is unsure of: maps of value, of what it does not know, of what is noisy, of visits and of actions.

`views` says where to look, `maps` looks there, now or along a run, and `page` shows it as one HTML file that opens
without a network. It works on anything with a learner: a run in one of our worlds, or an agent in any environment.

>>> from ucls.core.run import make_run
>>> run = make_run("ucls/RiverSwim-v0", "ucls-exact")
>>> maps = record(run, 300, moments=3)
>>> [moment.step for moment in maps.moments]
[0, 33, 133, 300]
"""

from ucls.explain.maps import Maps, Moment, look, record
from ucls.explain.names import actions_of, names_of
from ucls.explain.page import write_page
from ucls.explain.views import View, views_of

__all__ = ["Maps", "Moment", "View", "actions_of", "look", "names_of", "record", "views_of", "write_page"]
