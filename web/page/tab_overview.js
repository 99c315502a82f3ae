// A pair on one page: map or arm, lags of the last hour, calibration, and health.

import {get} from "./api.js";
import {legend} from "./chart.js";
import {TERMS, valueText} from "./estimate.js";
import {ago, count, duration, known, labNow, plural, time, wordsOf} from "./format.js";
import {effortAdvice, isByEfforts, kindOf} from "./kinds.js";
import {placeOf} from "./lag_data.js";
import {MapView} from "./map_view.js";
import {wordsOfAlarm} from "./pair_state.js";
import {pairAddress} from "./router.js";
import {LagChart} from "./tab_lag.js";
import {aligned, apart, rayEnds} from "./tracks.js";
import {el, facts, failure, marked, muted, places, redraw, section, show, table} from "./ui.js";
import {fitChip, isTooFew} from "./verdicts.js";
import {watch} from "./watch.js";

const MAP_MS = 1000;
const HOUR_S = 3600;
const MOVES = 300; // newest moves on the strip, all of them
const SIDES = ["real", "virtual"];
const PARTS = {restored: "Start", broker: "Broker", journal: "Journal", store: "Database"};
const MAP_PX = 270;
const STRIP = "9.5rem";

function more(pair, tab, words) {
    return el("p", {class: "more"}, el("a", {href: pairAddress(pair, tab)}, words));
}

// ---- calibration ----

// A pair without moves shows its dynamics instead, and what would tell more about them.
function calibrationByEfforts(pair, dynamics) {
    const fit = dynamics?.real?.fit;
    return [muted("No moves: efforts drive it."), fit && el("p", {class: "words"}, fitChip(fit.verdict),
        ` dynamics of the real robot, ${plural(fit.n, "sample")}`),
    el("p", {}, el("strong", {}, "Advice: "), effortAdvice(dynamics)),
    dynamics && more(pair.id, "dynamics", "Masses, drag, and the fits so far")];
}

function calibration(pair, fits, dynamics) {
    const there = SIDES.filter(side => fits[side]?.n > 0);
    if (there.length === 0) {
        return isByEfforts(pair) ? calibrationByEfforts(pair, dynamics)
            : muted(`No moves that could be fitted yet. ${kindOf(pair).needs}`);
    }
    const names = fits[there[0]].parameters ?? Object.keys(TERMS);
    const advice = there.map(side => fits[side].advice[0]).find(Boolean);
    return [el("p", {class: "words"}, there.map(side => el("span", {},
        fitChip(fits[side].verdict, isTooFew(fits[side])), ` ${side}, ${plural(fits[side].n, "move")}`))),
    table("Travel times of both robots", [
        {label: "Parameter", cell: name => TERMS[name] ?? wordsOf(name)},
        ...SIDES.map(side => ({label: `${side}, ± 95 %`, numeric: true, cell: name => valueText(fits[side], name)})),
    ], names), advice && el("p", {}, el("strong", {}, "Advice: "), advice)];
}

// ---- health ----

function sideHealth(side, state, now) {
    const [sign, tone] = {online: ["●", "sync"], offline: ["✕", "bad"]}[state.connection] ?? ["○", "unsure"];
    if (!state.seen && state.connection === "unknown") {
        return [`${side} robot`, marked(sign, tone, "not seen")];
    }
    return [`${side} robot`, marked(sign, tone, state.connection === "unknown" ? "not reported" : state.connection),
        el("small", {}, state.seen ? ` seen ${ago(state.seen_t, now)}, clock ${state.clock}` : " not seen"),
        state.seq_missing > 0 && el("small", {}, `, ${plural(state.seq_missing, "sample")} missing`)];
}

