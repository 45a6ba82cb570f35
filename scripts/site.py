#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""site.py BUILD: the documentation as HTML, in BUILD/site/html.

Sphinx reads the Markdown pages of the repository as they are, laid out in BUILD/site/source as in the checkout, so that links between them
keep their meaning. Added are a start page, a page for each public header, one for the Python package where it is built, and one for each notebook,
with the outputs that `make test-python-all` left in BUILD/notebooks. Every warning of Sphinx is an error; so is a link within the site that
leads nowhere, and a figure that no page shows.
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files and folders that pages link to, or that are pages themselves.
PARTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "docs", "include", "scenes", "examples", "src", "python/notebooks", "tests/fuzz/README.md"]
# Classes whose members are not explained again in those that inherit them.
FOREIGN = "Outcomes, float, Mapping, ValueError, RuntimeError, UserWarning"
PUBLIC = re.compile(r"not installed")

START = """# carom

A rigid body or a robot hits something at several points at once: which velocities are possible afterwards?

![A sampled set of post-impact velocities, and those of several laws](docs/figures/block-set.png)

```{{toctree}}
:maxdepth: 1

Read me first <README>
The guide <docs/index>
```

```{{toctree}}
:maxdepth: 1
:caption: Guide

{guide}
```

```{{toctree}}
:maxdepth: 1
:caption: Reference

C API <api/index>
{python}Notebooks <python/notebooks/index>
Changes <CHANGELOG>
Contributing <CONTRIBUTING>
```
"""


def stage(source):
    """Copies the pages and what they link to; without the site's own settings."""
    shutil.rmtree(source, ignore_errors=True)
    for part in PARTS:
        target = source / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target)
        else:
            shutil.copy(ROOT / part, target)
    shutil.rmtree(source / "docs/site")
    fuzz = source / "tests/fuzz/README.md"
    fuzz.write_text("---\norphan: true\n---\n\n" + fuzz.read_text())
    # Tables that scripts make are pages without a place in the guide, and without a head of their own.
    for table in (source / "docs/figures").glob("*.md"):
        table.write_text(f"---\norphan: true\n---\n\n# {table.stem.capitalize()}\n\n" + re.sub(r"^###", "##", table.read_text(), flags=re.M))
    (source / "_static").mkdir()
    shutil.copy(ROOT / "docs/site/carom.css", source / "_static")
    shutil.copy(ROOT / "docs/site/conf.py", source)


# ------------------------------------------------------------------------------------------------------------- the C API


def split_header(text):
    """The comment of a header's file, and its blocks of comment and declaration, in order."""
    lines = [line for line in text.splitlines() if not re.match(r"#(ifndef|endif|include)|// |CAROM_API_|#define CAROM_\w+_H$", line)]
    first = next(i for i, line in enumerate(lines) if "@file" in line)
    length = next(i for i, line in enumerate(lines[first:]) if not line.startswith("///"))
    blocks, comment, code, depth = [], [], [], 0
    for line in lines[first + length :] + [""]:
        continues = depth > 0 or (code and not re.search(r"[;}]\s*(///<.*)?$", code[-1]) and not code[-1].startswith("#define"))
        if code and not continues:
            blocks.append((comment, code))
            comment, code = [], []
        if line.startswith("///") and not continues:
            comment.append(line[3:].removeprefix(" "))
        elif line.strip() or continues:
            depth += line.count("{") - line.count("}")
            code.append(line)
    return [line[3:].removeprefix(" ") for line in lines[first + 1 : first + length]], blocks


def name_of(code):
    """What a declaration declares: a type, a function, a constant or a table."""
    text = " ".join(code)
    for pattern in (r"^#define (\w+)", r"}\s*(\w+);", r"^typedef struct \w+ (\w+);", r"^typedef [^(]*\(\*(\w+)\)", r"\b(\w+)\(", r"\b(\w+)(?:\[[^]]*\])*;\s*(?:///<.*)?$"):
        found = re.search(pattern, text)
        if found:
            return found.group(1)
    return None


def write_comment(comment):
    """The text of a comment, with its @param and @return as a list."""
    lines = []
    for line in comment:
        line = line.replace("@file", "").replace("<", "&lt;").replace("*", "\\*").replace("|", "\\|").replace("[", "\\[")
        line = re.sub(r"@param\s+(\w+)", r"- `\1`:", line)
        line = re.sub(r"@return", "- returns", line)
        if line.startswith("- ") and lines and not lines[-1].startswith("- "):
            lines.append("")
        lines.append(line)
    return "\n".join(lines).strip()


def write_api(source):
    """A page for each public header, and their list."""
    folder = source / "api"
    folder.mkdir()
    entries = []
    for header in sorted((ROOT / "include/carom").glob("*.h")):
        text = header.read_text()
        about, blocks = split_header(text)
        if PUBLIC.search(" ".join(about)) or header.name == "carom.h":
            continue
        page = [f"# carom/{header.name}", "", write_comment(about), ""]
        for comment, code in blocks:
            name = name_of(code)
            if name:
                page += [f"## {name}", ""]
            page += [write_comment(comment), "", "```c", *code, "```", ""]
        (folder / f"{header.stem}.md").write_text("\n".join(page) + "\n")
        entries.append(header.stem)
    listing = "\n".join(f"{stem}" for stem in entries)
    (folder / "index.md").write_text(
        "# C API\n\nOne page for each public header; `carom/carom.h` includes them all. [library.md](../docs/library.md) begins with an example.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n"
    )


