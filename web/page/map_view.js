// A map seen from above: grid, scale bar, walls and obstacles, tracks, robots and points of a lidar. It can be moved
// and zoomed by buttons, keys, dragging, and the wheel with Ctrl.

import {count, known, withUnit} from "./format.js";
import {ticks} from "./plot.js";
import {button, el, redraw, svg, symbol} from "./ui.js";

const GAP_M = 1.5; // a longer step between two poses means that somebody moved the robot
const MIN_SPAN_M = 1;
const GRID_PX = 130; // between two lines, about
const BAR_PX = 110; // length of the scale bar, at most
const MOVE = 0.15; // of the shown width, by a key
const CLOSER = 1.4;
const PX_PER_M = [0.05, 5000];
const SETTLE_MS = 300; // after a move of the map

// ---- extent and scale ----

// Corners of a map of cells.
function cornersOf({cell_m: cell, origin: [x, y, yaw], width, rows}) {
    const [c, s] = [Math.cos(yaw) * cell, Math.sin(yaw) * cell];
    return [[0, 0], [width, 0], [0, rows.length], [width, rows.length]].map(([u, v]) =>
        [x + c * u - s * v, y + s * u + c * v]);
}

function pointsOf(map) {
    const bounds = map?.bounds_m ? [map.bounds_m.slice(0, 2), map.bounds_m.slice(2, 4)] : [];
    const obstacles = (map?.obstacles ?? []).flatMap(o => o.points_m.flatMap(([x, y]) =>
        [[x - o.radius_m, y - o.radius_m], [x + o.radius_m, y + o.radius_m]]));
    return [...bounds, ...obstacles, ...(map?.cells ? cornersOf(map.cells) : [])];
}

// All that is there, with a margin: [x0, x1, y0, y1].
function extentOf({map, layer, robots}) {
    const box = [Infinity, -Infinity, Infinity, -Infinity];
    const include = (x, y) => {
        [box[0], box[1]] = [Math.min(box[0], x), Math.max(box[1], x)];
        [box[2], box[3]] = [Math.min(box[2], y), Math.max(box[3], y)];
    };
    pointsOf(map).forEach(([x, y]) => include(x, y));
    if (layer?.part) {
        include(layer.part[0], layer.part[1]);
        include(layer.part[2], layer.part[3]);
    }
    robots.forEach(({track}) => track.forEach(([, x, y]) => include(x, y)));
    if (!known(box[0])) {
        return [-MIN_SPAN_M, MIN_SPAN_M, -MIN_SPAN_M, MIN_SPAN_M];
    }
    const pad = 0.06 * Math.max(box[1] - box[0], box[3] - box[2], MIN_SPAN_M);
    const grow = (low, high) => {
        const more = Math.max(0, MIN_SPAN_M - (high - low)) / 2 + pad;
        return [low - more, high + more];
    };
    return [...grow(box[0], box[1]), ...grow(box[2], box[3])];
}

// ---- pieces ----

function path(scale, points) {
    return points.map(([x, y]) => `${scale.x(x).toFixed(1)},${scale.y(y).toFixed(1)}`).join(" ");
}

function grid(scale, width, height) {
    const label = value => String(value).replace("-", "−");
    const [x0, x1, y0, y1] = [scale.left, scale.left + width / scale.k, scale.top - height / scale.k, scale.top];
    return [
        ticks(x0, x1, Math.max(2, width / GRID_PX)).map(x => svg("g", {class: "tick"},
            svg("line", {x1: scale.x(x), x2: scale.x(x), y1: 0, y2: height}),
            svg("text", {x: scale.x(x) + 4, y: height - 6}, label(x)))),
        ticks(y0, y1, Math.max(2, height / GRID_PX)).map(y => svg("g", {class: "tick"},
            svg("line", {y1: scale.y(y), y2: scale.y(y), x1: 0, x2: width}),
            scale.y(y) > 14 && svg("text", {x: 4, y: scale.y(y) - 4}, label(y)))),
    ];
}

