// The speeds of both robots with their uncertainty: laps against the fitted travel times.

import {get} from "./api.js";
import {armLaw, isArmLaw} from "./arm_law.js";
import {legend} from "./chart.js";
import {DECIMALS_MAX, TERMS, TINY, accelerating, isWhole, lapOf, valueText, verdictWords} from "./estimate.js";
import {changeText, decimalsFor, fixed, known, plural, withUnit, wordsOf} from "./format.js";
import {FITS, History} from "./history.js";
import {kindOf} from "./kinds.js";
import {band, dot, line, plot, text, ticks} from "./plot.js";
import {el, empty, places, redraw, section, show, stage, table} from "./ui.js";
import {watch} from "./watch.js";

const ENTRIES = 400;
const CHANGES = 200;
const STEPS = 24;
const SIDES = ["real", "virtual"];
// The moves that the fit of a side rests on: its newest ones that were answered.
function movesOf(entries, side, fit) {
    return entries.map(e => ({
        rotation: Math.abs(e.rotation_rad ?? 0), displacement: Math.abs(e.displacement_m ?? 0),
        lap: e[`${side}_motion_s`] ?? e[`${side}_lap_s`], n: e.n,
    })).filter(m => known(m.lap) && m.rotation + m.displacement > TINY).slice(0, fit?.n ?? 0);
}

// ---- values ----

// The units of the fits: for an arm, ratios of the commanded speeds.
function termsOf(fits) {
    return (fits.real ?? fits.virtual)?.parameters ?? Object.keys(TERMS);
}

function termWords(name) {
    return TERMS[name] ?? wordsOf(name) + (name.endsWith("_ratio") ? ", share of what was commanded" : "");
}

function difference(fits, name) {
    const [real, virtual] = SIDES.map(side => fits[side]?.values[name]);
    if (name.endsWith("_s") && known(real) && known(virtual)) {
        const n = Math.min(DECIMALS_MAX, decimalsFor(fits.real.se[name]));
        return withUnit(`${virtual > real ? "+" : ""}${fixed(virtual - real, n)}`, "s");
    }
    return changeText(real, virtual);
}

export function drawValues(root, fits) {
    redraw(root, table("Travel-time parameters of both robots", [
        {label: "Parameter", cell: termWords},
        {label: "Real, ± 95 %", cell: name => valueText(fits.real, name), numeric: true},
        {label: "Virtual, ± 95 %", cell: name => valueText(fits.virtual, name), numeric: true},
        {label: "Virtual against real", cell: name => difference(fits, name), numeric: true},
    ], termsOf(fits)), el("div", {class: "columns tight"}, SIDES.map(side => fitWords(side, fits[side]))));
}

function fitWords(side, fit) {
    return el("div", {}, el("h3", {}, `${side[0].toUpperCase()}${side.slice(1)} robot`),
        fit ? [verdictWords(fit,
            `${plural(fit.n, "move")}, method ${fit.method}, typical error ${withUnit(fixed(fit.residual_s_sd, 4),
            "s")}`), accelerating(fit)]
            : el("p", {class: "muted"}, "No moves that could be fitted yet."));
}

// ---- laps against the fit ----

function span(values, fallback) {
    return values.length > 0 ? Math.max(...values) * 1.08 : fallback;
}

// Moves of one kind against their distance or turn, with the fitted lines and the band that holds 95 % of the moves.
function kindPlot(title, label, fits, moves, choose, unit) {
    const chosen = SIDES.map(side => moves[side].filter(choose.accepts));
    const all = chosen.flat();
    const xMax = span(all.map(choose.x), 1);
    const yMax = span(all.map(m => m.lap), 1);
    return plot(title, label, {min: 0, max: xMax, label: unit}, {min: 0, max: yMax, label: "lap, s"}, scale => [
        SIDES.filter(side => isWhole(fits[side])).map(side => {
            const {values, residual_s_sd: sd} = fits[side];
            const at = x => lapOf(values, ...choose.place(x));
            const grid = Array.from({length: STEPS + 1}, (_, k) => Math.max(TINY * 2, k / STEPS * xMax));
            return [known(sd) && band(scale, grid.map(x => [x, at(x) - 1.96 * sd, at(x) + 1.96 * sd]), `band ${side}`),
                line(scale, grid.map(x => [x, at(x)]), `fit ${side}`)];
        }),
        SIDES.map((side, k) => chosen[k].map(m => dot(scale, choose.x(m), m.lap, `move ${side}`,
            `move ${m.n}: ${fixed(m.lap, 3)} s`))),
    ]);
}

