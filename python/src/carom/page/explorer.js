// SPDX-License-Identifier: Apache-2.0
// The explorer's page: linked plots of the outcomes of an impact. It reads the data of the page (see explorer.py), draws with Plotly, and
// loads nothing; mechanism.js has what it shows of one outcome. Words: a law has rows (its outcomes) and columns (contact velocities,
// impulses, the energy ratio), as Float32Array.
"use strict";

// More dots than this in one plot are thinned: every k-th is drawn. Selections and counts are of all outcomes. Without a graphics card the
// processor draws, which takes seconds for the larger number.
const HAS_GRAPHICS_CARD = !/swiftshader|llvmpipe|softpipe|basic render/i.test(rendererName());
const MOST_DOTS = HAS_GRAPHICS_CARD ? 2 ** 18 : 100_000;
const HISTOGRAM_BINS = 60;
// Plotly's names of the shapes of marks.
const SYMBOLS = {
    circle: "circle-open",
    square: "square-open",
    triangle: "triangle-up-open",
    diamond: "diamond-open",
    "triangle-down": "triangle-down-open",
    cross: "x-thin-open",
    plus: "cross-thin-open",
    pentagon: "pentagon-open",
    star: "asterisk-open",
    disc: "circle",
};
const SCATTERS = ["plot-0", "plot-1", "plot-2"];
const CONFIG = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["toImage"] };
const GRID = { gridcolor: "#ececec", zerolinecolor: "#a0a0a0", linecolor: "#606060", ticks: "outside", tickcolor: "#606060" };

const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const ENERGY = data.axes.length; // the column after the contact velocities and impulses
const axisIndex = new Map(data.axes.map((axis, i) => [axis.name, i]));
const space = data.contacts.length * (1 + data.tangents);

const state = {
    views: data.views.map((view) => [...view]), // the axes of the scatter plots
    modes: data.contacts.map(() => data.modes.map(() => true)), // which modes of each contact are shown
    thinned: true,
    focused: false, // the axes show the sets, and single outcomes may be outside
    selections: null, // {plot, shapes}: what was drawn with the mouse; null for none
    pointer: null, // {law, row}
};

// ------------------------------------------------------------------------------------------------------------ small helpers

// Plotly reads its texts as HTML.
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function make(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
}

// Who draws for WebGL; browsers that do not tell have a vague name.
function rendererName() {
    const context = document.createElement("canvas").getContext("webgl");
    const told = context?.getExtension("WEBGL_debug_renderer_info");
    return context ? String(context.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : context.RENDERER)) : "";
}

// Three digits, or a dash for what is not determined. What is within `rest` of zero differs from it by rounding only.
function shown(number, rest = 0) {
    if (!Number.isFinite(number)) return "–";
    return Math.abs(number) <= rest ? "0" : String(Number(number.toPrecision(3)));
}

const thousands = (count) => count.toLocaleString("en-US");

// Unpacks base64 of gzip; `planes` bytes make a number, and all first bytes come first.
async function unpack(text, planes) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    if (planes === 1) return bytes;
    const count = bytes.length / planes,
        joined = new Uint8Array(bytes.length);
    for (let plane = 0; plane < planes; plane++) for (let i = 0; i < count; i++) joined[planes * i + plane] = bytes[plane * count + i];
    return joined;
}

const cut = (array, rows) => Array.from({ length: rows ? array.length / rows : 0 }, (_, i) => array.subarray(i * rows, (i + 1) * rows));

async function unpackLaw(law) {
    law.columns = cut(new Float32Array((await unpack(law.columns, 4)).buffer), law.rows);
    law.modes = cut(await unpack(law.modes, 1), law.rows);
    if (law.velocity) law.velocity = cut(new Float32Array((await unpack(law.velocity, 4)).buffer), law.rows);
    law.visible = true;
    law.selected = null; // Uint8Array with 1 for each selected row; null when nothing is selected
}

