"""`python -m ucls`."""

from ucls.cli import main

main()
