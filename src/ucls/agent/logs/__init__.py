"""What an agent does with logs: it learns from them."""
