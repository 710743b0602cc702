"""A small neural network with an exact last layer, on arrays alone: layers, gradients, Adam, memory, bounds.

- `layers`: normalization with ReLU, forward and backward;
- `network`: weights as one vector, features of a batch, one gradient step;
- `replay`: remembered states and transitions;
- `partitions`: visits, residuals and corrections in cells of random partitions of the state space;
- `last_layer`: the exact regressions on the features, and the targets;
- `solutions`: the last few solutions, whose mean is the value estimate;
- `levels`: the largest and the smallest possible value, from the rewards seen.
"""
