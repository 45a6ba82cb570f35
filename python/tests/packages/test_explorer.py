# SPDX-License-Identifier: Apache-2.0
"""The explorer in a real browser: Chromium without a window. CHROMIUM names another one."""
import os
import shutil

import numpy as np
import pytest

import carom
from carom import _pictures as pictures

pytest.importorskip("plotly")
playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
if not CHROMIUM:
    pytest.skip("there is no chromium", allow_module_level=True)

# Without a graphics card, WebGL is computed.
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
PATIENCE = 60_000  # ms


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of some outcomes; in the end nothing went wrong in it, and it asked for nothing else."""
    wrong, pages = [], []

    def open_page(outcomes):
        carom.explore(outcomes, tmp_path / "page.html")
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        pages.append(page)
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None)
        page.goto((tmp_path / "page.html").as_uri())
        page.evaluate("window.caromExplorer.ready")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert wrong == []


def drawn(page, plot):
    """How many points the traces of a plot have, by their labels."""
    return dict(page.evaluate(f"document.getElementById('{plot}').data.map((trace) => [trace.name, (trace.x || []).length])"))


def selected(page):
    """The selected rows of each law; None where nothing is selected."""
    return page.evaluate("window.caromExplorer.selectedRows()")


def brush(page, plot, x0, y0, x1, y1):
    """Drags a box, given in shares of a plot, and returns it in the plot's numbers: (x0, x1), (y0, y1)."""
    place = page.locator(f"#{plot} .nsewdrag").first.bounding_box()
    at = lambda x, y: (place["x"] + x * place["width"], place["y"] + (1 - y) * place["height"])  # noqa: E731
    page.mouse.move(*at(x0, y0))
    page.mouse.down()
    page.mouse.move(*at((x0 + x1) / 2, (y0 + y1) / 2), steps=3)
    page.mouse.move(*at(x1, y1), steps=3)
    page.mouse.up()
    page.wait_for_function(f"window.caromExplorer.state.selections?.plot === '{plot}'")
    (box,) = page.evaluate("window.caromExplorer.state.selections.shapes")
    return sorted((box["x0"], box["x1"])), sorted((box["y0"], box["y1"]))


def within(out, axis, span):
    """Whose numbers are in this range, as the page has them: in single precision."""
    numbers = pictures.values(out, axis).astype(np.float32).astype(np.float64)
    return (numbers >= span[0]) & (numbers <= span[1])


def marked(page, plot, law):
    """Rows that a plot marks as selected."""
    return page.evaluate(
        f"""(() => {{ const trace = document.getElementById('{plot}').data.find((trace) => trace.law?.name === '{law}');
        return trace.selectedpoints.map((i) => trace.rows[i]); }})()"""
    )


def test_block_with_its_exact_set(opened, scenes):
    comparison = carom.compare(carom.load(scenes / "block.yaml"), samples=4096)
    page = opened(comparison)
    shown = drawn(page, "plot-0")
    assert shown["halm-posa (inner approximation, 4096 samples)"] == 4096
    assert "convex hull, not the set" in shown and "halm-posa-exact (the set, 2 pieces)" in shown
    assert page.inner_text("h1") == "rocking block"
    # The outcomes of all laws in a box are selected, and no others.
    x, y = brush(page, "plot-2", 0.02, 0.02, 0.6, 0.5)
    rows = selected(page)
    for law, out in comparison.items():
        if law == "halm-posa-exact":
            assert rows[law] is None
        else:
            assert rows[law] == np.flatnonzero(within(out, "Pn.A", x) & within(out, "Pn.B", y)).tolist()
    assert 0 < len(rows["halm-posa"]) < 4096
    for plot in ("plot-0", "plot-1", "plot-2"):
        assert marked(page, plot, "halm-posa") == rows["halm-posa"]
    page.click("#clear")
    assert selected(page)["halm-posa"] is None


