"""Sharing agents: policies that need only NumPy, and the Hugging Face Hub."""