// The convex hull of points, counter-clockwise (Andrew's monotone chain), as indices.
function convexHull(x, y, rows) {
    const order = Float64Array.from(rows).sort((a, b) => x[a] - x[b] || y[a] - y[b]);
    const turns = (a, b, c) => (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]) > 0;
    const chain = (sequence) => {
        const corners = [];
        for (const next of sequence) {
            while (corners.length > 1 && !turns(corners.at(-2), corners.at(-1), next)) corners.pop();
            corners.push(next);
        }
        return corners;
    };
    if (order.length < 3) return [...order];
    return [...chain(order).slice(0, -1), ...chain(order.reverse()).slice(0, -1)];
}

// ------------------------------------------------------------------------------------------------------------- what is shown

// Rows whose contacts are all in modes that are checked.
function filterRows(law) {
    const rows = [];
    for (let row = 0; row < law.rows; row++) if (law.modes.every((modes, contact) => state.modes[contact][modes[row]])) rows.push(row);
    law.shown = Uint32Array.from(rows);
    law.hulls = new Map();
}

const dotLaws = () => data.laws.filter((law) => law.visible && law.style === "dots");

// Every k-th outcome is drawn as a dot.
function stride() {
    const dots = dotLaws().reduce((sum, law) => sum + law.shown.length, 0);
    return state.thinned ? Math.max(1, Math.ceil(dots / MOST_DOTS)) : 1;
}

// The hull of a law's rows in a plot of two columns, which takes longest of all and is kept until other rows are shown.
function hullOf(law, x, y) {
    const [px, py] = [law.columns[x], law.columns[y]];
    const key = `${x} ${y}`;
    if (!law.hulls.has(key)) {
        const finite = law.shown.filter((row) => Number.isFinite(px[row]) && Number.isFinite(py[row]));
        law.hulls.set(key, convexHull(px, py, finite));
    }
    return law.hulls.get(key);
}

// What a law draws in a plot of two columns. Rows of the drawn points stand in `rows`.
function lawTraces(law, x, y) {
    const traces = [];
    const [px, py] = [law.columns[x], law.columns[y]];
    const base = {
        name: escaped(law.label),
        showlegend: false,
        hovertemplate: `${escaped(law.name)}<br>%{x:.5g}, %{y:.5g}<extra></extra>`,
    };
    if (law.style === "pieces") {
        for (const piece of new Set(law.pieces)) {
            const vertices = law.pieces.flatMap((of, row) =>
                of === piece && Number.isFinite(px[row]) && Number.isFinite(py[row]) ? [row] : [],
            );
            if (!vertices.length) continue;
            const hull = convexHull(px, py, vertices),
                rows = [...hull, hull[0]];
            traces.push({
                ...base,
                type: "scatter",
                mode: "lines+markers",
                fill: "toself",
                fillcolor: law.colour + "40",
                rows,
                x: rows.map((row) => px[row]),
                y: rows.map((row) => py[row]),
                line: { color: law.colour, width: 2.5 },
                marker: { color: law.colour, size: 6 },
                hoveron: "points",
                law,
                unselected: { marker: { opacity: 1 } },
            });
        }
        return traces;
    }
    const every = law.style === "dots" ? stride() : 1;
    const rows = law.shown.filter((_, i) => i % every === 0);
    const many = rows.length > 20000,
        several = rows.length > 2000;
    const marker =
        law.style === "dots"
            ? { color: law.colour, size: many ? 2.5 : several ? 3.5 : 5, opacity: many ? 0.35 : several ? 0.5 : 0.8 }
            : { color: law.colour, symbol: SYMBOLS[law.shape], size: 8 * law.size, line: { width: 2, color: law.colour } };
    // Dots by WebGL; marks, which are few, over them.
    traces.push({
        ...base,
        type: law.style === "dots" ? "scattergl" : "scatter",
        mode: "markers",
        marker,
        law,
        rows,
        x: Float64Array.from(rows, (row) => px[row]),
        y: Float64Array.from(rows, (row) => py[row]),
        selected: { marker: { opacity: 1 } },
        unselected: { marker: { opacity: law.style === "dots" ? 0.04 : 0.2 } },
    });
    if (law.sampled) {
        const hull = hullOf(law, x, y),
            corners = hull.length ? [...hull, hull[0]] : [];
        traces.push({
            ...base,
            type: "scatter",
            mode: "lines",
            name: "convex hull, not the set",
            hoverinfo: "skip",
            hovertemplate: null,
            x: corners.map((row) => px[row]),
            y: corners.map((row) => py[row]),
            line: { color: "#505050", width: 1.2, dash: "6px,4px" },
        });
    }
    return traces;
}

