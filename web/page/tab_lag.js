// The lag over time, move by move, and the latest moves.

import {get, send} from "./api.js";
import {chart, colour, legend, load} from "./chart.js";
import {downloadLink} from "./download.js";
import {forecastBox} from "./forecast_box.js";
import {dateTime, known, labNow, plural, plusMinus, signed, withUnit} from "./format.js";
import {MoveTable} from "./move_table.js";
import {judgedText} from "./pair_state.js";
import {confirm} from "./token.js";
import {button, el, empty, numberField, places, redraw, section, show, stage} from "./ui.js";
import {INCONSISTENT, VERDICTS, verdictOf} from "./verdicts.js";
import {watch} from "./watch.js";

const POINTS = 500; // buckets of the series
const DETAIL_MAX = 600; // moves drawn one by one
const SETTLE_MS = 250; // after a zoom
const FORECAST_PX = 7; // width of a predicted interval
const MARGIN_PX = 72; // for the names of the bands
const SPANS = [["10 min", 600], ["1 h", 3600], ["1 d", 86400], ["All", null]];

// ---- the chart ----

// A move with contradicting answers gets that sign instead of its verdict's. A square is around a lag outside of its
// forecast.
function drawPoint(context, x, y, radius, place) {
    const {sign, tone} = place?.inconsistent ? INCONSISTENT : verdictOf(place?.verdict);
    if (place?.missed) {
        context.strokeStyle = colour("bad");
        context.lineWidth = 1.5;
        context.strokeRect(x - 2 * radius, y - 2 * radius, 4 * radius, 4 * radius);
    }
    context.fillStyle = colour(tone);
    context.font = `${Math.round(3 * radius)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(sign, x, y);
    context.textBaseline = "alphabetic";
}

// Bands of AHEAD, SYNC and BEHIND lags, behind the points.
function drawBands(context, area, graph, tolerance) {
    const [top, bottom] = [tolerance, -tolerance].map(y => Math.min(area.y + area.h,
        Math.max(area.y, graph.toDomYCoord(y))));
    const bands = [["AHEAD", area.y, top], ["SYNC", top, bottom], ["BEHIND", bottom, area.y + area.h]];
    context.font = "600 12px system-ui, sans-serif";
    for (const [name, from, to] of bands) {
        const {tone} = verdictOf(name);
        context.fillStyle = colour(`${tone}-soft`);
        context.globalAlpha = 0.55;
        context.fillRect(area.x, from, area.w, to - from);
        context.globalAlpha = 1;
        if (to - from > 12) {
            context.fillStyle = colour(tone);
            context.textAlign = "right";
            context.fillText(name, area.x + area.w - 6, name === "BEHIND" ? to - 7 : to - from > 30 ? from + 15
                : (from + to) / 2 + 4);
        }
    }
}

// The interval that was predicted of each lag.
function drawForecasts(context, area, graph, places) {
    context.fillStyle = colour("accent");
    context.globalAlpha = 0.25;
    for (const {t, forecast} of places) {
        if (forecast) {
            const [bottom, top] = forecast.map(s => Math.min(area.y + area.h, Math.max(area.y, graph.toDomYCoord(s))));
            context.fillRect(graph.toDomXCoord(t * 1000) - FORECAST_PX / 2, top, FORECAST_PX, bottom - top);
        }
    }
    context.globalAlpha = 1;
}

function mostly(verdicts) {
    return Object.entries(verdicts).reduce((most, entry) => (entry[1] > (most?.[1] ?? 0) ? entry : most), null)?.[0];
}

// Everything drawn at one time: one move, or those of a bucket.
export function placeOf(e) {
    const half = e.lag_uncertainty_s ?? 0;
    const bar = known(e.lag_s) ? [e.lag_s - half, e.lag_s, e.lag_s + half] : [null, null, null];
    const inconsistent = e.consistent === false;
    const forecast = known(e.lag_low_s) && known(e.lag_high_s) ? [e.lag_low_s, e.lag_high_s] : null;
    const missed = forecast && known(e.lag_s) && (e.lag_s < forecast[0] || e.lag_s > forecast[1]);
    return {t: e.t, bar, verdict: e.verdict, inconsistent, forecast, missed,
        words: `${dateTime(e.t)}  ${e.verdict}  lag ${plusMinus(e.lag_s, e.lag_uncertainty_s, "s")}`
            + judgedText(e.lag_s, e.judged_lag_s)
            + (forecast ? `  predicted ${forecast.map(s => signed(s, 3)).join(" … ")}` : "")
            + (inconsistent ? `  inconsistent${e.differs ? `: ${e.differs}` : ""}` : "")};
}

function ofBucket(b) {
    const verdicts = [...Object.entries(b.verdicts), ...b.inconsistent > 0 ? [["inconsistent", b.inconsistent]] : []]
        .map(([name, n]) => `${n} ${name}`).join(", ");
    const lags = `lag ${signed(b.min, 3)} … ${signed(b.max, 3)}, mean ${withUnit(signed(b.mean, 3), "s")}`;
    return {t: b.t, bar: [b.min, b.mean, b.max], reach: [b.min, b.max], verdict: mostly(b.verdicts),
        inconsistent: 2 * b.inconsistent > b.count,
        words: `from ${dateTime(b.t)}: ${plural(b.count, "move")}, ${verdicts}; ${lags}`};
}

export class LagChart {
    // height: in CSS; then without tools
    constructor(root, signal, height) {
        Object.assign(this, {root, places: new Map(), without: [], tolerance: 0, span: null, window: null,
            onRange: () => {}});
        this.chart = chart(root, {label: "Lag over time", signal, height, tools: !height,
            options: () => this.options()});
        this.showWords(null);
    }

    // The range to fetch: [since, until] in seconds, or null for everything. Around a window
    // that was zoomed into as much again is fetched, so that one can go on.
    range(now) {
        if (this.window) {
            const [from, to] = this.window;
            return [from - (to - from) / 2, to + (to - from) / 2];
        }
        return this.span ? [now - this.span, now + 1] : null;
    }

    // The time shown, as the address has it; empty: all of it.
    query() {
        const [since, until] = this.window ?? [];
        return {span: this.window || !this.span ? "" : String(this.span), since: since?.toFixed(3) ?? "",
            until: until?.toFixed(3) ?? ""};
    }

    // From an address; what is no time is left out.
    restore({span, since, until}) {
        const window = [since, until].map(Number);
        this.span = SPANS.find(([, s]) => s && String(s) === span)?.[1] ?? null;
        this.window = window[0] > 0 && window[1] > window[0] ? window : null;
    }

    show(span) {
        this.span = span;
        this.window = null;
        this.onRange();
    }

    options() {
        const point = (graph, series, context, x, y, _colour, radius, index) =>
            drawPoint(context, x, y, radius, this.places.get(graph.getValue(index, 0)));
        return {
            labels: ["time", "lag"], customBars: true, colors: [colour("soft")], strokeWidth: 0.6, fillAlpha: 0.25,
            drawPoints: true, pointSize: 4.5, drawPointCallback: point, drawHighlightPointCallback: point,
            highlightCircleSize: 7, ylabel: "lag, s",
            underlayCallback: (context, area, graph) => {
                drawBands(context, area, graph, this.tolerance);
                drawForecasts(context, area, graph, this.places.values());
                for (const place of this.without) {
                    drawPoint(context, graph.toDomXCoord(place.t * 1000), area.y + area.h - 9, 5, place);
                }
            },
            highlightCallback: (_event, x) => this.showWords(this.places.get(x)?.words),
            unhighlightCallback: () => this.showWords(null), drawCallback: graph => this.moved(graph),
        };
    }

    showWords(words) {
        this.chart.note(words ?? "Drag sideways or upright to zoom, Shift-drag to move, double-click for all.");
    }

    // After zooming or moving, the visible range is fetched again.
    moved(graph) {
        const now = graph.isZoomed("x") ? graph.xAxisRange() : null;
        if (this.setting || (now && this.seen && now.every((ms, k) => Math.abs(ms - this.seen[k]) < 1))) {
            return;
        }
        this.seen = now;
        this.window = now?.map(ms => ms / 1000) ?? null;
        this.span = now ? this.span : null;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.onRange(), SETTLE_MS);
    }

    // The visible range in milliseconds; on the right there is room for the names of the bands.
    view(data, now) {
        if (this.window) {
            return this.window.map(s => s * 1000);
        }
        const [from, to] = this.span || data.length === 0 ? [(now - (this.span ?? 60)) * 1000, now * 1000]
            : [data[0][0].getTime(), data[data.length - 1][0].getTime()];
        const length = Math.max(to - from, 1000);
        return [from - 0.02 * length, to + (MARGIN_PX / Math.max(200, this.root.clientWidth - MARGIN_PX)) * length];
    }

    // From the least to the greatest lag, and a bit of each band; uncertainties may go beyond.
    heights(there) {
        const ends = there.flatMap(p => p.reach ?? [p.bar[1]]);
        const low = Math.min(-1.6 * this.tolerance, ...ends);
        const high = Math.max(1.6 * this.tolerance, ...ends);
        const pad = 0.08 * (high - low) || 0.01;
        return [low - pad, high + pad];
    }

    async draw(places, tolerance, now) {
        this.tolerance = tolerance;
        this.without = places.filter(p => !known(p.bar[1]));
        const there = places.filter(p => known(p.bar[1])).sort((a, b) => a.t - b.t);
        this.places = new Map(there.map(p => [Math.round(p.t * 1000), p]));
        const data = there.map(p => [new Date(Math.round(p.t * 1000)), p.bar]);
        const dateWindow = this.view(data, now);
        const frame = {dateWindow, axes: {y: {valueRange: this.heights(there)}}};
        this.setting = true;
        this.seen = dateWindow;
        await this.chart.draw(data, frame);
        this.setting = false;
    }
}

// ---- without moves ----

function noMoves(pair) {
    return empty("No moves yet",
        "A lag is the difference between the times that both robots take for one command. Send a command, and have " +
        "both robots answer it, e.g.",
        `mosquitto_pub -q 1 -t tandem/v1/${pair}/command -m ` +
        `'{"id":"c1","op":"go","rotation_rad":1.57,"displacement_m":0.5}'`);
}

// ---- a command ----

function askCommand(path, notice) {
    const inputs = [numberField("rotation", "Rotation, rad", 1.57),
        numberField("displacement", "Displacement, m", 0.5)];
    return confirm("Send a command?", [
        el("p", {}, "Both robots will turn, then drive. The real one moves: is its path free?"), inputs],
    "Send it", async () => {
        const [rotation, displacement] = inputs.map(([, input]) => Number(input.value));
        const answer = await send("POST", `${path}/commands`,
            {op: "go", rotation_rad: rotation, displacement_m: displacement});
        return ["✓", "sync", `Command ${answer.id} is on its way; its entry comes when both robots have answered.`];
    }, notice);
}

function rangeButtons(lagChart) {
    const draw = () => redraw(group, SPANS.map(([word, span]) => button(word, () => lagChart.show(span),
        {class: "quiet", "aria-pressed": String(!lagChart.window && lagChart.span === span)})));
    const group = el("div", {class: "chart-tools", role: "group", "aria-label": "Time shown"});
    draw();
    return {group, draw};
}

// The moves of the time shown, one by one where they are not too many.
async function fetchPlaces(path, lagChart, signal) {
    const range = lagChart.range(labNow());
    const when = range ? `&since=${range[0].toFixed(3)}&until=${range[1].toFixed(3)}` : "";
    const series = await get(`${path}/series?points=${POINTS}${when}`, signal);
    const moves = series.buckets.reduce((sum, b) => sum + b.count, 0);
    if (moves > DETAIL_MAX) {
        return {places: series.buckets.map(ofBucket), moves, complete: series.complete};
    }
    const detail = await get(`${path}/entries?limit=1000${when}`, signal);
    return {places: detail.entries.map(placeOf), moves, complete: true};
}

export function mount(root, {pair, path, route, signal}) {
    const [plot] = places(1);
    const shown = el("p", {class: "muted"});
    const notice = el("div", {role: "status"});
    const command = () => button("Send a command …", () => askCommand(path, notice));
    load();
    const lagChart = new LagChart(plot, signal);
    const buttons = rangeButtons(lagChart);
    const forecast = forecastBox(path);
    const moves = new MoveTable(pair, path, route.query);
    lagChart.restore(route.query);
    moves.shown = () => lagChart.query();
    moves.writeAddress(); // without what was no verdict, number or time
    show(root, notice);
    const page = stage(root,
        section("Lag over time", el("div", {class: "bar"}, shown, el("span", {class: "push"}), buttons.group),
            plot, legend([...VERDICTS.slice(0, 4).map(v => [v.sign, v.tone, `${v.name}: ${v.meaning}`]),
                [INCONSISTENT.sign, INCONSISTENT.tone, `${INCONSISTENT.name}: ${INCONSISTENT.meaning}`],
                ["✕", "bad", "at the bottom: no lag, a robot did not answer"],
                ["▮", "forecast", "the lag that was predicted, 95 %"],
                ["□", "bad", "around a lag: outside of that"]])),
        forecast.box,
        section("Latest moves", el("div", {class: "bar"}, el("span", {class: "push"}), command(),
            downloadLink("Table as CSV", () => moves.entriesAddress(1000, "&format=csv"), `${pair}-entries.csv`,
                notice, {title: "The newest 1000 moves of the chosen verdicts"}), " ",
            downloadLink("Report", `${path}/report`, `${pair}-report.html`, notice)),
        moves.node));
    const refresh = watch(signal, async s => {
        const [summary, drawn, latest] = await Promise.all([get(path, s), fetchPlaces(path, lagChart, s),
            moves.fetch(s), forecast.show(s)]);
        return {summary, drawn, latest};
    }, {pair, types: ["entry"]}, async ({summary, drawn, latest}) => {
        if (!page.say(summary.entries === 0 && [noMoves(pair), el("p", {class: "bar"}, command())])) {
            return;
        }
        moves.draw(latest, summary.verdicts);
        const grey = drawn.moves > DETAIL_MAX ? "from the least to the greatest of those close in time"
            : "is what transport and clocks may explain";
        show(shown, `Real lap minus virtual lap of ${plural(drawn.moves, "move")}; grey ${grey}.`,
            !drawn.complete && " The oldest part is left out: show less.");
        buttons.draw();
        await lagChart.draw(drawn.places, summary.sync_tolerance_s, labNow());
        const last = plusMinus(summary.last_lag_s, summary.last_lag_uncertainty_s, "s");
        lagChart.chart.describe(`Lag of ${plural(drawn.moves, "move")} over time; the last one is ${last}. ` +
            "The table below has the latest.");
    }, page.fail);
    moves.onChange = refresh;
    lagChart.onRange = () => {
        moves.writeAddress();
        refresh();
    };
}
