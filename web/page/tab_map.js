// Poses and trails of both robots, seen from above, with the map that the lab file names.

import {fixed, known, plural, time, withUnit} from "./format.js";
import {ticks} from "./plot.js";
import {legend} from "./chart.js";
import {el, empty, facts, failure, muted, section, show, svg, waiting} from "./ui.js";
import {watch} from "./watch.js";

const EVERY_MS = 1000;
const SIDES = ["real", "virtual"];
const TRACKS = ["reported", ...SIDES];
const GAP_M = 1.5; // a longer step between two poses means that somebody moved the robot
const WIDTH_MAX = 1000; // of the drawing, in its own units: pixels where there is room
const WIDTH_MIN = 280;
const MIN_SPAN_M = 1;
const SAME = 0.005; // metres and radians: frames that differ by less are the same

// ---- poses as following compares them ----

// The real robot's poses in the virtual one's frame, as they are compared; the reported ones stay in `reported`.
function seen(data) {
    const frame = data.aligned;
    if (!frame || Math.hypot(frame.x_m, frame.y_m) + Math.abs(frame.yaw_rad) < SAME) {
        return {...data, reported: []};
    }
    const [c, s] = [Math.cos(frame.yaw_rad), Math.sin(frame.yaw_rad)];
    const stood = data.real.findLastIndex(([t]) => t < frame.since_t); // and still does at the next point
    const real = data.real.slice(Math.max(stood, 0)).map(([t, x, y, yaw]) =>
        [t, c * x - s * y + frame.x_m, s * x + c * y + frame.y_m, yaw + frame.yaw_rad]);
    return {...data, real, reported: data.real};
}

// ---- extent and scale ----

function pointsOf(map) {
    const bounds = map?.bounds_m ? [map.bounds_m.slice(0, 2), map.bounds_m.slice(2, 4)] : [];
    const obstacles = (map?.obstacles ?? []).flatMap(o => o.points_m.flatMap(([x, y]) =>
        [[x - o.radius_m, y - o.radius_m], [x + o.radius_m, y + o.radius_m]]));
    return [...bounds, ...obstacles];
}

function extentOf(data) {
    const points = [...pointsOf(data.map), ...TRACKS.flatMap(track => data[track].map(([, x, y]) => [x, y]))];
    const [xs, ys] = [points.map(p => p[0]), points.map(p => p[1])];
    const box = {x0: Math.min(...xs), x1: Math.max(...xs), y0: Math.min(...ys), y1: Math.max(...ys)};
    const pad = 0.06 * Math.max(box.x1 - box.x0, box.y1 - box.y0, MIN_SPAN_M);
    const grow = (low, high) => {
        const more = Math.max(0, MIN_SPAN_M - (high - low)) / 2 + pad;
        return [low - more, high + more];
    };
    const [x0, x1] = grow(box.x0, box.x1);
    // Never so flat or so high that nothing can be seen.
    let [y0, y1] = grow(box.y0, box.y1);
    const thin = (x1 - x0) * 0.35 - (y1 - y0);
    if (thin > 0) {
        [y0, y1] = [y0 - thin / 2, y1 + thin / 2];
    }
    return {x0, x1, y0, y1};
}

function scaleOf(extent, width) {
    const k = Math.min(width / (extent.x1 - extent.x0), 1.1 * width / (extent.y1 - extent.y0));
    return {
        k, width: k * (extent.x1 - extent.x0), height: k * (extent.y1 - extent.y0),
        x: x => (x - extent.x0) * k, y: y => (extent.y1 - y) * k,
    };
}

// ---- pieces ----

function path(scale, points) {
    return points.map(([x, y]) => `${scale.x(x).toFixed(1)},${scale.y(y).toFixed(1)}`).join(" ");
}

function grid(scale, extent) {
    const label = value => String(value).replace("-", "−");
    return [
        ticks(extent.x0, extent.x1, 7).map(x => svg("g", {class: "tick"},
            svg("line", {x1: scale.x(x), x2: scale.x(x), y1: 0, y2: scale.height}),
            svg("text", {x: scale.x(x) + 4, y: scale.height - 6}, label(x)))),
        ticks(extent.y0, extent.y1, 6).map(y => svg("g", {class: "tick"},
            svg("line", {y1: scale.y(y), y2: scale.y(y), x1: 0, x2: scale.width}),
            svg("text", {x: 4, y: scale.y(y) - 4}, label(y)))),
    ];
}

function obstacle(scale, o) {
    const kind = `obstacle ${o.shape}${o.mapped ? "" : " unmapped"}`;
    const title = svg("title", {}, o.mapped ? o.name : `${o.name}: not on the robot's map`);
    if (o.shape === "circle") {
        const [[x, y]] = o.points_m;
        return svg("circle", {class: kind, cx: scale.x(x), cy: scale.y(y), r: o.radius_m * scale.k}, title);
    }
    return svg(o.shape === "polygon" ? "polygon" : "polyline", {class: kind, points: path(scale, o.points_m)}, title);
}