// Single outcomes stand over samples, and samples over exact sets.
const LAYERS = ["pieces", "dots", "marks"];
const below = (a, b) => LAYERS.indexOf(a.style) - LAYERS.indexOf(b.style) || b.size - a.size;
const byLayer = () => data.laws.filter((law) => law.visible).sort(below);

const axisTitle = (axis) => ({ text: escaped(axis.name) + (axis.unit ? `  [${axis.unit}]` : ""), standoff: 6 });

// The range of a column on an axis: of the sets alone when they are zoomed in on; otherwise of everything, which Plotly finds.
function rangeOf(column) {
    let least = Infinity,
        most = -Infinity;
    for (const law of data.laws)
        if (state.focused && law.visible && law.style !== "marks")
            for (const row of law.shown) {
                least = Math.min(least, law.columns[column][row] || 0);
                most = Math.max(most, law.columns[column][row] || 0);
            }
    const margin = 0.06 * (most - least);
    return margin > 0 ? { range: [least - margin, most + margin] } : { autorange: true };
}

function drawScatter(index) {
    const [x, y] = state.views[index].map((name) => axisIndex.get(name));
    const traces = byLayer().flatMap((law) => lawTraces(law, x, y));
    markSelected(traces);
    const layout = {
        margin: { l: 62, r: 12, t: 8, b: 44 },
        dragmode: "select",
        hovermode: "closest",
        uirevision: `${state.views[index]} ${state.focused}`,
        xaxis: { ...GRID, ...rangeOf(x), title: axisTitle(data.axes[x]) },
        yaxis: { ...GRID, ...rangeOf(y), automargin: true, title: axisTitle(data.axes[y]) },
        selections: state.selections?.plot === SCATTERS[index] ? state.selections.shapes : [],
        plot_bgcolor: "#fff",
        paper_bgcolor: "#fff",
    };
    return Plotly.react(SCATTERS[index], traces, layout, CONFIG);
}

// Points of selected rows; all where nothing is selected.
function markSelected(traces) {
    for (const trace of traces) {
        if (!trace.law || trace.law.style === "pieces") continue;
        const { selected } = trace.law;
        trace.selectedpoints = selected ? Array.from(trace.rows.keys()).filter((i) => selected[trace.rows[i]]) : null;
    }
}

// ----------------------------------------------------------------------------------------------------------------- energies

