// Which robot was late, move by move: the lag over time and the latest entries.

import {get} from "./api.js";
import {chart, colour, legend} from "./chart.js";
import {dateTime, fixed, known, plural, plusMinus, signed, time, withUnit} from "./format.js";
import {el, empty, failure, section, show, table} from "./ui.js";
import {VERDICTS, verdictChip, verdictOf} from "./verdicts.js";
import {watch} from "./watch.js";

const POINTS = 1000; // moves in the chart
const ROWS = 25; // in the table

// ---- the chart ----

const SHAPES = {
    "▲": (c, x, y, r) => polygon(c, [[x, y - r], [x + r, y + r * 0.8], [x - r, y + r * 0.8]]),
    "▼": (c, x, y, r) => polygon(c, [[x, y + r], [x + r, y - r * 0.8], [x - r, y - r * 0.8]]),
    "◇": (c, x, y, r) => polygon(c, [[x, y - r], [x + r, y], [x, y + r], [x - r, y]]),
};

function polygon(context, points) {
    context.beginPath();
    points.forEach(([x, y], k) => (k === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.closePath();
    context.fill();
}

function drawPoint(context, x, y, radius, verdict) {
    const {sign, tone} = verdictOf(verdict);
    context.fillStyle = colour(tone);
    if (SHAPES[sign]) {
        SHAPES[sign](context, x, y, radius);
    } else {
        context.beginPath();
        context.arc(x, y, radius * 0.8, 0, 2 * Math.PI);
        context.fill();
    }
}

// Which lags are AHEAD, SYNC and BEHIND, behind the points.
function drawBands(context, area, graph, tolerance) {
    const [top, bottom] = [tolerance, -tolerance].map(y => Math.min(area.y + area.h, Math.max(area.y, graph.toDomYCoord(y))));
    const bands = [["AHEAD", area.y, top], ["SYNC", top, bottom], ["BEHIND", bottom, area.y + area.h]];
    context.font = "600 12px system-ui, sans-serif";
    for (const [name, from, to] of bands) {
        const {tone} = verdictOf(name);
        context.fillStyle = colour(`${tone}-soft`);
        context.globalAlpha = 0.55;
        context.fillRect(area.x, from, area.w, to - from);
        context.globalAlpha = 1;
        if (to - from > 18) {
            context.fillStyle = colour(tone);
            context.textAlign = "right";
            context.fillText(name, area.x + area.w - 8, name === "BEHIND" ? to - 7 : from + 15);
        }
    }
}

function msOf(entry) {
    return Math.round(entry.t * 1000);
}

function rowsOf(entries) {
    return entries.filter(e => known(e.lag_s)).sort((a, b) => a.t - b.t).map(e => {
        const half = e.lag_uncertainty_s ?? 0;
        return [new Date(msOf(e)), [e.lag_s - half, e.lag_s, e.lag_s + half]];
    });
}

class LagChart {
    constructor(root, signal) {
        this.root = root;
        this.signal = signal;
        this.verdicts = new Map(); // time in ms -> entry
        this.tolerance = 0;
    }

    options() {
        const point = (graph, series, context, x, y, _colour, radius, index) => {
            const entry = this.verdicts.get(graph.getValue(index, 0));
            drawPoint(context, x, y, radius, entry?.verdict);
        };
        return {
            labels: ["time", "lag"], customBars: true, colors: [colour("soft")], strokeWidth: 0.6, fillAlpha: 0.25,
            drawPoints: true, pointSize: 4.5, drawPointCallback: point, drawHighlightPointCallback: point,
            highlightCircleSize: 7, includeZero: true, ylabel: "lag, s", xRangePad: 12, yRangePad: 12,
            underlayCallback: (context, area, graph) => drawBands(context, area, graph, this.tolerance),
            highlightCallback: (_event, x) => this.tell(this.verdicts.get(x)),
            unhighlightCallback: () => this.tell(null),
        };
    }

    tell(entry) {
        this.chart.note(entry ? `${dateTime(entry.t)}  ${entry.verdict}  lag ${plusMinus(entry.lag_s, entry.lag_uncertainty_s, "s")}`
            : "Drag to zoom, Shift-drag to move, double-click for all.");
    }

    async draw(entries, tolerance) {
        this.tolerance = tolerance;
        this.verdicts = new Map(entries.map(e => [msOf(e), e]));
        const data = rowsOf(entries);
        if (!this.chart) {
            this.chart = await chart(this.root, {label: "Lag over time", options: () => this.options(), data, signal: this.signal});
            if (!this.chart) {
                return;
            }
            this.tell(null);
        } else {
            this.chart.update(data);
        }
        const last = entries.find(e => known(e.lag_s));
        this.chart.describe(`Lag of ${plural(data.length, "move")} over time; the last one ${plusMinus(last?.lag_s, last?.lag_uncertainty_s, "s")}. The table below has the latest.`);
    }
}

// ---- the table ----

function move(e) {
    const parts = [];
    if (known(e.rotation_rad) && e.rotation_rad !== 0) {
        parts.push(withUnit(signed(e.rotation_rad, 2), "rad"));
    }
    if (known(e.displacement_m) && e.displacement_m !== 0) {
        parts.push(withUnit(fixed(e.displacement_m, 2), "m"));
    }
    return [el("span", {}, e.op), parts.length > 0 && ` ${parts.join(", ")}`];
}

const COLUMNS = [
    {label: "#", cell: e => String(e.n), numeric: true},
    {label: "Time", cell: e => time(e.t), className: "nowrap"},
    {label: "Move", cell: move, className: "nowrap"},
    {label: "Real lap, s", cell: e => fixed(e.real_lap_s, 3), numeric: true},
    {label: "Virtual lap, s", cell: e => fixed(e.virtual_lap_s, 3), numeric: true},
    {label: "Lag, s", cell: e => (known(e.lag_s) ? (e.lag_s > 0 ? "+" : "") + plusMinus(e.lag_s, e.lag_uncertainty_s) : "–"), numeric: true},
    {label: "Verdict", cell: e => verdictChip(e.verdict)},
    {label: "", cell: e => remark(e), className: "muted"},
];

// What else is to be said of an entry.
function remark(e) {
    const words = [];
    if (e.timeout_side) {
        words.push(`${e.timeout_side} did not answer`);
    }
    if (e.explained_by) {
        words.push(`explained by ${e.explained_by}`);
    }
    for (const side of ["real", "virtual"]) {
        const status = e[`${side}_status`];
        if (status && status !== "done") {
            words.push(`${side}: ${status}`);
        }
    }
    if (known(e.interrupted_s)) {
        words.push("the daemon was away meanwhile");
    }
    return words.join("; ");
}

function noMoves(pair) {
    return empty("No moves yet",
        "A lag is the difference between the times that both robots take for one command. Send a command, and have both robots answer it, e.g.",
        `mosquitto_pub -q 1 -t tandem/v1/${pair}/command -m '{"id":"c1","op":"go","rotation_rad":1.57,"displacement_m":0.5}'`);
}

export function mount(root, {pair, signal}) {
    const path = `pairs/${encodeURIComponent(pair)}`;
    const message = el("div", {}, el("p", {class: "wait"}, "Loading …"));
    const plot = el("div", {});
    const list = el("div", {});
    const filter = el("select", {id: "verdict"}, el("option", {value: ""}, "all verdicts"),
        VERDICTS.map(v => el("option", {value: v.name}, `${v.sign} ${v.name}`)));
    const view = el("div", {hidden: true},
        section("Lag over time", el("p", {class: "muted"}, "Real lap minus virtual lap. Above: the virtual robot was faster. Grey: how much of it transport and clocks may explain."),
            plot, legend(VERDICTS.slice(0, 4).map(v => [v.sign, v.tone, `${v.name}: ${v.meaning}`]))),
        section("Latest moves", el("div", {class: "bar"}, el("label", {for: "verdict"}, "Verdict"), filter,
            el("a", {class: "push", href: `api/v1/${path}/entries?format=csv&limit=1000`, download: `${pair}-entries.csv`}, "Table as CSV")), list));
    show(root, message, view);
    const lagChart = new LagChart(plot, signal);
    const drawTable = entries => show(list, entries.length > 0 ? table("Latest moves", COLUMNS, entries)
        : empty("No move with this verdict", "Choose another one, or all of them."));
    const refresh = watch(signal, async s => {
        const wanted = filter.value;
        const [summary, newest, chosen] = await Promise.all([get(path, s), get(`${path}/entries?limit=${POINTS}`, s),
            wanted ? get(`${path}/entries?limit=${ROWS}&verdict=${wanted}`, s) : null]);
        return {summary, entries: newest.entries, rows: chosen?.entries ?? newest.entries.slice(0, ROWS)};
    }, {pair, types: ["entry"]}, async ({summary, entries, rows}) => {
        view.hidden = entries.length === 0;
        show(message, entries.length === 0 && noMoves(pair));
        if (entries.length > 0) {
            drawTable(rows);
            await lagChart.draw(entries, summary.sync_tolerance_s);
        }
    }, error => show(message, failure(error)));
    filter.addEventListener("change", refresh);
}
