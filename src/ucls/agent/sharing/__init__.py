"""Agents for others: policies that need only NumPy."""