// Shares of each law's outcomes by energy ratio, and of them those selected; single outcomes are marks on the axis.
function drawEnergy() {
    const laws = byLayer().filter((law) => law.style !== "pieces"),
        binned = laws.filter((law) => law.style === "dots");
    let least = Infinity,
        most = -Infinity;
    for (const law of state.focused && binned.length ? binned : laws)
        for (const row of law.shown) {
            const energy = law.columns[ENERGY][row];
            if (energy < least) least = energy;
            if (energy > most) most = energy;
        }
    // All outcomes may have the same energy.
    const width = most > least ? (most - least) / HISTOGRAM_BINS : 0.01;
    const centres = Float64Array.from({ length: HISTOGRAM_BINS }, (_, i) => least + (i + 0.5) * width);
    const traces = [];
    for (const law of laws) {
        const energies = law.columns[ENERGY];
        if (law.style === "marks") {
            traces.push({
                type: "scatter",
                mode: "markers",
                showlegend: false,
                name: escaped(law.label),
                law,
                rows: law.shown,
                cliponaxis: false,
                x: Array.from(law.shown, (row) => energies[row]),
                y: Array.from(law.shown, () => 0),
                hovertemplate: `${escaped(law.name)}<br>%{x:.5g}<extra></extra>`,
                marker: { color: law.colour, symbol: SYMBOLS[law.shape], size: 8 * law.size, line: { width: 2, color: law.colour } },
                selected: { marker: { opacity: 1 } },
                unselected: { marker: { opacity: 0.2 } },
            });
            continue;
        }
        const bins = (counts) => {
            const shares = new Float64Array(HISTOGRAM_BINS);
            for (const row of law.shown) {
                const bin = Math.min(HISTOGRAM_BINS - 1, Math.floor((energies[row] - least) / width));
                if (counts(row) && Number.isFinite(energies[row])) shares[bin] += 100 / law.shown.length;
            }
            return shares;
        };
        const bar = {
            type: "bar",
            x: centres,
            width: new Array(HISTOGRAM_BINS).fill(width),
            showlegend: false,
            selectedpoints: null,
            hovertemplate: `${escaped(law.name)}<br>%{x:.4g}: %{y:.3g} %<extra></extra>`,
        };
        traces.push({ ...bar, y: bins(() => true), marker: { color: law.colour, opacity: law.selected ? 0.2 : 0.6 } });
        if (law.selected) traces.push({ ...bar, y: bins((row) => law.selected[row]), marker: { color: law.colour, opacity: 0.85 } });
    }
    markSelected(traces);
    const layout = {
        margin: { l: 62, r: 12, t: 8, b: 44 },
        dragmode: "select",
        selectdirection: "h",
        barmode: "overlay",
        bargap: 0,
        hovermode: "closest",
        xaxis: { ...GRID, ...rangeOf(ENERGY), title: { text: "kinetic energy after / before", standoff: 6 } },
        yaxis: { ...GRID, automargin: true, title: { text: "share  [%]", standoff: 6 }, rangemode: "tozero" },
        selections: state.selections?.plot === "energy" ? state.selections.shapes : [],
        uirevision: `energy ${state.focused}`,
    };
    return Plotly.react("energy", traces, layout, CONFIG);
}

// ---------------------------------------------------------------------------------------------------------------- selecting

// A test for a point, of a box or lasso as Plotly describes it.
function inside(shape, horizontal) {
    if (shape.type === "path") {
        const corners = shape.path
            .slice(1, -1)
            .split("L")
            .map((corner) => corner.split(",").map(Number));
        return (x, y) => {
            // Odd crossings of a ray to the right.
            let odd = false;
            for (let i = 0, k = corners.length - 1; i < corners.length; k = i++) {
                const [ax, ay] = corners[i],
                    [bx, by] = corners[k];
                if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
            }
            return odd;
        };
    }
    const [x0, x1] = [shape.x0, shape.x1].sort((a, b) => a - b),
        [y0, y1] = [shape.y0, shape.y1].sort((a, b) => a - b);
    return horizontal ? (x) => x >= x0 && x <= x1 : (x, y) => x >= x0 && x <= x1 && y >= y0 && y <= y1;
}

// Selects the outcomes in what was drawn, of all those that are shown, whether thinning draws them or not.
function select() {
    const { plot, shapes } = state.selections ?? { shapes: [] };
    const tests = shapes.map((shape) => inside(shape, plot === "energy"));
    const [x, y] = plot === "energy" ? [ENERGY, ENERGY] : (state.views[SCATTERS.indexOf(plot)] ?? []).map((name) => axisIndex.get(name));
    for (const law of data.laws) {
        law.selected = tests.length && law.style !== "pieces" ? new Uint8Array(law.rows) : null;
        if (law.selected)
            for (const row of law.shown) law.selected[row] = tests.some((test) => test(law.columns[x][row], law.columns[y][row])) ? 1 : 0;
    }
}

const countSelected = (law) => law.selected.reduce((sum, one) => sum + one, 0);

function describeSelection() {
    const parts = data.laws
        .filter((law) => law.visible && law.selected)
        .map((law) => [law, countSelected(law)])
        .filter(([, count]) => count);
    const lines = parts.map(([law, count]) => make("div", {}, `${law.name}: ${thousands(count)} of ${thousands(law.shown.length)}`));
    if (!lines.length) lines.push(state.selections ? "No outcome is selected." : "Nothing is selected.");
    element("selection").replaceChildren(...lines);
    element("clear").disabled = !state.selections;
}