// Lines of equal duration over distance and turn: of the real robot, and of the virtual one next to them.
function surfacePlot(fits, moves) {
    const all = SIDES.flatMap(side => moves[side]);
    const dMax = span(all.map(m => m.displacement), 1);
    const aMax = span(all.map(m => m.rotation), 1);
    const whole = SIDES.filter(side => isWhole(fits[side]));
    const levels = whole.length > 0 ? ticks(0, lapOf(fits[whole[0]].values, aMax, dMax), 7).slice(1) : [];
    const label = "Lines of equal duration over displacement and rotation, real and virtual robot";
    return plot("Lines of equal duration, s", label, {min: 0, max: dMax, label: "displacement, m"},
        {min: 0, max: aMax, label: "rotation, rad"}, scale => [
            moves.real.map(m => dot(scale, m.displacement, m.rotation, "move faint")),
            whole.flatMap(side => levels.map(level => isochrone(scale, fits[side].values, level, side, dMax, aMax))),
        ]);
}

// Moves that turn and drive within `level` seconds: a straight line, for (1) is linear.
function isochrone(scale, values, level, side, dMax, aMax) {
    const left = level - values.t0_s - values.ta_s - values.tr_s;
    if (left <= 0) {
        return null;
    }
    const a = left * values.angular_speed_radps; // at displacement 0
    const d = left * values.linear_speed_mps; // at rotation 0
    const rotationOf = k => k * dMax / 12;
    const points = [[0, a], [d, 0]];
    const place = a < aMax * 0.85 ? rotationOf(0.3) : d * (1 - aMax * 0.85 / a);
    return [line(scale, points, `fit ${side}`),
        side === "real" && text(scale, place, a * (1 - place / d), "level-label", String(level))];
}

function bothPlot(fits, moves) {
    const both = side => moves[side].filter(m => m.rotation > TINY && m.displacement > TINY && isWhole(fits[side]));
    const all = SIDES.flatMap(both);
    const max = span(all.map(m => m.lap), 1);
    return plot("Both: measured against fitted", "Measured laps of moves that turn and drive against fitted ones",
        {min: 0, max, label: "fitted lap, s"}, {min: 0, max, label: "measured lap, s"}, scale => [
            line(scale, [[0, 0], [max, max]], "fit"),
            SIDES.map(side => both(side).map(m => dot(scale, lapOf(fits[side].values, m.rotation, m.displacement),
                m.lap,
                `move ${side}`, `move ${m.n}: ${fixed(m.lap, 3)} s`))),
        ]);
}

export function drawLaps(root, fits, entries) {
    if (isArmLaw(fits)) {
        redraw(root, armLaw(fits, entries));
        return;
    }
    const moves = Object.fromEntries(SIDES.map(side => [side, movesOf(entries, side, fits[side])]));
    const drives = {accepts: m => m.rotation <= TINY, x: m => m.displacement, place: x => [0, x]};
    const turns = {accepts: m => m.displacement <= TINY, x: m => m.rotation, place: x => [x, 0]};
    redraw(root, el("div", {class: "plots"},
        kindPlot("Drives", "Laps of moves without turn against displacement", fits, moves, drives, "displacement, m"),
        kindPlot("Turns", "Laps of turns on the spot against rotation", fits, moves, turns, "rotation, rad"),
        bothPlot(fits, moves), surfacePlot(fits, moves)));
}

export function mount(root, {pair, path, route, signal}) {
    const [values, laps, history] = places(3);
    const page = stage(root, section("Travel times", values),
        section("Laps against the fit", legend([["●", "real", "real robot, solid line"],
            ["○", "virtual", "virtual robot, dashed line"], ["▒", "unsure", "holds 95 % of the moves"]]),
            laps),
        section("Calibration over time", history));
    const story = new History(history, TERMS, "linear_speed_mps", signal, route.query);
    watch(signal, async s => {
        const [summary, fits, list, past, alarms, stored] = await Promise.all([get(path, s),
            get(`${path}/travel-time`, s), get(`${path}/entries?limit=${ENTRIES}`, s),
            get(`${path}/parameters/changes?limit=${CHANGES}`, s), get(`${path}/alarms?type=drift&limit=100`, s),
            get(`${path}/fits?limit=${FITS}`, s)]);
        return {summary, fits, entries: list.entries, changes: past.changes, drifts: alarms.alarms,
            stored: stored.fits.filter(fit => fit.model === "travel_time"),
            between: stored.between.filter(group => group.model === "travel_time")};
    }, {pair, types: ["calibration", "change"]}, ({summary, fits, entries, changes, drifts, stored, between}) => {
        if (page.say(!SIDES.some(side => fits[side]?.n > 0) && empty("No moves yet",
            `Travel times are fitted from the laps of commands. ${kindOf(summary).needs} Send some, e.g.`,
            `mosquitto_pub -q 1 -t tandem/v1/${pair}/command -m '${
                JSON.stringify({id: "c1", ...kindOf(summary).example})}'`))) {
            drawValues(values, fits);
            drawLaps(laps, fits, entries);
            story.offer(Object.fromEntries(termsOf(fits).map(name => [name, termWords(name)])),
                [...stored, fits.real, fits.virtual]);
            story.draw({stored, between, now: fits, changes, drifts});
        }
    }, page.fail);
}
