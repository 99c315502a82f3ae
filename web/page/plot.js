// Small plots of one quantity against another, as SVG; colours come from the style sheet.

import {el, svg} from "./ui.js";

const WIDTH = 380;
const HEIGHT = 260;
const MARGIN = {left: 58, right: 12, top: 10, bottom: 38};

// Round numbers from low to high, about n of them.
export function ticks(low, high, n = 5) {
    const raw = (high - low) / n;
    if (!(raw > 0)) {
        return [low];
    }
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(k => k * power).find(s => s >= raw * 0.999);
    const first = Math.ceil(low / step - 1e-9);
    const list = [];
    for (let k = first; k * step <= high + step * 1e-9; k++) {
        list.push(Number((k * step).toPrecision(12)));
    }
    return list;
}

function axes(scale, x, y) {
    const bottom = HEIGHT - MARGIN.bottom;
    const right = WIDTH - MARGIN.right;
    return [
        ticks(x.min, x.max).map(value => svg("g", {class: "tick"},
            svg("line", {x1: scale.x(value), x2: scale.x(value), y1: MARGIN.top, y2: bottom}),
            svg("text", {x: scale.x(value), y: bottom + 15, "text-anchor": "middle"}, String(value)
                .replace("-", "−")))),
        ticks(y.min, y.max).map(value => svg("g", {class: "tick"},
            svg("line", {x1: MARGIN.left, x2: right, y1: scale.y(value), y2: scale.y(value)}),
            svg("text", {x: MARGIN.left - 6, y: scale.y(value) + 4, "text-anchor": "end"}, String(value)
                .replace("-", "−")))),
        svg("text", {class: "axis", x: (MARGIN.left + right) / 2, y: HEIGHT - 5, "text-anchor": "middle"}, x.label),
        svg("text", {class: "axis", x: 0, y: 0, "text-anchor": "middle",
            transform: `translate(12 ${(MARGIN.top + bottom) / 2}) rotate(-90)`}, y.label),
    ];
}

let clips = 0;

// title: a heading; label: a description of the plot; x, y: {min, max, label}; draw(scale) gives what
// is inside, scale.x and scale.y from values to places.
export function plot(title, label, x, y, draw) {
    const scale = {
        x: value => MARGIN.left + (value - x.min) / (x.max - x.min) * (WIDTH - MARGIN.left - MARGIN.right),
        y: value => HEIGHT - MARGIN.bottom - (value - y.min) / (y.max - y.min) * (HEIGHT - MARGIN.top - MARGIN.bottom),
    };
    const clip = `plot-${clips++}`;
    return el("figure", {class: "plot"}, el("figcaption", {}, title),
        svg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label},
            svg("clipPath", {id: clip}, svg("rect", {x: MARGIN.left, y: MARGIN.top,
                width: WIDTH - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom})),
            axes(scale, x, y), svg("g", {"clip-path": `url(#${clip})`}, draw(scale))));
}

// points: [[x, y]] in values
export function line(scale, points, className) {
    return svg("polyline", {class: className, points: points.map(([x, y]) => `${scale.x(x)},${scale.y(y)}`).join(" ")});
}

// [[x, low, high]]
export function band(scale, rows, className) {
    const there = rows.map(([x, low]) => `${scale.x(x)},${scale.y(low)}`);
    const back = [...rows].reverse().map(([x, , high]) => `${scale.x(x)},${scale.y(high)}`);
    return svg("polygon", {class: className, points: [...there, ...back].join(" ")});
}

export function dot(scale, x, y, className, title) {
    return svg("circle", {class: className, cx: scale.x(x), cy: scale.y(y), r: 3}, title && svg("title", {}, title));
}

export function square(scale, x, y, className, title) {
    return svg("rect", {class: className, x: scale.x(x) - 4, y: scale.y(y) - 4, width: 8, height: 8},
        title && svg("title", {}, title));
}

export function text(scale, x, y, className, words) {
    return svg("text", {class: className, x: scale.x(x) + 4, y: scale.y(y) - 4}, words);
}