// ------------------------------------------------------------------------------------------------------------------ controls

function swatch(law) {
    const shapes = {
        circle: "M9 9m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
        square: "M4 4h10v10h-10z",
        triangle: "M9 3l6 11h-12z",
        diamond: "M9 3l5 6l-5 6l-5 -6z",
        "triangle-down": "M9 15l6 -11h-12z",
        cross: "M4 4l10 10M14 4l-10 10",
        plus: "M9 3v12M3 9h12",
        pentagon: "M9 3l6 4.5l-2.3 7h-7.4l-2.3 -7z",
        star: "M9 3v12M4 6l10 6M14 6l-10 6",
        disc: "M9 9m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0",
    };
    const holder = make("span");
    const filled = law.style === "marks" ? "none" : law.colour;
    const path = shapes[{ marks: law.shape, dots: "circle", pieces: "square" }[law.style]];
    const opacity = law.style === "pieces" ? 0.3 : 1;
    const drawn = `d="${path}" fill="${filled}" fill-opacity="${opacity}" stroke="${law.colour}" stroke-width="2"`;
    holder.innerHTML = `<svg width="18" height="18"><path ${drawn}/></svg>`;
    return holder;
}

// What samples are of the set.
function describeSamples(law) {
    if (law.uncertain) return `The impact is uncertain: the samples of ${law.name} are of a union of sets, one for each draw.`;
    if (law.outside === 0) return `The samples of ${law.name} are an inner approximation: the set contains every one, and may be larger.`;
    if (law.outside === null) return `The set may be larger than the samples of ${law.name}.`;
    return `${thousands(law.outside)} samples of ${law.name} may lie outside the set by O(h); it contains the others, and may be larger.`;
}

function makeControls() {
    element("title").textContent = data.title;
    const outcomes = data.laws.filter((law) => law.style !== "pieces").reduce((total, law) => total + law.rows, 0);
    const laws = new Set(data.laws.map((law) => law.name)).size;
    element("summary").textContent =
        `${laws} law${laws === 1 ? "" : "s"}, ${thousands(outcomes)} outcomes, ` +
        `${data.contacts.length} ${data.tangents === 1 ? "planar" : "spatial"} contact${data.contacts.length === 1 ? "" : "s"}. ` +
        data.laws.filter((law) => law.sampled).map(describeSamples).join(" ");
    for (const law of data.laws) {
        const box = make("input", { type: "checkbox", checked: true });
        box.addEventListener("change", () => {
            law.visible = box.checked;
            drawAll();
        });
        const [, name, rest] = /^(\S+)\s*(.*)$/.exec(law.label);
        element("laws").append(
            make(
                "label",
                { className: "law" },
                box,
                swatch(law),
                make("span", {}, name, make("small", {}, rest.replace(/^\(|\)$/g, "") + (law.complete ? "" : " incomplete"))),
            ),
        );
    }
    if (data.laws.some((law) => law.style === "marks") && data.laws.some((law) => law.style !== "marks")) {
        const box = make("input", { type: "checkbox", name: "focus" });
        box.addEventListener("change", () => {
            state.focused = box.checked;
            drawAll();
        });
        element("laws").append(make("label", {}, box, " zoom in on the sets"));
    }
    // A row for each contact, with the modes that occur.
    const occurring = data.modes.map((_, mode) => data.laws.some((law) => law.modes.some((modes) => modes.includes(mode))));
    const body = make("tbody"),
        columns = data.modes.map((_, mode) => mode).filter((mode) => occurring[mode]);
    data.contacts.forEach((name, contact) => {
        const row = make("tr", {}, make("th", { title: name }, name));
        for (const mode of columns) {
            const box = make("input", {
                type: "checkbox",
                checked: true,
                name: `${contact}-${data.modes[mode]}`,
                ariaLabel: `${name}: ${data.modes[mode]}`,
            });
            box.addEventListener("change", () => {
                state.modes[contact][mode] = box.checked;
                refilter();
            });
            row.append(make("td", {}, box));
        }
        body.append(row);
    });
    element("modes").append(
        make(
            "div",
            { className: "scroll" },
            make(
                "table",
                {},
                make("thead", {}, make("tr", {}, make("th", {}, "contact"), ...columns.map((mode) => make("th", {}, data.modes[mode])))),
                body,
            ),
        ),
    );
    state.views.forEach((view, index) => {
        const chooser = (side) => {
            const made = make(
                "select",
                { name: `${index}-${side ? "y" : "x"}`, ariaLabel: side ? "vertical axis" : "horizontal axis" },
                ...data.axes.map((axis) => make("option", { value: axis.name, selected: axis.name === view[side] }, axis.name)),
            );
            made.addEventListener("change", () => changeAxis(index, side, made.value));
            return made;
        };
        element(`axes-${index}`).append(chooser(1), " over ", chooser(0));
    });
    element("clear").addEventListener("click", () => {
        state.selections = null;
        reselect();
    });
}

