"""The agent for Gymnasium environments: learning, prediction, evaluation, maps, videos, and the model card.

`agent` has the class that users see; `build` puts one together, from arguments or from a file.
"""
