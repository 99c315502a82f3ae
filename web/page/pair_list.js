// Many pairs in one box: a sortable table, or a wall of small multiples. Only what is near the visible part is drawn,
// so that ten thousand pairs cost as much as fifty.

import {ago, count, known, percent, signed, withUnit} from "./format.js";
import {LEVELS, judgedText, lagNumber, lastVerdict, shareApart, verdictBar, wordsOfAlarm} from "./pair_state.js";
import {pairAddress} from "./router.js";
import {el, marked, redraw, show, svg, symbol} from "./ui.js";
import {fitSign, verdictOf} from "./verdicts.js";

const BEYOND = 8; // rows drawn above and below the visible part
const ROW_PX = 40; // as in the style sheet, as the next two
const TILE_PX = 132;
const TILE_ROW_PX = 92;
const FITS = ["FAIL", "MARGINAL", "PASS"];

// ---- lags as a small picture ----

const SPARK = {width: 108, height: 30, pad: 3};

// The newest lags from left to right, and the band that is SYNC, which is never higher than the picture.
function sparkline(pair) {
    const lags = pair.recent_lags_s;
    const most = Math.max(1.5 * pair.sync_tolerance_s, ...lags.map(Math.abs)) || 1;
    const y = lag => SPARK.height / 2 - lag / most * (SPARK.height / 2 - SPARK.pad);
    const step = (SPARK.width - 2 * SPARK.pad) / Math.max(1, lags.length - 1);
    const points = lags.map((lag, k) => [SPARK.pad + k * step, y(lag)].map(v => v.toFixed(1)));
    const label = lags.length === 0 ? "no lags yet" : `lags of the last ${count(lags.length)} moves, `
        + `${signed(Math.min(...lags), 3)} to ${withUnit(signed(Math.max(...lags), 3), "s")}`;
    const half = y(0) - y(pair.sync_tolerance_s);
    const [x, last] = points.at(-1) ?? [];
    return svg("svg", {class: `spark tone-${verdictOf(pair.last_verdict).tone}`, role: "img", "aria-label": label,
        viewBox: `0 0 ${SPARK.width} ${SPARK.height}`},
    svg("rect", {x: 0, y: y(0) - half, width: SPARK.width, height: 2 * half}),
    points.length > 1 && svg("polyline", {points: points.join(" ")}),
    points.length > 0 && svg("circle", {cx: x, cy: last, r: 2.6}));
}

// ---- order ----

// value(row): rows with the largest number come first, those with null last; equal ones go by name.
export const SORTS = {
    trouble: {label: "trouble first", value: ({level}) => -level},
    name: {label: "name", value: ({rank}) => -rank},
    lag: {label: "largest lag", value: ({pair}) => known(pair.last_lag_s) ? Math.abs(pair.last_lag_s) : null},
    apart: {label: "most moves apart", value: ({pair}) => shareApart(pair)},
    calibration: {label: "best calibration",
        value: ({pair}) => pair.trust.set ? FITS.indexOf(pair.trust.set.verdict) : null},
    held: {label: "fewest predictions held", value: ({pair: {trust}}) => trust.of > 0 ? -trust.held / trust.of : null},
    moves: {label: "most moves", value: ({pair}) => pair.entries},
    latest: {label: "latest move", value: ({pair}) => pair.last_entry_t},
    alarm: {label: "latest alarm", value: ({pair}) => pair.last_alarm?.t ?? null},
};

// Sorts in place, with one value a row.
export function sortRows(rows, sort, reversed) {
    const sign = reversed ? 1 : -1;
    for (const row of rows) {
        row.value = SORTS[sort].value(row);
    }
    return rows.sort((a, b) => {
        if (a.value === b.value) {
            return a.rank - b.rank;
        }
        return a.value === null ? 1 : b.value === null ? -1 : sign * (a.value - b.value);
    });
}

// ---- a box that scrolls ----

// draw(from, to) for the rows near the visible part, when that changes.
class Box {
    constructor(signal, className, label, content) {
        this.node = el("div", {class: `pairs-box ${className}`, tabindex: "0", role: "region", "aria-label": label,
            onscroll: () => this.plan()}, content);
        this.rowPx = ROW_PX;
        this.columns = 1;
        const resized = new ResizeObserver(() => this.plan());
        resized.observe(this.node);
        signal.addEventListener("abort", () => {
            resized.disconnect();
            cancelAnimationFrame(this.frame);
        });
    }

    plan() {
        cancelAnimationFrame(this.frame);
        this.frame = requestAnimationFrame(() => this.drawSeen());
    }

    draw(rows, now) {
        Object.assign(this, {rows, now});
        this.drawSeen();
    }

    drawSeen() {
        if (!this.rows) {
            return;
        }
        this.measure();
        const lines = Math.ceil(this.rows.length / this.columns);
        const top = Math.min(this.node.scrollTop / this.rowPx, lines);
        const from = Math.max(0, Math.floor(top) - BEYOND);
        const to = Math.min(lines, Math.ceil(top + (this.node.clientHeight || innerHeight) / this.rowPx) + BEYOND);
        this.drawRows(this.rows.slice(from * this.columns, to * this.columns), from * this.columns, from * this.rowPx,
            (lines - to) * this.rowPx);
    }