function world(scale, map) {
    if (!map) {
        return null;
    }
    const [x0, y0, x1, y1] = map.bounds_m ?? [];
    return [known(x0) && svg("rect", {class: "walls", x: scale.x(x0), y: scale.y(y1), width: (x1 - x0) * scale.k,
        height: (y1 - y0) * scale.k}),
        map.obstacles.map(o => obstacle(scale, o))];
}

// A track in pieces: not across a jump.
function track(scale, points, side) {
    const pieces = [];
    points.forEach(([, x, y], k) => {
        const before = points[k - 1];
        if (!before || Math.hypot(x - before[1], y - before[2]) > GAP_M) {
            pieces.push([]);
        }
        pieces.at(-1).push([x, y]);
    });
    return pieces.map(piece => svg("polyline", {class: `track ${side}`, points: path(scale, piece)}));
}

function robot(scale, point, side) {
    const [, x, y, yaw] = point;
    const turn = -yaw * 180 / Math.PI;
    return svg("path", {class: `robot ${side}`, d: "M 15 0 L -10 9 L -5 0 L -10 -9 Z",
        transform: `translate(${scale.x(x).toFixed(1)} ${scale.y(y).toFixed(1)}) rotate(${turn.toFixed(1)})`},
    svg("title", {}, side === "reported" ? "real robot at its reported pose" : `${side} robot`));
}

// ---- words ----

function degrees(rad) {
    const turned = Math.atan2(Math.sin(rad), Math.cos(rad));
    return `${fixed(turned * 180 / Math.PI, 0)}°`;
}

function place(point) {
    return point ? [`${withUnit(`${fixed(point[1], 2)}, ${fixed(point[2], 2)}`, "m")}, ${degrees(point[3])}`,
        el("small", {class: "nowrap"}, ` at ${time(point[0])}`)] : "no pose received";
}

function apart(real, virtual) {
    return real && virtual ? [withUnit(fixed(Math.hypot(real[1] - virtual[1], real[2] - virtual[2]), 2), "m"),
        `, ${degrees(virtual[3] - real[3])}`] : ["not known"];
}

function words(reported, real, virtual) {
    return facts([["Real robot, x, y, heading", place(reported ?? real)],
        reported && ["The same, aligned", real ? place(real) : "no pose since"],
        ["Virtual robot", place(virtual)],
        real && virtual && [reported ? "Apart, aligned" : "Apart", ...apart(real, virtual)],
        reported && virtual && ["Apart, as reported", ...apart(reported, virtual)]]);
}

// ---- the tab ----

function draw(root, data) {
    const extent = extentOf(data);
    const scale = scaleOf(extent, Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, root.clientWidth - 50)));
    const [reported, real, virtual] = TRACKS.map(track => data[track].at(-1));
    const label = `Seen from above: ${plural(data.real.length, "pose")} of the real robot, ` +
        `${plural(data.virtual.length, "pose")} of the virtual one${data.map ? ", and the map of their world" : ""}`;
    const aligned = ["real robot, solid, aligned: turned and moved to where the virtual one stood",
        "real robot, faint, at its reported pose"];
    show(root, section("From above, in metres", legend([
        ["➤", "real", reported ? aligned[0] : "real robot, solid"],
        ...(reported ? [["➤", "reported", aligned[1]]] : []),
        ["➤", "virtual", "virtual robot, dashed"],
        ...(data.map ? [["■", "obstacle", "obstacles and walls; dashed: on no map of the robot's"]] : [])]),
    el("figure", {class: "map"}, svg("svg", {viewBox: `0 0 ${scale.width.toFixed(0)} ${scale.height.toFixed(0)}`,
        role: "img", "aria-label": label},
        grid(scale, extent), world(scale, data.map), TRACKS.map(side => track(scale, data[side], side)),
        TRACKS.map(side => data[side].length > 0 && robot(scale, data[side].at(-1), side)))),
    words(reported, real, virtual), !data.map && muted("Walls and obstacles are drawn when the pair's ",
        el("code", {}, "map:"), " in the lab file names a map.")));
}

export function mount(root, {pair, path, signal}) {
    let redraw = () => {};
    show(root, waiting());
    addEventListener("resize", () => redraw(), {signal});
    watch(signal, `${path}/trajectory`, {pair, everyMs: EVERY_MS}, data => {
        if (data.real.length + data.virtual.length === 0) {
            show(root, empty("No pose yet",
                "The tracks come from the robots' telemetry, as soon as it has a pose [x, y, yaw]:",
                `mosquitto_pub -t tandem/v1/${pair}/real/telemetry -m '{"pose":[0,0,0],"nu":[0.1,0,0]}'`));
            return;
        }
        redraw = () => draw(root, seen(data));
        redraw();
    }, error => show(root, failure(error)));
}
