// Charts as SVG and PNG, tables as CSV.

import {graphOf} from "./chart.js";
import {saveAs} from "./download.js";
import {svg} from "./ui.js";

const BARS_LEFT = 240; // place of interval bars, after their names
const BARS_GAP = 10;
const SCALE = 2; // pixels of a PNG for one of the page
const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "fill-opacity",
    "stroke-opacity", "paint-order", "font-size", "font-weight", "font-family", "text-anchor"];

// A drawing context that makes SVG of what dygraphs draws.
class Recorder {
    constructor(root) {
        Object.assign(this, {root, path: "", clipped: null, dash: [], stack: [], fillStyle: "#000", strokeStyle: "#000",
            lineWidth: 1, globalAlpha: 1, font: "12px sans-serif", textAlign: "left", textBaseline: "alphabetic"});
    }

    save() {
        const {clipped, dash, fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline} = this;
        this.stack.push({clipped, dash, fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline});
    }

    restore() {
        Object.assign(this, this.stack.pop());
    }

    add(tag, attributes, ...children) {
        this.root.append(svg(tag, {"clip-path": this.clipped, opacity: this.globalAlpha < 1 ? this.globalAlpha : null,
            ...attributes}, children));
    }

    lined() {
        return {fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth,
            "stroke-dasharray": this.dash.length > 0 ? this.dash.join(" ") : null};
    }

    beginPath() {
        this.path = "";
    }

    moveTo(x, y) {
        this.path += `M${x} ${y}`;
    }

    lineTo(x, y) {
        this.path += `${this.path ? "L" : "M"}${x} ${y}`;
    }

    closePath() {
        this.path += "Z";
    }

    rect(x, y, w, h) {
        this.path += `M${x} ${y}h${w}v${h}h${-w}Z`;
    }

