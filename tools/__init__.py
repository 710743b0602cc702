"""Make and check pages of the documentation: `python -m tools --help`. Not part of the wheel."""
