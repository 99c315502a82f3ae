// An arm and its twin as lines, from the side, from above, and from a direction that the user turns; tools' trails,
// joints within limits.

import {get} from "./api.js";
import {fixed, known, time, withUnit} from "./format.js";
import {legend} from "./chart.js";
import {ticks} from "./plot.js";
import {el, empty, facts, failure, redraw, section, show, svg, table, waiting} from "./ui.js";
import {watch} from "./watch.js";

const EVERY_MS = 250;
const SIDES = ["real", "virtual"];
const SIZE = 400; // of a drawing, in its own units
const STEP_DEG = 10; // an arrow key's

// A view: which way its right and its up point in the base's frame, by azimuth and elevation in radians.
const SIDE = {azimuth: 0, elevation: 0};
const TOP = {azimuth: 0, elevation: Math.PI / 2};

// ---- from metres to the drawing ----

function projection({azimuth, elevation}, reach) {
    const [ca, sa] = [Math.cos(azimuth), Math.sin(azimuth)];
    const [ce, se] = [Math.cos(elevation), Math.sin(elevation)];
    const low = -reach * (0.25 + 0.85 * se); // its whole reach, above the floor in the view from the side
    const k = SIZE / (2.2 * reach);
    return {
        k, low,
        at: ([x, y, z]) => {
            const depth = -sa * x + ca * y;
            return [(ca * x + sa * y + 1.1 * reach) * k, SIZE - (z * ce + depth * se - low) * k];
        },
    };
}

const points = (to, list) => list.map(p => to.at(p).map(v => v.toFixed(1)).join(",")).join(" ");

// ---- pieces ----

function grid(to, reach, [across, up]) {
    const values = ticks(-reach, reach, 5);
    const edge = (value, low) => (low ? value - 1.1 * reach : value);
    return [
        values.map(v => {
            const [x] = to.at(across(v));
            return svg("g", {class: "tick"}, svg("line", {x1: x, x2: x, y1: 0, y2: SIZE}),
                svg("text", {x: x + 3, y: SIZE - 5}, String(v).replace("-", "−")));
        }),
        ticks(to.low, edge(to.low, false) + SIZE / to.k, 5).map(v => {
            const [, y] = to.at(up(v));
            return svg("g", {class: "tick"}, svg("line", {x1: 0, x2: SIZE, y1: y, y2: y}),
                svg("text", {x: 3, y: y - 3}, String(v).replace("-", "−")));
        }),
    ];
}

// The floor's axes, where a view is turned freely.
function axes(to, reach) {
    return [["x", [reach, 0, 0]], ["y", [0, reach, 0]], ["z", [0, 0, reach / 2]]].map(([name, end]) => {
        const [[x1, y1], [x2, y2]] = [to.at([0, 0, 0]), to.at(end)];
        return svg("g", {class: "tick"}, svg("line", {x1, y1, x2, y2}), svg("text", {x: x2 + 3, y: y2 - 3}, name));
    });
}

function armLines(to, side, name) {
    const tool = to.at(side.links_m.at(-1));
    return svg("g", {class: `arm ${name}`}, svg("title", {}, `${name} arm`),
        svg("polyline", {class: "links", points: points(to, side.links_m)}),
        side.links_m.slice(0, -1).map(p => {
            const [cx, cy] = to.at(p);
            return svg("circle", {cx, cy, r: 4});
        }),
        svg("path", {class: "tool", d: "M -6 0 L 6 0 M 0 -6 L 0 6",
            transform: `translate(${tool[0].toFixed(1)} ${tool[1].toFixed(1)})`}));
}

