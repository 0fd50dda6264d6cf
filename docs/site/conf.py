"""Settings of the documentation site: which pages are in it, how they look, and how docstrings are read; `make site`
builds it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import circuitize

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

project = "circuitize"
author = "The circuitize maintainers"
copyright = f"2026, {author}"
version = release = circuitize.__version__

# The root of the repository is the root of the sources, so that the links of its pages hold here as they stand.
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/**/*.md"]
exclude_patterns = [entry.name for entry in ROOT.iterdir() if entry.is_dir() and entry.name != "docs"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "plain_docstrings", "public_names"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
suppress_warnings = [
    "ref.python",  # an annotation may name a class that two modules define; it then links to the first
]

html_theme = "pydata_sphinx_theme"
html_title = "circuitize"
html_extra_path = ["index.html"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
