// Charts over time, drawn by dygraphs, which is loaded with the first chart.

import {button, el, append, show, symbol} from "./ui.js";

let loading = null;
const graphs = new WeakMap(); // place of a chart -> what dygraphs has there

// The graph of a chart, for a file of it; undefined before its first data.
export function graphOf(node) {
    return graphs.get(node);
}

// Its legend is switched off: it writes markup and a style attribute, which the page's policy forbids.
function prepare() {
    const {Dygraph} = globalThis;
    Dygraph.PLUGINS = Dygraph.PLUGINS.filter(plugin => plugin !== Dygraph.Plugins.Legend);
}

// Called in advance, too, because it loads more slowly than the rest of the page.
export function load() {
    loading ??= new Promise((done, fail) => {
        append(document.head, el("link", {rel: "stylesheet", href: "page/dygraph.min.css"}),
            el("script", {src: "page/dygraph.min.js", onload: () => done(prepare()),
                onerror: () => fail(new Error("dygraphs could not be loaded from the daemon"))}));
    });
    return loading;
}

const colours = new Map(); // asked for once a theme: a chart needs one for every point

// A colour of the theme in force: colour("ahead").
export function colour(name) {
    if (!colours.has(name)) {
        colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
    }
    return colours.get(name);
}

// run() when the colours change, until the signal.
function onTheme(run, signal) {
    addEventListener("tandem-theme", run, {signal});
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", run, {signal});
}

onTheme(() => colours.clear());

function tool(sign, label, run) {
    return button(symbol(sign), run, {class: "quiet", "aria-label": label, title: label});
}

// Move and zoom without a mouse: fraction of what is shown.
function shift(graph, by) {
    const [from, to] = graph.xAxisRange();
    graph.updateOptions({dateWindow: [from + by * (to - from), to + by * (to - from)]});
}

function zoom(graph, factor) {
    const [from, to] = graph.xAxisRange();
    const middle = (from + to) / 2;
    const half = (to - from) / 2 * factor;
    graph.updateOptions({dateWindow: [middle - half, middle + half]});
}

// A chart below `root`, in a figure, which appears with the first data. options:
//   label    its content, for screen readers
//   options  () => options of dygraphs, read again when the colours change
//   height   CSS
//   tools    false: no buttons, no note below
//   signal   ends it
// Returns {draw(rows, options), note(text), describe(text)}.
export function chart(root, {label, options, signal, height = "22rem", tools = true}) {
    const canvas = el("div", {class: "chart", role: "img", "aria-label": label, style: {height}});
    const note = el("figcaption", {class: "chart-note"});
    let graph = null;
    const buttons = el("div", {class: "chart-tools", role: "group", "aria-label": "Move in the chart"},
        tool("◀", "Earlier", () => shift(graph, -0.3)), tool("▶", "Later", () => shift(graph, 0.3)),
        tool("+", "Closer", () => zoom(graph, 0.5)), tool("−", "Further away", () => zoom(graph, 2)),
        tool("⤢", "All of it", () => graph.resetZoom()));
    append(root, el("figure", {}, canvas, tools && el("div", {class: "chart-foot"}, note, buttons)));
    const all = () => ({
        axisLineColor: colour("line"), gridLineColor: colour("line"), axisLabelFontSize: 12, gridLineWidth: 1,
        animatedZooms: false, highlightCircleSize: 4,
        strokeWidth: 1.6, rightGap: 10, labelsUTC: false, digitsAfterDecimal: 4, ...options(),
    });
    // Without rows dygraphs would draw one of a single column, and complain about it.
    function noRows(more) {
        const {labels: [first, ...others], customBars} = {...all(), ...more};
        return [[first === "time" ? new Date(0) : 0, ...others.map(() => (customBars ? [null, null, null] : null))]];
    }
    async function draw(given, more = {}) {
        await load();
        if (signal.aborted) {
            return;
        }
        const rows = given.length > 0 ? given : noRows(more);
        if (graph) {
            graph.updateOptions({file: rows, ...more});
            return;
        }
        graph = new globalThis.Dygraph(canvas, rows, {...all(), ...more});
        graphs.set(canvas, graph);
        onTheme(() => graph.updateOptions(all()), signal);
        const resized = new ResizeObserver(() => graph.resize());
        resized.observe(canvas);
        signal.addEventListener("abort", () => {
            resized.disconnect();
            graph.destroy();
        });
    }
    return {draw, note: text => show(note, text), describe: text => canvas.setAttribute("aria-label", text)};
}

// Signs of a legend with their words: [[sign, tone or colour name, text]]
export function legend(rows) {
    return el("ul", {class: "legend"}, rows.map(([sign, tone, text]) =>
        el("li", {class: `tone-${tone}`}, symbol(sign, "sign"), ` ${text}`)));
}
