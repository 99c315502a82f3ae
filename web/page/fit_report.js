// An uploaded recording that was fitted: values with bars, measured against modelled, residuals, held-out data, parts,
// and what was tried.

import {chart, colour, legend} from "./chart.js";
import {accelerating, checkTable, dataSummary, intervalBars, verdictWords, valueText} from "./estimate.js";
import {count, figures, fixed, known, percent, plusMinus, unitOf, withUnit, wordsOf} from "./format.js";
import {axisTitle, residualPlots} from "./residuals.js";
import {el, facts, field, marked, muted, places, section, show, table} from "./ui.js";

const PARTS = {recording: "the recording", held_out: "held out"};
const REACH = 1.96; // standard errors of a 95 % interval
const DIFFERS_P = 0.01; // of the parts of a recording
const CHANCE_LEAST = 0.001; // a smaller one is written as "below"

// "surge force" for "tau_u_n", if the recording's columns have words.
function wordsIn(result, name) {
    const curve = result.curves?.[0];
    return curve?.axes[name]?.words ?? curve?.inputs[name]?.words ?? wordsOf(name);
}

function chance(p) {
    return p < CHANCE_LEAST ? `below ${CHANCE_LEAST}` : figures(p, 2);
}

// ---- parameters ----

// The fit's interval, the wider one that holds if an effect acts which the data do not exclude, the values that
// held-out data ask for, and those of the parts that differ.
function barsOf(result, name) {
    const [low, high] = result.ci95?.[name] ?? [];
    const open = result.ci95_open?.[name];
    const asks = result.held_out?.asks_for;
    const part = (words, value, se) => ({words, low: value - REACH * se, value, high: value + REACH * se, kind: "fit"});
    return intervalBars([
        {words: "fit", low, value: result.values[name], high, kind: "real"},
        open && known(open[0]) && {words: "with effects that are not excluded", low: open[0], high: open[1],
            value: result.values[name], kind: "fit"},
        known(asks?.values[name]) && {...part("held out", asks.values[name], asks.se[name]), kind: "virtual"},
        ...(result.fit?.parts ?? []).filter(cut => cut.parameter === name).flatMap(cut =>
            cut.values.map((value, k) => part(`${cut.cut}, part ${k + 1}`, value, cut.se[k]))),
    ]);
}

function drawParameters(result) {
    const held = result.held_out?.asks_for;
    return section("Parameters", table("Fitted parameters", [
        {label: "Parameter", cell: name => wordsOf(name)},
        {label: "Value, ± 95 %", cell: name => valueText(result, name), numeric: true},
        held && {label: "Fitted to the held-out file, ± standard error", numeric: true,
            cell: name => (known(held.values[name]) ? plusMinus(held.values[name], held.se[name], unitOf(name)) : "")},
        {label: "95 % intervals", cell: name => barsOf(result, name)},
    ].filter(Boolean), Object.keys(result.values)),
    legend([["━", "real", "fit"], ["━", "reported", "its widest interval, parts of the recording"],
        held && ["╍", "virtual", `held-out data (chance ${chance(held.p)})`]].filter(Boolean)),
    derivedTable(result), accelerating(result));
}

function derivedTable({derived}) {
    const rows = Object.entries(derived ?? {}).filter(([, d]) => known(d?.value));
    return rows.length > 0 && [el("h3", {}, "Derived quantities"), table("Derived quantities", [
        {label: "Quantity", cell: ([name]) => wordsOf(name)},
        {label: "Value, ± 95 %", numeric: true, cell: ([name, {value, ci95}]) =>
            plusMinus(value, known(ci95?.[0]) ? (ci95[1] - ci95[0]) / 2 : NaN, unitOf(name))},
    ], rows)];
}

// ---- measured against modelled ----

// Rows of a chart, with a gap before each run.
function rowsOf(t, axis, runs) {
    const rows = [];
    t.values.forEach((at, k) => {
        if (k > 0 && runs.includes(k)) {
            rows.push([at, null, null]);
        }
        rows.push([at, axis.measured[k], axis.modelled[k]]);
    });
    return rows;
}

function timeOf({t_s: times, axes}) {
    return times.length > 0 ? {values: times, label: "time, s"}
        : {values: Object.values(axes)[0].measured.map((_, k) => k + 1), label: "move"};
}

function axisBlock(name, axis, curve, signal) {
    const t = timeOf(curve);
    const box = el("div", {class: "trace"}, el("h3", {}, axisTitle({name, ...axis})));
    const lines = chart(box, {label: `${axisTitle({name, ...axis})}, measured and modelled`, height: "13rem", signal,
        options: () => ({labels: [t.label, "measured", "modelled"], colors: ["behind", "virtual"].map(colour),
            series: {modelled: {strokePattern: [6, 4]}}, connectSeparatedPoints: false, xlabel: t.label,
            axes: {y: {axisLabelWidth: 62}}, yRangePad: 8})});
    lines.draw(rowsOf(t, axis, curve.runs));
    const inputs = Object.entries(curve.inputs).map(([input, {words, values}]) => ({name: input, words, values}));
    return [box, residualPlots({name, ...axis}, t, inputs, curve.runs)];
}

function drawCurve(root, curve, signal) {
    show(root, curve.every > 1 && muted(`${count(curve.samples)} samples. Of each ${count(curve.every)} the one with `,
        "the largest residual is drawn."),
    Object.entries(curve.axes).map(([name, axis]) => axisBlock(name, axis, curve, signal)));
}

