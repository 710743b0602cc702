"""Beyond the paper: `ucls-exact` against every competitor, part by part, over its settings, and for long."""