    // Whole circles are all that charts draw.
    arc(x, y, r) {
        this.path += `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    }

    clip() {
        const id = `clip-${this.root.childNodes.length}`;
        this.root.append(svg("clipPath", {id}, svg("path", {d: this.path})));
        this.clipped = `url(#${id})`;
    }

    fill() {
        this.add("path", {d: this.path, fill: this.fillStyle});
    }

    stroke() {
        this.add("path", {d: this.path, ...this.lined()});
    }

    fillRect(x, y, width, height) {
        this.add("rect", {x: Math.min(x, x + width), y: Math.min(y, y + height), width: Math.abs(width),
            height: Math.abs(height), fill: this.fillStyle});
    }

    strokeRect(x, y, width, height) {
        this.add("rect", {x, y, width, height, ...this.lined()});
    }

    fillText(text, x, y) {
        this.write(text, x, y, {fill: this.fillStyle});
    }

    strokeText(text, x, y) {
        this.write(text, x, y, this.lined());
    }

    write(text, x, y, look) {
        const [, weight, size, family] = /^(\d+ )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
        this.add("text", {x, y, ...look, "font-size": size, "font-family": family, "font-weight": weight,
            "text-anchor": {center: "middle", right: "end"}[this.textAlign],
            "dominant-baseline": this.textBaseline === "middle" ? "central" : null}, text);
    }

    setLineDash(dash) {
        this.dash = dash;
    }

    clearRect() {} // the picture is empty
}

// Its labels, which are elements over the drawing.
function drawLabels(root, node) {
    const {left, top} = node.getBoundingClientRect();
    for (const label of node.querySelectorAll(".dygraph-axis-label, .dygraph-ylabel, .dygraph-xlabel")) {
        const box = label.getBoundingClientRect();
        const look = getComputedStyle(label);
        const [x, y] = [box.left - left + box.width / 2, box.top - top + box.height / 2];
        root.append(svg("text", {x, y, fill: look.color, "font-size": look.fontSize, "font-family": look.fontFamily,
            "text-anchor": "middle", "dominant-baseline": "central",
            transform: label.classList.contains("dygraph-ylabel") ? `rotate(-90 ${x} ${y})` : null},
        label.textContent));
    }
}

// Draws a chart once more, on a recorder. dygraphs has no other way to another context.
function drawChart(root, node, graph) {
    const {hidden_ctx_: context, plotter_: plotter} = graph;
    const recorder = new Recorder(root);
    try {
        graph.hidden_ctx_ = plotter.elementContext = recorder;
        graph.renderGraph_(false);
    } finally {
        graph.hidden_ctx_ = plotter.elementContext = context;
        graph.renderGraph_(false);
    }
    drawLabels(root, node);
}

// The colours of the style sheet, in the picture itself.
function copyLooks(from, to) {
    const look = getComputedStyle(from);
    for (const name of LOOKS) {
        to.setAttribute(name, look.getPropertyValue(name));
    }
    [...from.children].forEach((child, k) => copyLooks(child, to.children[k]));
}

// A chart of dygraphs or an <svg> becomes a picture of its own.
function pictureOf(node) {
    const {width, height} = node.getBoundingClientRect();
    const root = svg("svg", {xmlns: "http://www.w3.org/2000/svg", width, height});
    const paper = getComputedStyle(node.closest(".panel") ?? document.body).backgroundColor;
    root.append(svg("rect", {width, height, fill: paper}));
    const graph = graphOf(node);
    if (graph) {
        root.setAttribute("viewBox", `0 0 ${width} ${height}`);
        drawChart(root, node, graph);
    } else {
        const copy = node.cloneNode(true);
        copyLooks(node, copy);
        copy.setAttribute("width", width);
        copy.setAttribute("height", height);
        root.append(copy);
    }
    return {text: new XMLSerializer().serializeToString(root), width, height};
}

async function paint({text, width, height}) {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = SCALE * width;
    canvas.height = SCALE * height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise(done => canvas.toBlob(done, "image/png"));
}

// All interval bars of a panel in one picture: a line each, after the first cell of its row.
function pictureOfBars(nodes) {
    const {color, backgroundColor: paper, fontFamily} = getComputedStyle(nodes[0].closest(".panel"));
    const root = svg("svg", {xmlns: "http://www.w3.org/2000/svg"});
    let height = BARS_GAP;
    for (const node of nodes) {
        const size = node.getBoundingClientRect();
        const copy = node.cloneNode(true);
        copyLooks(node, copy);
        copy.setAttribute("x", BARS_LEFT);
        copy.setAttribute("y", height);
        root.append(svg("text", {x: BARS_GAP, y: height + size.height / 2 + 4, fill: color, "font-size": 13,
            "font-family": fontFamily}, node.closest("tr")?.cells[0].textContent ?? ""), copy);
        height += Math.max(size.height, 16) + BARS_GAP;
    }
    const width = BARS_LEFT + nodes[0].getBoundingClientRect().width + BARS_GAP;
    root.prepend(svg("rect", {width, height, fill: paper}));
    root.setAttribute("width", width);
    root.setAttribute("height", height);
    return {text: new XMLSerializer().serializeToString(root), width, height};
}

// kind: "svg" or "png"
export function saveChart(node, name, kind) {
    return savePicture(pictureOf(node), name, kind);
}

export function saveBars(nodes, name, kind) {
    return savePicture(pictureOfBars(nodes), name, kind);
}

async function savePicture(picture, name, kind) {
    const blob = kind === "png" ? await paint(picture) : new Blob([picture.text], {type: "image/svg+xml"});
    saveAs(blob, `${name}.${kind}`);
}

function quoted(text) {
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Numbers as programs read them. Signs and buttons are no data, except for those that choose their row.
function csvCell(cell) {
    const copy = cell.cloneNode(true); // innerText would be empty in closed details
    copy.querySelectorAll("[aria-hidden=true], button:not(.pick)").forEach(node => node.remove());
    return quoted(copy.textContent.trim().replace(/\u202f|\s+/g, " ").replace(/−(?=[\d.])/g, "-"));
}

// rows: lists of texts and numbers; null and undefined are empty.
export function saveRows(rows, name) {
    const text = rows.map(row => `${row.map(cell => quoted(String(cell ?? ""))).join(",")}\r\n`).join("");
    saveAs(new Blob([text], {type: "text/csv"}), `${name}.csv`);
}

export function saveTable(node, name) {
    const rows = [...node.rows].filter(row => !row.classList.contains("detail"));
    const text = rows.map(row => `${[...row.cells].map(csvCell).join(",")}\r\n`).join("");
    saveAs(new Blob([text], {type: "text/csv"}), `${name}.csv`);
}
