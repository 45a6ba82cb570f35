# SPDX-License-Identifier: Apache-2.0
# Settings of Sphinx for the documentation site; `make docs` (scripts/site.py) lays out the pages and runs it.
project = "carom"
author = "the carom authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "carom"
html_static_path = ["_static"]
html_css_files = ["carom.css"]
# Sections are linked as on a forge: laws.md#walks.
myst_heading_anchors = 4
exclude_patterns = ["scenes", "include", "src", "examples", "scripts", "benchmarks"]
napoleon_google_docstring = False
autodoc_typehints = "description"
# Fields of a class are explained as its attributes.
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
html_show_copyright = False
# Fences without a language are formulas.
highlight_language = "none"