function changeAxis(index, side, name) {
    state.views[index][side] = name;
    // A box of other axes has no place here; what it selected stays selected in no plot.
    if (state.selections?.plot === SCATTERS[index]) state.selections = null;
    return reselect();
}

function refilter() {
    data.laws.forEach(filterRows);
    return reselect();
}

function reselect() {
    select();
    describeSelection();
    return drawAll();
}

// What thinning leaves out, and the way to see it.
function describeThinning() {
    const dots = dotLaws().reduce((total, law) => total + law.shown.length, 0),
        notice = element("notice");
    if (dots <= MOST_DOTS) {
        notice.replaceChildren();
        return;
    }
    const box = make("input", { type: "checkbox", checked: !state.thinned, name: "all" });
    box.addEventListener("change", () => {
        state.thinned = !box.checked;
        drawAll();
    });
    const said = state.thinned
        ? `Thinned: one of every ${stride()} of ${thousands(dots)} dots is drawn` +
          `${HAS_GRAPHICS_CARD ? "" : ", for want of a graphics card"}; selections and counts are of all. `
        : `All ${thousands(dots)} dots are drawn. `;
    notice.replaceChildren(said, make("label", {}, box, " draw all"));
}

function drawAll() {
    describeThinning();
    return Promise.all([...SCATTERS.map((_, index) => drawScatter(index)), drawEnergy(), drawMechanism()]);
}

// A plot's own events: what was selected in it, and what is under the pointer.
function listen(id) {
    const plot = element(id);
    plot.on("plotly_selected", (event) => {
        // Double clicks and single ones without a box clear.
        const shapes = event?.selections ?? (event?.range || event?.lassoPoints ? plot.layout.selections : []);
        if (!shapes?.length && state.selections?.plot !== id) return;
        state.selections = shapes?.length ? { plot: id, shapes: shapes.map((shape) => ({ ...shape })) } : null;
        reselect();
    });
    plot.on("plotly_deselect", () => {
        state.selections = null;
        reselect();
    });
    plot.on("plotly_hover", ({ points: [under] }) => {
        const { law, rows } = under.data;
        if (law && rows) point(law, rows[under.pointNumber]);
    });
}

// The page for scripts and tests: what is selected, as rows of each law.
const ready = (async () => {
    if (!("DecompressionStream" in window)) {
        element("notice").textContent = "This page needs a browser of 2023 or later.";
        return;
    }
    for (const law of data.laws) await unpackLaw(law);
    data.laws.forEach(filterRows);
    makeControls();
    describeSelection();
    const first = data.laws.find((law) => law.rows && Number.isFinite(law.columns[space][0])) ?? data.laws.find((law) => law.rows);
    state.pointer = { law: first, row: 0 };
    describeOutcome();
    await drawAll();
    [...SCATTERS, "energy"].forEach(listen);
})();

window.caromExplorer = {
    ready,
    data,
    state,
    selectedRows: () =>
        Object.fromEntries(
            data.laws.map((law) => [law.name, law.selected ? Array.from(law.selected.keys()).filter((row) => law.selected[row]) : null]),
        ),
};
