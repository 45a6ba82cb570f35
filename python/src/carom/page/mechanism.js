// SPDX-License-Identifier: Apache-2.0
// One outcome on the explorer's page: the contacts in space with its impulses and velocities, and its numbers. Part of the same script as
// explorer.js, whose data and small helpers it uses.
"use strict";

// The colours that the page's text names.
const IMPULSE = "#b2182b",
    VELOCITY = "#1a7a3c";
const TIP_SIDES = 12;

const sum = (a, b) => a.map((entry, i) => entry + b[i]);
const scaled = (vector, factor) => vector.map((entry) => entry * factor);

// The vector in space of numbers along a contact's normal and tangents.
function inSpace(contact, numbers) {
    const { normals, tangents } = data.place;
    let vector = scaled(normals[contact], numbers[0]);
    for (let k = 0; k < data.tangents; k++) vector = sum(vector, scaled(tangents[contact * data.tangents + k], numbers[1 + k]));
    return vector;
}

// The numbers of one outcome at a contact: of velocities (0) or impulses (1). Columns: all velocities contact by contact, then impulses.
const atContact = (law, row, contact, which) =>
    Array.from({ length: 1 + data.tangents }, (_, k) => law.columns[which * space + contact * (1 + data.tangents) + k][row]);

const placed = () => data.contacts.map((_, i) => i).filter((i) => data.place.points[i]);

// How far apart the contacts are: the length of the longest arrow is a part of it.
function extentOfContacts() {
    const points = placed().map((i) => data.place.points[i]);
    const sides = [0, 1, 2].map((k) => Math.max(...points.map((p) => p[k])) - Math.min(...points.map((p) => p[k])));
    return Math.max(...sides) || 1;
}

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

