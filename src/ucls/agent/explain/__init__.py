"""Maps of an agent: estimated values, prior weight, noise, visits and chosen actions.

`views` chooses the states, `maps` queries the agent there, once or along a run, and `page` writes an HTML file that
opens without a network. It works with anything that has a learner: a run in a built-in environment, or an agent.

>>> from ucls.core.run import make_run
>>> run = make_run("ucls/RiverSwim-v0", "ucls-exact")
>>> maps = record(run, 300, moments=3)
>>> [moment.step for moment in maps.moments]
[0, 33, 133, 300]
"""

from ucls.agent.explain.maps import Maps, Moment, look, record
from ucls.agent.explain.names import actions_of, names_of
from ucls.agent.explain.page import write_page
from ucls.agent.explain.views import View, views_of

__all__ = ["Maps", "Moment", "View", "actions_of", "look", "names_of", "record", "views_of", "write_page"]
