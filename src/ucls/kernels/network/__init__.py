"""A small neural network with an exact last layer, on arrays alone: layers, gradients, Adam, memory, bounds.

- `layers`: normalization with ReLU, forward and backward; `convolution`: 3 by 3 filters;
- `network`: weights as one vector, features of a batch, one gradient step;
- `replay`: remembered states and transitions;
- `partitions`: visits, residuals and corrections in cells of random partitions of the state space;
- `last_layer`: the exact regressions on the features, and the targets;
- `levels`: the largest and the smallest possible value, from the rewards seen.
"""