// Arrows as lines with cones at their tips, whose length is `tip`, and less for short arrows.
function arrows(starts, vectors, colour, name, tip) {
    const axes = ["x", "y", "z"],
        lines = { x: [], y: [], z: [] },
        cones = { x: [], y: [], z: [], i: [], j: [], k: [] };
    vectors.forEach((vector, index) => {
        const length = Math.hypot(...vector);
        if (!(length > 0)) return;
        const end = sum(starts[index], vector),
            along = scaled(vector, 1 / length),
            height = Math.min(tip, 0.5 * length);
        axes.forEach((axis, k) => lines[axis].push(starts[index][k], end[k], null));
        // The tip, then the circle at the cone's foot, in the plane of two vectors that are normal to the arrow.
        const aside = cross(along, Math.abs(along[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]);
        const across = scaled(aside, 1 / Math.hypot(...aside)),
            third = cross(along, across),
            first = cones.x.length;
        const foot = sum(end, scaled(along, -height));
        const circle = Array.from({ length: TIP_SIDES }, (_, side) => {
            const angle = (2 * Math.PI * side) / TIP_SIDES,
                radius = 0.3 * height;
            return sum(foot, sum(scaled(across, radius * Math.cos(angle)), scaled(third, radius * Math.sin(angle))));
        });
        for (const corner of [end, ...circle]) axes.forEach((axis, k) => cones[axis].push(corner[k]));
        for (let side = 0; side < TIP_SIDES; side++) {
            cones.i.push(first);
            cones.j.push(first + 1 + side);
            cones.k.push(first + 1 + ((side + 1) % TIP_SIDES));
        }
    });
    return [
        { type: "scatter3d", mode: "lines", ...lines, line: { color: colour, width: 6 }, name, showlegend: false, hoverinfo: "skip" },
        { type: "mesh3d", ...cones, color: colour, flatshading: true, hoverinfo: "skip", visible: cones.x.length > 0 },
    ];
}

// The contacts with their normals, names and bodies: what no outcome changes.
function stillTraces(extent) {
    const contacts = placed(),
        points = contacts.map((i) => data.place.points[i]);
    const traces = [
        {
            type: "scatter3d",
            mode: "markers+text",
            x: points.map((p) => p[0]),
            y: points.map((p) => p[1]),
            z: points.map((p) => p[2]),
            text: contacts.map((i) => escaped(data.contacts[i])),
            textposition: "bottom center",
            marker: { size: 4, color: "#202020" },
            showlegend: false,
            hovertext: contacts.map((i) => escaped(data.place.bodies[i].map((body) => body ?? "?").join(" – "))),
            hoverinfo: "text",
        },
    ];
    const normals = contacts.map((i) => scaled(data.place.normals[i], 0.18 * extent));
    traces.push(...arrows(points, normals, "#b8b8b8", "normals", 0.05 * extent));
    // Each body stands above the middle of its contacts, on the side to which their normals point; the first body of a contact below.
    const bodies = new Map();
    contacts.forEach((i) =>
        data.place.bodies[i].forEach((body, side) => {
            if (!body) return;
            if (!bodies.has(body)) bodies.set(body, []);
            bodies.get(body).push({ point: data.place.points[i], away: scaled(data.place.normals[i], (side ? 0.55 : -0.3) * extent) });
        }),
    );
    const web = { x: [], y: [], z: [] },
        names = { x: [], y: [], z: [], text: [] };
    for (const [body, places] of bodies) {
        const middle = scaled(
            places.reduce((total, { point, away }) => sum(total, sum(point, away)), [0, 0, 0]),
            1 / places.length,
        );
        for (const { point } of places) ["x", "y", "z"].forEach((axis, k) => web[axis].push(middle[k], point[k], null));
        ["x", "y", "z"].forEach((axis, k) => names[axis].push(middle[k]));
        names.text.push(escaped(body));
    }
    traces.push({ type: "scatter3d", mode: "lines", ...web, line: { color: "#c8d4e0", width: 3 }, hoverinfo: "skip", showlegend: false });
    traces.push({
        type: "scatter3d",
        mode: "text",
        ...names,
        textfont: { color: "#3a5a7a", size: 13 },
        hoverinfo: "skip",
        showlegend: false,
    });
    return traces;
}

// The longest impulse and velocity of any outcome, so that arrows of different outcomes compare.
function longestArrows() {
    return [0, 1].map((which) => {
        let longest = 0;
        for (const law of data.laws)
            for (const contact of placed())
                for (let row = 0; row < law.rows; row++)
                    longest = Math.max(longest, Math.hypot(...atContact(law, row, contact, which)) || 0);
        return longest || 1;
    });
}

let mechanism = null; // what stays the same from outcome to outcome

function drawMechanism() {
    if (!data.place || !placed().length) {
        element("mechanism").replaceChildren(
            make("p", { className: "hint" }, "This impact does not say where its contacts are: it is of matrices, not of a model."),
        );
        return null;
    }
    const extent = extentOfContacts();
    mechanism ??= { still: stillTraces(extent), longest: longestArrows() };
    const traces = [...mechanism.still],
        { pointer } = state;
    if (pointer) {
        const contacts = placed(),
            points = contacts.map((i) => data.place.points[i]);
        [VELOCITY, IMPULSE].forEach((colour, which) => {
            const vectors = contacts.map((i) =>
                scaled(inSpace(i, atContact(pointer.law, pointer.row, i, which)), (0.5 * extent) / mechanism.longest[which]),
            );
            traces.push(...arrows(points, vectors, colour, which ? "impulses" : "velocities", 0.09 * extent));
        });
    }
    const axis = (name) => ({
        title: { text: `${name} [m]` },
        nticks: 5,
        tickfont: { size: 10 },
        backgroundcolor: "#fff",
        gridcolor: "#e4e4e4",
        zerolinecolor: "#c0c0c0",
        showspikes: false,
    });
    return Plotly.react(
        "mechanism",
        traces,
        {
            margin: { l: 0, r: 0, t: 0, b: 0 },
            uirevision: "mechanism",
            showlegend: false,
            scene: {
                aspectmode: "data",
                xaxis: axis("x"),
                yaxis: axis("y"),
                zaxis: axis("z"),
                camera: { eye: data.tangents === 1 ? { x: 0.3, y: -2.3, z: 0.4 } : { x: 0.9, y: -1.9, z: 0.9 } },
            },
        },
        CONFIG,
    );
}

// A generalised velocity: v- plus the responses to the impulses, whose rounding is that of single precision.
function velocityAfter(law, row, j) {
    if (law.velocity) return shown(law.velocity[j][row]);
    let after = data.velocities.before[j],
        largest = Math.abs(after);
    for (let c = 0; c < space; c++) {
        const change = law.columns[space + c][row] * data.response[c][j];
        after += change;
        largest = Math.max(largest, Math.abs(change));
    }
    return shown(after, 1e-6 * largest);
}

function tableOf(head, rows) {
    const cells = (row, tag) => row.map((text, i) => make(i ? tag : "th", { title: i ? "" : text }, text));
    return make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...cells(head, "th"))),
        make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row, "td")))),
    );
}

function describeOutcome() {
    if (!state.pointer) return;
    const { law, row } = state.pointer,
        tangents = data.tangents === 1 ? ["t"] : ["t1", "t2"];
    const parts = [
        make("div", {}, `${law.name}, outcome ${thousands(row + 1)} of ${thousands(law.rows)}`),
        make("div", {}, `energy after / before: ${shown(law.columns[ENERGY][row])}`),
    ];
    [
        ["velocity [m/s]", 0],
        ["impulse [N s]", 1],
    ].forEach(([what, which]) =>
        parts.push(
            make(
                "div",
                { className: "scroll" },
                tableOf(
                    [what, "n", ...tangents, ...(which ? [] : ["mode"])],
                    data.contacts.map((name, i) => [
                        name,
                        ...atContact(law, row, i, which).map((number) => shown(number)),
                        ...(which ? [] : [data.modes[law.modes[i][row]]]),
                    ]),
                ),
            ),
        ),
    );
    if (data.velocities) {
        parts.push(
            make(
                "div",
                { className: "scroll" },
                tableOf(
                    ["generalised velocity", "before", "after", ""],
                    data.velocities.names.map((name, j) => [
                        name,
                        shown(data.velocities.before[j]),
                        velocityAfter(law, row, j),
                        data.velocities.units[j],
                    ]),
                ),
            ),
        );
    }
    element("outcome").replaceChildren(...parts);
}

// One outcome a frame: the pointer may pass over many.
let waiting = false;
function point(law, row) {
    state.pointer = { law, row };
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
        waiting = false;
        describeOutcome();
        drawMechanism();
    });
}