# ---------------------------------------------------------------------------------------------------------- the notebooks


def cells_of(path):
    """The kind, source and outputs of a notebook's cells."""
    cells = json.loads(path.read_text())["cells"] if path.exists() else []
    return [(cell["cell_type"], "".join(cell["source"]), cell.get("outputs", [])) for cell in cells]


def write_output(output, picture):
    """An output as Markdown: a picture, which is put into a file, or what was printed."""
    data = output.get("data", {})
    if "image/png" in data:
        picture.write_bytes(base64.b64decode(data["image/png"]))
        return f"![]({picture.name})"
    text = "".join(output.get("text", data.get("text/plain", [])))
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""


def write_notebooks(source, build):
    """A page for each notebook beside it, and a gallery with the first picture of each. Says which have no outputs."""
    folder = source / "python/notebooks"
    gallery, empty = [], []
    for notebook in sorted(folder.glob("*.ipynb")):
        cells, run = cells_of(notebook), cells_of(build / "notebooks" / notebook.name)
        # Outputs of another version are none of this one.
        if [cell[:2] for cell in run] == [cell[:2] for cell in cells]:
            cells = run
        else:
            empty.append(notebook.stem)
        parts, pictures = [], []
        for kind, text, outputs in cells:
            parts.append(text if kind == "markdown" else f"```python\n{text}\n```")
            for output in outputs:
                picture = folder / f"{notebook.stem}-{len(pictures) + 1}.png"
                parts.append(write_output(output, picture))
                pictures += [picture] * picture.exists()
        missing = "*Without outputs: `make test-python-all` makes them.*" if notebook.stem in empty else ""
        title, _, rest = parts[0].partition("\n")
        parts[0] = f"{title}\n\n[Download the notebook]({notebook.name}). {missing}\n\n{rest.strip()}"
        notebook.with_suffix(".md").write_text("\n\n".join(parts) + "\n")
        about = f"[{title.removeprefix('# ')}]({notebook.stem}.md)"
        image = f"```{{figure}} {pictures[0].name}\n:target: {notebook.stem}.html\n:figclass: gallery\n\n{about}\n```" if pictures else f"- {about}"
        gallery.append((image, notebook.stem))
    toctree = "\n".join(stem for _, stem in gallery)
    images = "\n\n".join(image for image, _ in gallery)
    (folder / "index.md").write_text(f"# Notebooks\n\n{images}\n\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n")
    # On the site, pages link to pages.
    for page in (source / "docs").glob("*.md"):
        page.write_text(re.sub(r"(\]\(\.\./python/notebooks/[\w-]+)\.ipynb\)", r"\1.md)", page.read_text()))
    if empty:
        print(f"Notebooks without outputs, which make test-python-all makes: {', '.join(empty)}")


# ------------------------------------------------------------------------------------------------------------ the check


class Links(HTMLParser):
    """Targets of a page's links, and the anchors that it has."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.anchors.add(values["id"])
        for key in ("href", "src"):
            if values.get(key):
                self.targets.append(values[key])


def check_links(html):
    """Links of the site that lead nowhere, within it."""
    pages = {}
    for path in html.rglob("*.html"):
        links = Links()
        links.feed(path.read_text())
        pages[path.resolve()] = links
    broken = []
    for path, links in pages.items():
        for target in links.targets:
            if re.match(r"[a-z]+:|//", target):
                continue
            place, _, anchor = target.partition("#")
            file = (path.parent / place.split("?")[0]).resolve() if place else path
            if file.is_dir():
                file = file / "index.html"
            if not file.exists():
                broken.append(f"{path.relative_to(html)}: {target}")
            elif anchor and file in pages and anchor not in pages[file].anchors:
                broken.append(f"{path.relative_to(html)}: no place {target}")
    return len(pages), broken


def main():
    build = Path(sys.argv[1]).resolve()
    source, html = build / "site/source", build / "site/html"
    stage(source)
    write_api(source)
    write_notebooks(source, build)
    package = build / "python/carom"
    if package.exists():
        about = f"   :members:\n   :imported-members:\n   :inherited-members: {FOREIGN}\n\n"
        modules = "".join(f".. automodule:: {name}\n{about}" for name in ("carom", "carom.poses"))
        (source / "python.md").write_text(f"# Python API\n\n```{{eval-rst}}\n{modules}```\n")
    # In the order of the guide's own list of pages.
    guide = list(dict.fromkeys(re.findall(r"\]\((\w[\w-]*)\.md", (ROOT / "docs/index.md").read_text())))
    start = START.format(guide="\n".join(f"docs/{stem}" for stem in guide), python="Python API <python>\n" if package.exists() else "")
    (source / "index.md").write_text(start)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(source), str(html)]
    status = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(build / "python")}).returncode
    if status:
        return status
    pages, broken = check_links(html)
    for link in broken:
        print(f"site: {link} leads nowhere", file=sys.stderr)
    # A figure that no page shows is drawn for nobody.
    text = "".join(page.read_text() for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    unseen = [figure.name for figure in sorted((ROOT / "docs/figures").glob("*.png")) if f"figures/{figure.name})" not in text]
    for name in unseen:
        print(f"site: no page shows docs/figures/{name}", file=sys.stderr)
    print(f"{pages} pages in {html}, {len(broken)} broken links")
    return 1 if broken or unseen else 0


if __name__ == "__main__":
    sys.exit(main())
