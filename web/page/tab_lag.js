// The lag over time, move by move, and the latest moves.

import {get, send} from "./api.js";
import {chart, colour, legend, load} from "./chart.js";
import {downloadLink} from "./download.js";
import {forecastBox} from "./forecast_box.js";
import {count, duration, isLabTime, known, labNow, plural, plusMinus} from "./format.js";
import {kindOf} from "./kinds.js";
import {Comparison} from "./lag_compare.js";
import {Counted, fetchMoves} from "./lag_data.js";
import {lagPlots} from "./lag_plots.js";
import {MoveTable} from "./move_table.js";
import {confirm} from "./token.js";
import {button, el, empty, failure, field, numberField, places, redraw, section, show, stage} from "./ui.js";
import {INCONSISTENT, VERDICTS, verdictOf} from "./verdicts.js";
import {watch} from "./watch.js";

const WITH_LAG = 4; // the first verdicts have one
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
    context.strokeStyle = colour("panel"); // it stays readable above a circle
    context.lineWidth = 2;
    context.font = `${Math.round(3 * radius)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.strokeText(sign, x, y);
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

// The moves that these are compared with: circles, at a place of their own without a lag.
function drawOthers(context, area, graph, others) {
    context.strokeStyle = colour("accent");
    context.lineWidth = 1.4;
    for (const {t, bar: [low, lag, high], reach} of others) {
        const x = graph.toDomXCoord(t * 1000);
        context.beginPath();
        context.arc(x, known(lag) ? graph.toDomYCoord(lag) : area.y + area.h - 22, 3.6, 0, 2 * Math.PI);
        context.stroke();
        if (reach && known(lag)) {
            context.beginPath();
            context.moveTo(x, graph.toDomYCoord(low));
            context.lineTo(x, graph.toDomYCoord(high));
            context.stroke();
        }
    }
}

export class LagChart {
    // height: in CSS; then without tools
    constructor(root, signal, height) {
        Object.assign(this, {root, places: new Map(), without: [], others: [], tolerance: 0, span: null, window: null,
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
        return this.seconds(now);
    }

    // [since, until] of the time shown; null: everything.
    seconds(now) {
        return this.window ?? (this.span ? [now - this.span, now + 1] : null);
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
        this.window = window.every(isLabTime) && window[1] > window[0] ? window : null;
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
                drawOthers(context, area, graph, this.others);
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
        const times = [...data.length > 0 ? [data[0][0].getTime(), data.at(-1)[0].getTime()] : [],
            ...[...this.without, ...this.others].map(({t}) => t * 1000)];
        const [from, to] = this.span || times.length === 0 ? [(now - (this.span ?? 60)) * 1000, now * 1000]
            : [Math.min(...times), Math.max(...times)];
        const length = Math.max(to - from, 1000);
        const margin = MARGIN_PX / Math.max(200, this.root.clientWidth - MARGIN_PX);
        return [from - 0.02 * length, from + (1 + margin) * length];
    }

    // From the least to the greatest lag, and a bit of each band; uncertainties may go beyond.
    heights(there) {
        const ends = [...there, ...this.others].flatMap(p => p.reach ?? [p.bar[1]]).filter(known);
        const low = Math.min(-1.6 * this.tolerance, ...ends);
        const high = Math.max(1.6 * this.tolerance, ...ends);
        const pad = 0.08 * (high - low) || 0.01;
        return [low - pad, high + pad];
    }

    // others: what they are compared with, at the time where they are drawn
    async draw(places, tolerance, now, others = []) {
        this.tolerance = tolerance;
        this.others = others;
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

function noMoves(pair, summary) {
    return empty("No moves yet",
        "A lag is the difference between the times that both robots take for one command. Send a command, and have " +
        "both robots answer it, e.g.",
        `mosquitto_pub -q 1 -t tandem/v1/${pair}/command -m ` +
        `'${JSON.stringify({id: "c1", ...kindOf(summary).example})}'`);
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

function chartLegend({places: drawn, bucketS}, other) {
    const rest = VERDICTS.slice(WITH_LAG).filter(v => drawn.some(place => place.verdict === v.name));
    return legend([...VERDICTS.slice(0, WITH_LAG).map(v => [v.sign, v.tone, `${v.name}: ${v.meaning}`]),
        [INCONSISTENT.sign, INCONSISTENT.tone, `${INCONSISTENT.name}: ${INCONSISTENT.meaning}`],
        ...rest.map(v => [v.sign, v.tone, `${v.name}, at the bottom because it has no lag: ${v.meaning}`]),
        ...bucketS ? [] : [["▮", "forecast", "the lag that was predicted, 95 %"],
            ["□", "bad", "around a lag: outside of that"]],
        ...other ? [["○", "forecast", other.name]] : []]);
}

// The chart in words.
function drawnWords({moves, verdicts, complete, bucketS}) {
    const without = VERDICTS.slice(WITH_LAG).filter(v => verdicts[v.name] > 0)
        .map(v => `${count(verdicts[v.name])} ${v.name}`).join(", ");
    return [`Real lap minus virtual lap of ${plural(moves, "move")}. `, bucketS
        ? `Each mark is the mean of the moves within ${duration(bucketS)}, with the sign of their commonest verdict; `
            + "grey from the least to the greatest."
        : "Grey is what transport and clocks may explain.",
    without && ` Without a lag: ${without}.`, !complete && " The oldest part is left out: show less."];
}

function circleWords({name}, {moves, bucketS}) {
    return `Circles: ${name}, ${plural(moves, "move")}${bucketS ? `, means within ${duration(bucketS)}` : ""}.`;
}

export function mount(root, {pair, path, route, signal}) {
    const [plot, legends, spread] = places(3);
    const shown = el("p", {class: "muted"});
    const notice = el("div", {role: "status"});
    const command = () => button("Send a command …", () => askCommand(path, notice));
    const goButton = command();
    load();
    const lagChart = new LagChart(plot, signal);
    const buttons = rangeButtons(lagChart);
    const forecast = forecastBox(path);
    const moves = new MoveTable(pair, path, route.query);
    const counted = new Counted(signal);
    const change = () => {
        moves.writeAddress();
        refresh();
    };
    const comparison = new Comparison(route.query, pair, change);
    const size = el("select", {id: "against", onchange: change});
    let wanted = route.query.against; // until the pair's kind is known
    lagChart.restore(route.query);
    moves.shown = () => ({...lagChart.query(), ...comparison.query(),
        against: size.selectedIndex > 0 ? size.value : ""});
    show(root, notice);
    const page = stage(root,
        section("Lag over time", el("div", {class: "bar"}, shown, el("span", {class: "push"}), comparison.node,
            buttons.group), plot, legends),
        section("Spread of lags", el("div", {class: "bar"}, el("span", {class: "push"}), field("Lag against", size)),
            spread),
        forecast.box,
        section("Latest moves", el("div", {class: "bar"}, el("span", {class: "push"}), goButton,
            downloadLink("Table as CSV", () => moves.entriesAddress(1000, "&format=csv"), `${pair}-entries.csv`,
                notice, {title: "The newest 1000 moves of the chosen verdicts"}), " ",
            downloadLink("Report", `${path}/report`, `${pair}-report.html`, notice)),
        moves.node));

    // The sizes that moves of this kind of robot have; the address may name one.
    function offerSizes(sizes) {
        if (size.options.length === 0) {
            size.append(...Object.entries(sizes).map(([name, [word]]) => el("option", {value: name}, word)));
            size.value = wanted in sizes ? wanted : Object.keys(sizes)[0];
            wanted = null;
            moves.writeAddress(); // without what was no verdict, number or time
        }
    }

    async function drawSpread(summary, drawn, other, compared) {
        const what = JSON.stringify([lagChart.window, lagChart.span, comparison.query()]);
        const sets = [{name: other?.own ?? "Shown", entries: await counted.entries(drawn, what), total: drawn.moves}];
        if (compared) {
            sets.push({name: other.name, entries: await counted.entries(compared, what), total: compared.moves});
        }
        redraw(spread, lagPlots(sets, summary.sync_tolerance_s, kindOf(summary).sizes, size.value));
    }

    // The choice can be mended when the pair to compare with is not there.
    function notThere(error) {
        if (signal.aborted) {
            throw error;
        }
        return {problem: `Nothing to compare with: ${error.message}`};
    }

    const refresh = watch(signal, async s => {
        const now = labNow();
        const [fetched, seen] = [lagChart.range(now), lagChart.seconds(now)];
        await comparison.isThere(s);
        const other = comparison.other(path, seen);
        const earlier = range => range?.map(t => t - other.shift);
        const [summary, drawn, latest, compared] = await Promise.all([get(path, s), fetchMoves(path, fetched, seen, s),
            moves.fetch(s), other?.path && fetchMoves(other.path, earlier(fetched), earlier(seen), s).catch(notThere),
            forecast.show(s)]);
        return {summary, drawn, latest, other, compared: compared?.problem ? null : compared,
            problem: other?.problem ?? compared?.problem};
    }, {pair, types: ["entry"]}, async ({summary, drawn, latest, other, compared, problem}) => {
        if (!page.say(summary.entries === 0 && [noMoves(pair, summary),
            !summary.arm && el("p", {class: "bar"}, command())])) {
            return;
        }
        offerSizes(kindOf(summary).sizes);
        forecast.box.hidden = goButton.hidden = Boolean(summary.arm); // its moves have another form
        moves.draw(latest, summary.verdicts, kindOf(summary).sizes);
        show(shown, drawnWords(drawn), problem && el("strong", {}, ` ${problem}`),
            compared && ` ${circleWords(other, compared)}`);
        redraw(legends, chartLegend(drawn, compared && other));
        buttons.draw();
        await lagChart.draw(drawn.places, summary.sync_tolerance_s, labNow(),
            compared?.places.map(place => ({...place, t: place.t + other.shift})));
        const last = plusMinus(summary.last_lag_s, summary.last_lag_uncertainty_s, "s");
        lagChart.chart.describe(`Lag of ${plural(drawn.moves, "move")} over time; the last one is ${last}. `
            + `${compared ? `${circleWords(other, compared)} ` : ""}The table below has the latest.`);
        await drawSpread(summary, drawn, other, compared).catch(error =>
            signal.aborted || show(spread, failure(error)));
    }, page.fail);
    moves.onChange = refresh;
    lagChart.onRange = change;
}