function drawing(data, trails, view, label, ground) {
    const to = projection(view, data.reach_m);
    return svg("svg", {viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": label}, ground(to),
        SIDES.map(side => svg("polyline", {class: `trail ${side}`,
            points: points(to, trails[side].map(([, ...p]) => p))})),
        SIDES.map(side => data[side] && armLines(to, data[side], side)));
}

// ---- words ----

const degrees = rad => `${fixed(rad * 180 / Math.PI, 1)}°`;

// The position of a joint between its limits.
function jointBar({limit_rad: limit}, angles) {
    const x = rad => 50 + 49 * Math.min(1, Math.max(-1, rad / limit));
    return svg("svg", {class: "joint-bar", viewBox: "0 0 100 12", "aria-hidden": "true"},
        svg("line", {x1: 1, x2: 99, y1: 6, y2: 6}), svg("line", {x1: 50, x2: 50, y1: 3, y2: 9}),
        angles.map((rad, k) => known(rad) && svg("line", {class: SIDES[k], x1: x(rad), x2: x(rad), y1: 0, y2: 12})));
}

function jointTable(data) {
    const rows = data.joints.map((joint, i) => ({joint, angles: SIDES.map(side => data[side]?.q_rad[i])}));
    const angle = rad => (known(rad) ? degrees(rad) : "–");
    return table("Joints", [
        {label: "Joint", cell: row => row.joint.name},
        {label: "Real", numeric: true, cell: row => angle(row.angles[0])},
        {label: "Virtual", numeric: true, cell: row => angle(row.angles[1])},
        {label: "Apart", numeric: true,
            cell: ({angles: [real, virtual]}) => angle(known(real) && known(virtual) ? virtual - real : null)},
        {label: "Within its limits", cell: row => jointBar(row.joint, row.angles)},
        {label: "Limits", numeric: true, cell: row => `±${fixed(row.joint.limit_rad * 180 / Math.PI, 0)}°`},
    ], rows);
}

function words(data) {
    const place = side => (side ? [withUnit(side.tool.slice(0, 3).map(v => fixed(v, 3)).join(", "), "m"),
        el("small", {class: "nowrap"}, ` at ${time(side.t)}`)] : "not received yet");
    return facts([["Real tool, x, y, z", place(data.real)], ["Virtual tool", place(data.virtual)],
        ["Tools apart", known(data.tool_gap_mm) ? withUnit(fixed(data.tool_gap_mm, 1), "mm") : "not known"]]);
}

// ---- the tab ----

// Dragging and the arrow keys turn it: both write the same angles.
function turner(view, redrawn) {
    const turn = (right, up) => {
        view.azimuth += right * Math.PI / 180;
        view.elevation = Math.min(Math.PI / 2, Math.max(-Math.PI / 6, view.elevation + up * Math.PI / 180));
        redrawn();
    };
    let held = null;
    return {
        tabindex: "0", role: "group", "aria-label": "Turned freely: drag it, or use the arrow keys",
        onkeydown: event => {
            const [right, up] = {ArrowLeft: [-STEP_DEG, 0], ArrowRight: [STEP_DEG, 0], ArrowUp: [0, STEP_DEG],
                ArrowDown: [0, -STEP_DEG]}[event.key] ?? [0, 0];
            if (right || up) {
                turn(right, up);
                event.preventDefault();
            }
        },
        onpointerdown: event => {
            held = [event.clientX, event.clientY];
            event.currentTarget.setPointerCapture(event.pointerId);
        },
        onpointermove: event => {
            if (held) {
                turn(event.clientX - held[0], event.clientY - held[1]);
                held = [event.clientX, event.clientY];
            }
        },
        onpointerup: () => {
            held = null;
        },
    };
}

export function mount(root, {pair, path, signal}) {
    const free = {azimuth: -0.6, elevation: 0.45};
    const [side, top, turned, below] = [el("div"), el("div"), el("div"), el("div")];
    let latest;
    const drawFree = () => latest && redraw(turned, drawing(...latest, free, "Turned freely",
        to => axes(to, latest[0].reach_m)));
    const frame = el("figure", turner(free, drawFree),
        el("figcaption", {}, "Turned freely: drag, or arrow keys"), turned);
    const drawAll = () => {
        const [data] = latest;
        redraw(side, drawing(...latest, SIDE, "From the side", to => grid(to, data.reach_m,
            [v => [v, 0, 0], v => [0, 0, v]])));
        redraw(top, drawing(...latest, TOP, "From above", to => grid(to, data.reach_m,
            [v => [v, 0, 0], v => [0, v, 0]])));
        drawFree();
        redraw(below, words(data), jointTable(data));
    };
    const fetcher = abort => Promise.all([get(`${path}/arm`, abort), get(`${path}/trajectory`, abort)]);
    let drawn = false;
    show(root, waiting());
    watch(signal, fetcher, {pair, everyMs: EVERY_MS}, ([data, trails]) => {
        if (!data.arm || !(data.real || data.virtual)) {
            drawn = false;
            show(root, data.arm ? empty("No joints yet",
                "The arms are drawn from telemetry with six joint angles:",
                `mosquitto_pub -t tandem/v1/${pair}/real/telemetry -m '{"pose":[0,-1.57,0,-1.57,0,0]}'`)
                : empty("No arm", "The pair is drawn as an arm when its row in the lab file names one:", "arm: ur5"));
            return;
        }
        latest = [data, trails];
        drawAll();
        if (!drawn) {
            drawn = true;
            show(root, section("Real and virtual arm over each other, in metres", legend([
                ["✛", "real", "real arm and its tool's trail, solid"],
                ["✛", "virtual", "virtual arm and trail, dashed"]]),
            el("div", {class: "arms"},
                el("figure", {}, el("figcaption", {}, "From the side: x to the right, z up"), side),
                el("figure", {}, el("figcaption", {}, "From above: x to the right, y up"), top), frame),
            below));
        }
    }, error => {
        drawn = false;
        show(root, failure(error));
    });
}