function drawCurves(curves, signal) {
    const body = el("div", {});
    const choice = el("select", {id: "curve", onchange: () => drawCurve(body, curves[choice.value], signal)},
        curves.map((curve, k) => el("option", {value: k}, `${curve.name}, ${PARTS[curve.part]}`)));
    drawCurve(body, curves[0], signal);
    return section("Measured against model", el("div", {class: "bar"},
        curves.length > 1 && field("Recording", choice),
        legend([["━", "behind", "measured"], ["╍", "virtual", "modelled, from the inputs alone"],
            ["━", "accent", "mean of the residual"]])), body);
}

// ---- how well it predicts ----

function predictionRows(result) {
    return [["the recording", result.fit], ["held out", result.held_out]].flatMap(([words, check]) =>
        Object.entries(check?.simulated ?? {}).map(([name, s]) => ({of: words, name, words: wordsIn(result, name),
            ...s})));
}

function predictionTable(result) {
    const rows = predictionRows(result);
    const v = result.validation;
    return [rows.length > 0 && table("How well the model predicts", [
        {label: "Of", cell: row => row.of},
        {label: "Quantity", cell: row => axisTitle(row)},
        {label: "RMS error", cell: row => figures(row.rmse, 3), numeric: true},
        {label: "R²", cell: row => (row.r2 < 0 ? "below 0" : fixed(row.r2, 4)), numeric: true},
        {label: "Residual", cell: row => (row.white ? marked("●", "sync", "white noise")
            : marked("▲", "behind", "has structure"))},
    ], rows), v && facts([["Held-out moves", count(v.n)], ["RMS error", withUnit(figures(v.rmse_s, 3), "s")],
        ["R²", fixed(v.r2, 4)], ["Chance", chance(v.p)]])];
}

function partsSection(result) {
    const parts = result.fit?.parts ?? [];
    return parts.length > 0 && section("Parts of the recording", muted("Each part is fitted by itself. A small chance ",
        "says that the parts differ by more than their errors allow."), table("Parts of the recording", [
        {label: "Cut by", cell: c => (c.effort ? `${c.cut} of ${wordsIn(result, c.effort)}` : c.cut)},
        {label: "Chance", cell: c => (c.p < DIFFERS_P ? marked("▲", "behind", chance(c.p))
            : marked("●", "sync", chance(c.p)))},
        {label: "Differs most", cell: c => wordsOf(c.parameter)},
        {label: "In each part, ± standard error", cell: c => c.values.map((value, k) => plusMinus(value, c.se[k],
            unitOf(c.parameter))).join("; ")},
        {label: "95 % intervals", cell: c => intervalBars(c.values.map((value, k) => ({words: `part ${k + 1}`, value,
            low: value - REACH * c.se[k], high: value + REACH * c.se[k], kind: "real"})))},
    ], parts));
}

// ---- what was tried ----

const HOLDS = {zoh: "an effort acts until the next row", linear: "efforts change linearly between rows"};

function triedSection(result) {
    const options = result.provenance?.options ?? {};
    const windows = Object.entries(result.filter_sensitivity ?? {}).filter(([, value]) => value?.shift_se);
    const method = result.method?.replaceAll("_", " ");
    return section("What was tried", facts([
        method && ["Method", options.method && options.method !== result.method
            ? `${method}, chosen by ${options.method}` : method],
        known(result.iterations) && ["Iterations", `${count(result.iterations)}, ended: ${result.stop}`],
        options.hold && ["Between rows", HOLDS[options.hold] ?? options.hold],
        options.variant && ["Variant", `${options.variant.replaceAll("_", " ")} = ${figures(options.variant_value)}`],
        known(result.delay_s?.value) && ["Delay found", withUnit(fixed(result.delay_s.value, 4), "s")],
        ["Outliers", options.robust ? "replaced" : "none taken out"],
    ]), el("ul", {class: "words-list"}, (result.notes ?? []).map(note => el("li", {}, note)),
        windows.map(([name, {window_s: seconds, shift_se: shift}]) => el("li", {},
            `${name.replaceAll("_", " ")} the window, ${withUnit(figures(seconds, 2), "s")}: values move by up to `,
            `${figures(Math.max(...Object.values(shift).filter(known).map(Math.abs), 0), 2)} standard errors`))));
}

// ---- the whole ----

export function drawFit(root, result, signal) {
    const note = [`${count(result.n)} ${result.rows ? "samples" : "moves"}`,
        result.method && `method ${result.method.replaceAll("_", " ")}`,
        result.stop && `ended: ${result.stop}`].filter(words => words).join(", ");
    const curves = (result.curves ?? []).filter(curve => Object.keys(curve.axes).length > 0);
    const [measured] = places(1);
    show(root, section("How far to trust it", verdictWords({...result, notes: []}, note), predictionTable(result),
        known(result.fit?.effort_r2) && el("p", {}, `Of the efforts' variance the model explains ${
            percent(result.fit.effort_r2, 1)}.`),
        result.checks?.length > 0 && checkTable("Checks", result.checks)),
    drawParameters(result), measured, partsSection(result), triedSection(result),
    result.data && section("The recording", dataSummary(result.data)));
    if (curves.length > 0) {
        show(measured, drawCurves(curves, signal));
    }
}