// A bar of a round length, at the upper right.
function scaleBar(scale, width) {
    const raw = BAR_PX / scale.k;
    const power = 10 ** Math.floor(Math.log10(raw));
    const length = Number(([5, 2, 1].find(n => n * power <= raw) * power).toPrecision(3));
    const [from, to] = [width - 14 - length * scale.k, width - 14];
    const words = length >= 1000 ? withUnit(count(length / 1000), "km") : length >= 1 ? withUnit(count(length), "m")
        : length >= 0.01 ? withUnit(count(Math.round(length * 100)), "cm") : withUnit(String(length * 1000), "mm");
    return svg("g", {class: "scale-bar"}, svg("path", {d: `M ${from} 18 v 6 H ${to} v -6`}),
        svg("text", {x: (from + to) / 2, y: 15, "text-anchor": "middle"}, words));
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

const drawn = new WeakMap(); // outlines of cells, made once for each map

// The cells of one kind as rectangles, a unit a cell.
function outline(rows, kind) {
    return rows.map((row, y) => {
        let x = 0;
        return [...row.matchAll(/(\d+)([fou])/g)].map(([, count, letter]) => {
            const from = x;
            x += Number(count);
            return letter === kind ? `M${from} ${y}h${count}v1h-${count}z` : "";
        }).join("");
    }).join("");
}

function cells(scale, map) {
    if (!drawn.has(map)) {
        drawn.set(map, [["unknown", outline(map.rows, "u")], ["occupied", outline(map.rows, "o")]]);
    }
    const {cell_m: cell, origin: [x, y, yaw]} = map;
    const transform = `translate(${scale.x(x)} ${scale.y(y)}) rotate(${-yaw * 180 / Math.PI})`
        + ` scale(${scale.k * cell} ${-scale.k * cell})`;
    return svg("g", {transform}, drawn.get(map).map(([kind, d]) => svg("path", {class: `cells ${kind}`, d})));
}

function world(scale, map) {
    if (!map) {
        return null;
    }
    const [x0, y0, x1, y1] = map.bounds_m ?? [];
    return [known(x0) && svg("rect", {class: "walls", x: scale.x(x0), y: scale.y(y1), width: (x1 - x0) * scale.k,
        height: (y1 - y0) * scale.k}),
        map.cells && cells(scale, map.cells), map.obstacles.map(o => obstacle(scale, o))];
}

// A picture of the ground.
function ground(scale, layer) {
    return layer && svg("image", {class: "ground", href: layer.href, x: scale.x(layer.x),
        y: scale.y(layer.y + layer.height), width: layer.width * scale.k, height: layer.height * scale.k,
        preserveAspectRatio: "none"});
}

// A track in pieces: not across a jump.
function trackLines(scale, {track, side}) {
    const pieces = [];
    track.forEach(([, x, y], k) => {
        const before = track[k - 1];
        if (!before || Math.hypot(x - before[1], y - before[2]) > GAP_M) {
            pieces.push([]);
        }
        pieces.at(-1).push([x, y]);
    });
    return pieces.map(piece => svg("polyline", {class: `track ${side}`, points: path(scale, piece)}));
}

function robotMark(scale, {track, side, name, label, isPoint}) {
    const point = track.at(-1);
    if (!point) {
        return null;
    }
    const [, x, y, yaw] = point;
    const [px, py] = [scale.x(x).toFixed(1), scale.y(y).toFixed(1)];
    if (isPoint) {
        return svg("circle", {class: `robot ${side}`, cx: px, cy: py, r: 6}, svg("title", {}, name));
    }
    return [svg("path", {class: `robot ${side}`, d: "M 15 0 L -10 9 L -5 0 L -10 -9 Z",
        transform: `translate(${px} ${py}) rotate(${(-yaw * 180 / Math.PI).toFixed(1)})`}, svg("title", {}, name)),
    label && svg("text", {class: "robot-label", x: Number(px) + 14, y: Number(py) - 10}, label)];
}

function sweepPoints(scale, {points, side}) {
    return points.map(([x, y]) => svg("circle", {class: `sweep ${side}`, cx: scale.x(x).toFixed(1),
        cy: scale.y(y).toFixed(1), r: 2.5}));
}

// ---- the view ----

function tool(sign, label, run) {
    return button(symbol(sign), run, {class: "quiet", "aria-label": label, title: label});
}

// scene: {map, label, robots: [{side, name, label, track: [[t, x, y, yaw]], isPoint: without a heading}],
//         layer: {href, x, y, width, height, part: [x0, y0, x1, y1] to be seen},
//         sweeps: [{side, points: [[x, y]]}]}
export class MapView {
    // heightOf(width) in pixels
    constructor(root, signal, heightOf = width => Math.min(0.7 * innerHeight, 0.75 * width)) {
        // view: {k: pixels of a metre, x, y: place in the middle}; null: all of it
        Object.assign(this, {heightOf, view: null, scene: null, onMoved: () => {}});
        this.drawing = svg("svg", {role: "img"});
        this.figure = el("figure", {class: "map", tabindex: "0",
            "aria-label": "Map: arrow keys move it, + and − zoom, 0 shows all of it"}, this.drawing,
        el("div", {class: "map-tools", role: "group", "aria-label": "Move in the map"},
            tool("+", "Closer", () => this.zoom(CLOSER)), tool("−", "Further away", () => this.zoom(1 / CLOSER)),
            tool("⤢", "Fit all of it", () => this.fit())));
        root.append(this.figure);
        this.listen();
        const resized = new ResizeObserver(() => this.redraw());
        resized.observe(this.figure);
        signal.addEventListener("abort", () => {
            resized.disconnect();
            clearTimeout(this.timer);
        });
    }

    // The shown part as a text for the address; empty: all of it.
    get place() {
        const {k, x, y} = this.view ?? {};
        return k ? `${x.toFixed(3)},${y.toFixed(3)},${Number(k.toPrecision(4))}` : "";
    }

    set place(text) {
        const [x, y, k] = text.split(",").map(Number);
        this.view = known(x) && known(y) && k >= PX_PER_M[0] && k <= PX_PER_M[1] ? {k, x, y} : null;
    }

    move(view) {
        this.view = view;
        this.redraw();
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.onMoved(), SETTLE_MS);
    }

    listen() {
        let from = null;
        const {drawing, figure} = this;
        drawing.addEventListener("pointerdown", event => {
            from = [event.clientX, event.clientY];
            drawing.setPointerCapture(event.pointerId);
        });
        drawing.addEventListener("pointermove", event => {
            if (from) {
                this.shift(event.clientX - from[0], event.clientY - from[1]);
                from = [event.clientX, event.clientY];
            }
        });
        for (const type of ["pointerup", "pointercancel"]) {
            drawing.addEventListener(type, () => {
                from = null;
            });
        }
        drawing.addEventListener("wheel", event => {
            if (event.ctrlKey) { // else the page scrolls
                event.preventDefault();
                const {left, top} = drawing.getBoundingClientRect();
                this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - left, event.clientY - top);
            }
        }, {passive: false});
        figure.addEventListener("keydown", event => {
            const px = MOVE * this.width;
            const run = {ArrowLeft: () => this.shift(px, 0), ArrowRight: () => this.shift(-px, 0),
                ArrowUp: () => this.shift(0, px), ArrowDown: () => this.shift(0, -px), "+": () => this.zoom(CLOSER),
                "-": () => this.zoom(1 / CLOSER), 0: () => this.fit()}[event.key];
            if (run && event.target === figure && !event.ctrlKey && !event.metaKey) {
                event.preventDefault();
                run();
            }
        });
    }

    fit() {
        this.move(null);
    }

    // Moves the drawing by pixels.
    shift(dx, dy) {
        const {k, x, y} = this.part();
        this.move({k, x: x - dx / k, y: y + dy / k});
    }

    // Around a place of the drawing, by default its middle.
    zoom(factor, px = this.width / 2, py = this.height / 2) {
        const {k, x, y} = this.part();
        const next = Math.min(PX_PER_M[1], Math.max(PX_PER_M[0], k * factor));
        const by = 1 / k - 1 / next;
        this.move({k: next, x: x + (px - this.width / 2) * by, y: y - (py - this.height / 2) * by});
    }

    // The shown part, as view has it.
    part() {
        const [x0, x1, y0, y1] = extentOf(this.scene);
        return this.view ?? {k: Math.min(this.width / (x1 - x0), this.height / (y1 - y0)), x: (x0 + x1) / 2,
            y: (y0 + y1) / 2};
    }

    scale() {
        const {k, x: middleX, y: middleY} = this.part();
        const [left, top] = [middleX - this.width / 2 / k, middleY + this.height / 2 / k];
        return {k, left, top, x: x => (x - left) * k, y: y => (top - y) * k};
    }

    draw(scene) {
        this.scene = scene;
        this.redraw();
    }

    redraw() {
        const width = Math.floor(this.figure.clientWidth);
        if (!this.scene || width === 0) {
            return;
        }
        Object.assign(this, {width, height: Math.floor(this.heightOf(width))});
        const {scene, drawing, height} = this;
        const scale = this.scale();
        const frame = {viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": scene.label};
        for (const [name, value] of Object.entries(frame)) {
            drawing.setAttribute(name, value);
        }
        redraw(drawing, ground(scale, scene.layer), grid(scale, width, height), world(scale, scene.map),
            scene.robots.map(robot => trackLines(scale, robot)), scene.sweeps.map(sweep => sweepPoints(scale, sweep)),
            scene.robots.map(robot => robotMark(scale, robot)), scaleBar(scale, width));
    }
}
