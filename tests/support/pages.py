"""The data of a page of maps, as its script reads them."""

import base64
import json
import re

import numpy as np


def decoded(page, view, name):
    """A kind of number as the page's script reads it: moments, points, and actions if it has them."""
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
    kind = data["views"][view]["kinds"][name]
    whole = np.frombuffer(base64.b64decode(kind["data"]), "<u2")
    values = kind["low"] + whole * (kind["high"] - kind["low"]) / 65535
    return values.reshape(len(data["steps"]), data["views"][view]["rows"] * data["views"][view]["columns"], -1)


def page_data(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.S).group(1))