def test_disks_with_many_samples(opened, scenes, tmp_path):
    comparison = carom.compare(carom.load(scenes / "disks.yaml"), samples=2**16)
    page = opened(comparison)
    assert (tmp_path / "page.html").stat().st_size < 20e6
    out = comparison["halm-posa"]
    assert drawn(page, "plot-0")[f"halm-posa (65536 samples, {out.info['approximate']} may lie outside)"] == 2**16
    # Other axes, and what is selected there.
    page.select_option("select[name='0-x']", "Jt.B")
    page.select_option("select[name='0-y']", "Pn.C")
    page.check("input[name=focus]")
    x, y = brush(page, "plot-0", 0.3, 0.1, 0.7, 0.6)
    rows = selected(page)["halm-posa"]
    assert rows == np.flatnonzero(within(out, "Jt.B", x) & within(out, "Pn.C", y)).tolist()
    assert 0 < len(rows) < 2**16
    assert marked(page, "plot-2", "halm-posa") == rows
    # By energy.
    x, _ = brush(page, "energy", 0.2, 0.2, 0.6, 0.6)
    assert selected(page)["halm-posa"] == np.flatnonzero(within(out, "energy_ratio", x)).tolist()


def test_quadruped_in_space(opened, scenes):
    out = carom.load(scenes / "quadruped.yaml").sample(2**14)
    page = opened(out)
    # The mechanism: contacts, and the arrows of one outcome.
    traces = page.evaluate("document.getElementById('mechanism').data.map((trace) => [trace.type, trace.name, trace.text])")
    assert ["scatter3d", "impulses", None] in traces and ["scatter3d", "velocities", None] in traces
    texts = [text for _, _, texts in traces if texts for text in texts]
    assert set(out.impact.names) <= set(texts) and "front_left_shank" in texts
    # Contact modes as the outcomes have them.
    page.uncheck("input[name='1-lift']")
    kept = out.modes()["front_right"]
    assert drawn(page, "plot-0")["halm-posa (16384 samples, 16384 may lie outside)"] == 2**14 - kept["lift"]
    assert "16,384 samples of halm-posa may lie outside the set by O(h)" in page.inner_text("#summary")
    # The outcome under the pointer is told, with its generalised velocities.
    place = page.locator("#plot-2 .nsewdrag").first.bounding_box()
    point = page.evaluate(
        """(() => { const { _fullLayout: { xaxis, yaxis }, data } = document.getElementById('plot-2');
        const trace = data.find((trace) => trace.law); return [xaxis.l2p(trace.x[7]), yaxis.l2p(trace.y[7]), trace.rows[7]]; })()"""
    )
    for shift in (3, 0):
        page.mouse.move(place["x"] + point[0] + shift, place["y"] + point[1])
    page.wait_for_function("window.caromExplorer.state.pointer.row !== 0")
    row = page.evaluate("window.caromExplorer.state.pointer.row")
    # Points may lie under one another.
    assert abs(out["Pn.front_left"][row] - out["Pn.front_left"][point[2]]) < 0.02
    page.wait_for_function(f"document.getElementById('outcome').innerText.includes('outcome {row + 1:,} of')")
    assert "root.wz" in page.inner_text("#outcome")


def test_more_dots_than_fit_are_thinned_visibly_and_reversibly(opened, block):
    out = carom.Impact(**block).sample(2**18 + 2**10, max_steps=20)
    page = opened(out)
    (label,) = (label for label in drawn(page, "plot-0") if "inner approximation" in label)
    # Fewer are drawn where the processor draws them.
    stride = 2 if page.evaluate("HAS_GRAPHICS_CARD") else 3
    assert f"one of every {stride} of 263,168 dots is drawn" in page.inner_text("#notice")
    assert drawn(page, "plot-0")[label] == -(-len(out) // stride)
    # Selections are of all outcomes, drawn or not.
    x, y = brush(page, "plot-2", 0.1, 0.1, 0.6, 0.6)
    wanted = np.flatnonzero(within(out, "Pn.A", x) & within(out, "Pn.B", y)).tolist()
    assert selected(page)["halm-posa"] == wanted
    page.check("input[name=all]")
    page.wait_for_function(f"document.getElementById('plot-0').data[0].x.length === {len(out)}")
    assert selected(page)["halm-posa"] == wanted


def test_matrices_have_no_mechanism(opened, block):
    page = opened(carom.Impact(**block).sample(256))
    assert "does not say where its contacts are" in page.inner_text("#mechanism")
