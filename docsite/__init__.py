"""Build a site of docs/: pages from docstrings and files, formulas as MathML, and checks. See `mkdocs.yml`."""
