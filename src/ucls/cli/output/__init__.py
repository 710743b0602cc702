"""What commands print: tables, JSON, progress, and what becomes of a closed pipe."""