function health(pair, status, now) {
    const ill = Object.entries(status.parts).filter(([, part]) => !part.ok);
    const alarms = Object.entries(pair.alarm_counts).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
    return facts([
        ...SIDES.map(side => sideHealth(side, pair[side], now)),
        ["Daemon", ill.length === 0 ? marked("●", "sync", `up ${duration(status.uptime_s)}`)
            : marked("✕", "bad", ill.map(([name, part]) => `${PARTS[name] ?? name}: ${part.text}`).join("; "))],
        pair.mode === "link" && ["Commands open", count(pair.outstanding)],
        ["Last alarm", pair.last_alarm ? marked("⚠", "bad", `${wordsOfAlarm(pair.last_alarm.type)} `,
            el("small", {class: "nowrap"}, ago(pair.last_alarm.t, now))) : "none"],
        alarms.length > 0 && ["Alarms since the start", alarms.slice(0, 4).map(([type, n]) =>
            `${wordsOfAlarm(type)} ${count(n)}`).join(", ")],
    ]);
}

// ---- the map ----

// An arm is shown by its tools only.
function drawMap(view, words, raw, isArm) {
    const data = aligned(raw);
    const robots = ["reported", ...SIDES].map(side =>
        ({side, track: data[side], name: `${side} robot`, isPoint: isArm}));
    const [real, virtual] = SIDES.map(side => data[side].at(-1));
    view.draw({map: data.map, robots, label: `Both ${isArm ? "tools" : "robots"} seen from above`,
        sweeps: SIDES.map(side => ({side, points: rayEnds(data.rays[side], labNow())}))});
    redraw(words, !real && !virtual ? "No pose was received yet." : !isArm && ["Apart ", apart(real, virtual)]);
}

function mountMap(root, {pair, path, signal}, isArm) {
    const words = el("p", {class: "muted"});
    const place = el("div", {});
    show(root, place, words);
    const view = new MapView(place, signal, width => Math.min(MAP_PX, 0.75 * width));
    watch(signal, `${path}/trajectory`, {pair, everyMs: MAP_MS}, data => drawMap(view, words, data, isArm),
        error => show(words, failure(error)));
}

// ---- all of it ----

export async function mount(root, context) {
    const {pair, path, signal} = context;
    const {arm, dynamics} = await get(path, signal);
    const isArm = Boolean(arm);
    const [map, strip, stripWords, fitted, well] = places(5);
    const lagChart = new LagChart(strip, signal, STRIP);
    show(root, el("div", {class: "pair-overview"},
        section(isArm ? "Tools from above" : "From above", legend([["➤", "real", "real robot, solid"],
            ["➤", "virtual", "virtual robot, dashed"]]), map,
            isArm ? more(pair, "arm", "Links and joints") : more(pair, "map", "Last ten minutes, team, zoom")),
        section("Calibration", fitted, more(pair, "calibration", "Laps against the fit, history")),
        section("Health", well, more(pair, "alarms", "All alarms")),
        section("Lag, last hour", stripWords, strip, more(pair, "lag", "Every move, and why it was late"))));
    mountMap(map, context, isArm);
    watch(signal, async s => {
        const since = (labNow() - HOUR_S).toFixed(3);
        const [summary, fits, status, {entries}, learnt] = await Promise.all([get(path, s),
            get(`${path}/travel-time`, s), get("status", s), get(`${path}/entries?limit=${MOVES}&since=${since}`, s),
            dynamics && get(`${path}/dynamics`, s)]);
        return {summary, fits, status, entries, learnt};
    }, {pair, types: ["entry", "alarm", "calibration"]}, async ({summary, fits, status, entries, learnt}) => {
        redraw(well, health(summary, status, labNow()));
        redraw(fitted, calibration(summary, fits, learnt));
        strip.hidden = entries.length === 0;
        show(stripWords, entries.length === 0 ? muted("No moves in the last hour.")
            : entries.length === MOVES && muted(`The newest ${MOVES} moves; the tab Lag has all of them.`));
        if (entries.length > 0) {
            await lagChart.draw(entries.map(placeOf), summary.sync_tolerance_s, labNow());
            lagChart.chart.describe(`Lag of ${plural(entries.length, "move")} of the last hour, until ${
                time(entries.find(e => known(e.t))?.t)}.`);
        }
    }, error => show(well, failure(error)));
}