    measure() {}
}

// ---- the table ----

const COLUMNS = [
    {label: "Pair", sort: "name", cell: ({id}) => el("a", {href: pairAddress(id)}, id)},
    {label: "State", sort: "trouble", cell: ({level, reason}) => el("div",
        {class: "state", title: reason || LEVELS[level].label},
        marked(LEVELS[level].sign, LEVELS[level].tone, reason || LEVELS[level].label))},
    {label: "Last lag", sort: "lag", numeric: true, cell: ({pair}) => el("span",
        {title: judgedText(pair.last_lag_s, pair.last_judged_lag_s).slice(2, -1) || null}, lagNumber(pair))},
    {label: "Verdict", cell: ({pair}) => pair.entries > 0 && lastVerdict(pair)},
    {label: "Last lags", cell: ({pair}) => sparkline(pair)},
    {label: "Last 50 moves", sort: "apart", cell: ({pair}) => pair.entries > 0 && verdictBar(pair.recent_verdicts)},
    {label: "Calibration", sort: "calibration", cell: ({pair: {trust: {set}}}) => {
        const [sign, tone] = fitSign(set?.verdict);
        return marked(sign, tone, !set ? "none" : set.in_force ? set.verdict : `${set.verdict}, not in force`);
    }},
    {label: "Predictions held", sort: "held", numeric: true, cell: ({pair: {trust: {held, of}}}) =>
        of > 0 && el("span", {title: `${held} of ${of}; 95 % should`}, percent(held / of))},
    {label: "Moves", sort: "moves", numeric: true, cell: ({pair}) => count(pair.entries)},
    {label: "Last move", sort: "latest", cell: ({pair}, now) =>
        known(pair.last_entry_t) ? ago(pair.last_entry_t, now) : "none"},
    {label: "Last alarm", sort: "alarm", cell: ({pair: {last_alarm: alarm}}, now) => !alarm ? "none"
        : [wordsOfAlarm(alarm.type), el("div", {class: "muted"}, ago(alarm.t, now))]},
];

export class PairTable extends Box {
    // onSort(sort) when a head is clicked
    constructor(signal, onSort) {
        const [head, rows] = [el("tr", {}), el("tbody", {})];
        const [above, below] = [0, 1].map(() =>
            el("tbody", {"aria-hidden": "true"}, el("tr", {}, el("td", {colspan: COLUMNS.length}))));
        const table = el("table", {}, el("caption", {class: "unseen"}, "All pairs"), el("thead", {}, head), above, rows,
            below);
        super(signal, "pair-table", "All pairs as a table", table);
        Object.assign(this, {onSort, head, body: rows, above, below, table});
    }

    order(sort, reversed) {
        show(this.head, COLUMNS.map(column => {
            const chosen = column.sort === sort;
            const rising = (sort === "name") !== reversed;
            return el("th", {scope: "col", class: column.numeric ? "number" : null,
                "aria-sort": chosen ? rising ? "ascending" : "descending" : null},
            !column.sort ? column.label : el("button", {type: "button", class: "sort",
                title: `Sort: ${SORTS[column.sort].label}`, onclick: () => this.onSort(column.sort)},
            column.label, symbol(chosen ? rising ? " ▲" : " ▼" : "", "sign")));
        }));
    }

    drawRows(rows, from, abovePx, belowPx) {
        this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
        redraw(this.body, rows.map((row, k) => el("tr", {"data-row": row.id, "aria-rowindex": String(from + k + 2)},
            COLUMNS.map(column => el("td", {class: column.numeric ? "number" : null}, column.cell(row, this.now))))));
        for (const [part, px] of [[this.above, abovePx], [this.below, belowPx]]) {
            part.hidden = px === 0;
            part.firstChild.style.height = `${px}px`;
        }
    }
}

// ---- the wall ----

function tile(row) {
    const {sign, tone, label} = LEVELS[row.level];
    return el("a", {class: `tile tone-${tone}`, href: pairAddress(row.id), "data-row": row.id,
        title: `${row.id}: ${row.reason || label}`},
    el("span", {class: "tile-name"}, symbol(sign, "sign"), " ", row.id,
        el("span", {class: "unseen"}, `: ${row.reason || label}`)),
    sparkline(row.pair), el("span", {class: "tile-lag"},
        known(row.pair.last_lag_s) ? withUnit(signed(row.pair.last_lag_s, 3), "s") : "no lag"));
}

export class PairWall extends Box {
    constructor(signal) {
        const grid = el("div", {class: "wall"});
        super(signal, "pair-wall", "All pairs as a wall: the lags of their last moves", grid);
        Object.assign(this, {grid, rowPx: TILE_ROW_PX});
    }

    measure() {
        this.columns = Math.max(1, Math.floor((this.node.clientWidth || innerWidth) / TILE_PX));
        this.grid.style.setProperty("--columns", String(this.columns));
    }

    drawRows(rows, _from, abovePx, belowPx) {
        this.grid.style.setProperty("padding-top", `${abovePx}px`);
        this.grid.style.setProperty("padding-bottom", `${belowPx}px`);
        redraw(this.grid, rows.map(tile));
    }
}
