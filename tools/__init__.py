"""What makes and checks pages of the documentation: `python -m tools --help`. None of it is in the wheel."""
