"""The hooks of `mkdocs.yml`: pages made at build time, and checks of the site."""

from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from docsite import algorithms, foreign, formulas, outside, pictures, whole
from tools import pages


def on_pre_build(**_: Any) -> None:
    """Refuse pages that do not agree with each other, or with the data that the package ships."""
    if complaints := list(pages.complaints()):
        raise PluginError("\n".join(complaints))


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that have no file in docs/."""
    for name, text in {**outside.pages(algorithms.sources()), **algorithms.pages()}.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Adapt links to the site, frame figures, and convert formulas to MathML on pages that declare them."""
    if page.file.generated_by is None:
        markdown = outside.mended(markdown, f"docs/{page.file.src_uri}")
    markdown = pictures.framed(markdown)
    return formulas.render(markdown) if page.meta.get("math") else markdown


def on_page_content(html: str, **_: Any) -> str:
    """Keep intervals, numbers and options on one line each."""
    return whole.whole(html)


def on_post_build(config: Any) -> None:
    """Refuse a site that fetches anything from elsewhere."""
    if complaints := foreign.check(Path(config.site_dir)):
        raise PluginError("\n".join(complaints))
