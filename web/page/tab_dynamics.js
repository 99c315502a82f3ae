// Masses, drag and other dynamics of both robots, estimated while the robots run.

import {get, send} from "./api.js";
import {legend} from "./chart.js";
import {checkTable, dataSummary, intervalBars, valueText, verdictWords} from "./estimate.js";
import {changeText, count, dateTime, figures, known, plural, plusMinus, unitOf, withUnit,
    wordsOf} from "./format.js";
import {FITS, History} from "./history.js";
import {line, plot} from "./plot.js";
import {axisTitle, bounds, pieces, residualPlots} from "./residuals.js";
import {modelOf} from "./pair_state.js";
import {confirm} from "./token.js";
import {el, empty, facts, failure, marked, places, redraw, say, section, show, stage, symbol,
    table} from "./ui.js";
import {watch} from "./watch.js";

const SIDES = ["real", "virtual"];
const STATES = {
    collecting: ["◇", "unsure", "collecting samples"], fitting: ["◇", "unsure", "being fitted"],
    following: ["●", "sync", "followed sample by sample"], suspicious: ["▲", "behind", "something may have changed"],
};
const ASK_MS = 500;
const JOB_MS = 120000;
const CHANGES = 200;
// Why a sample was not used (docs/model/online.md).
const GATES = {not_excited: "without new information", waiting: "in a waiting time after a gap",
    incomplete: "with missing values", no_effort: "without an effort", duplicate: "repeated",
    out_of_order: "out of order", stale: "too old", gap: "after a gap", saturated: "at a limit", outlier: "outliers"};

function drawEstimates(root, dynamics) {
    const {real, virtual} = dynamics;
    const rows = name => intervalBars([["real", real.estimate, "real"], ["real, last fit", real.fit, "fit"],
        ["virtual", virtual.estimate, "virtual"]].map(([words, e, kind]) => ({words, kind, value: e?.values[name],
        low: e?.ci95[name]?.[0], high: e?.ci95[name]?.[1]})));
    const old = name => SIDES.filter(side => dynamics[side].estimate
        && !dynamics[side].estimate.excited.includes(name));
    redraw(root, table("Parameters of both robots with 95 % intervals", [
        {label: "Parameter", cell: p => [wordsOf(p.name), el("small", {}, ` ${p.symbol}`)], className: "nowrap"},
        {label: "Real, ± 95 %", cell: p => valueText(real.estimate, p.name), numeric: true},
        {label: "Real, last fit, ± 95 %", cell: p => valueText(real.fit, p.name), numeric: true},
        {label: "Virtual, ± 95 %", cell: p => valueText(virtual.estimate, p.name), numeric: true},
        {label: "Virtual against real", numeric: true,
            cell: p => changeText(real.estimate?.values[p.name], virtual.estimate?.values[p.name])},
        {label: "95 % intervals", cell: p => rows(p.name)},
        {label: "", cell: p => (old(p.name).length > 0
            ? el("small", {class: "nowrap"}, `${old(p.name).join(" and ")}: recent motion has no information`) : "")},
    ], dynamics.parameters));
}

// ---- one robot ----

function driftWords({suspected, found, looking, last}) {
    if (!last) {
        return looking ? "a change is being looked into"
            : `none found${suspected > 0 ? `, ${count(suspected)} suspected and dismissed` : ""}`;
    }
    const unit = unitOf(last.parameter);
    return `${wordsOf(last.parameter)} changed from ${plusMinus(last.before, 1.96 * last.before_se, unit)} to `
        + `${plusMinus(last.after, 1.96 * (last.after_se ?? NaN), unit)}, since ${dateTime(last.since_t)} `
        + `(${plural(found, "change")} in all)`;
}

function gateWords(gates) {
    const others = Object.entries(gates).filter(([name, n]) => name !== "used" && n > 0)
        .map(([name, n]) => `${count(n)} ${GATES[name] ?? name.replaceAll("_", " ")}`);
    return `${count(gates.used)} used${others.length > 0 ? `; ${others.join(", ")}` : ""}`;
}

function sidePanel(side, report, fitNow) {
    const [sign, tone, words] = STATES[report.state];
    const {fit} = report;
    return section(`${side[0].toUpperCase()}${side.slice(1)} robot`,
        el("p", {}, marked(sign, tone, words),
            report.estimate && el("span", {class: "muted"}, `, consistent: ${report.innovations?.consistent ? "yes"
                : "no"}`)),
        report.obstacle && el("p", {class: "notice"}, symbol("◇", "sign tone-unsure"),
            ` Nothing is estimated: ${report.obstacle}`),
        facts([["Changes", driftWords(report.drift)], ["Samples", gateWords(report.gates)],
            ["In the window", count(report.window_samples)]], "facts wide"),
        el("div", {class: "bar"}, el("button", {type: "button", disabled: report.job !== null,
            onclick: () => fitNow(side)},
            report.job ? `Fit ${report.job.number} is under way` : "Fit now …")),
        fit ? [el("h3", {}, `Fit ${fit.number}, ${dateTime(fit.t)}`),
            verdictWords(fit, `${count(fit.n)} samples, method ${fit.method.replaceAll("_", " ")}, ended: ${fit.stop}`),
            fit.checks?.length > 0 && checkTable(`Checks of the ${side} robot's fit`, fit.checks),
            fit.data && el("details", {}, el("summary", {}, "Data summary"), dataSummary(fit.data))]
            : el("p", {class: "muted"}, "No fit yet. The first one is made as soon as the motion determines the ",
                "parameters."));
}

// ---- measured against model ----

function derived({value, ci95: [low, high]}, unit) {
    return plusMinus(value, known(low) && known(high) ? (high - low) / 2 : NaN, unit);
}

// "1 N more of surge force makes it 0.0145 m/s faster, 63 % of that within 1.8 s."
function responseWords(name, axis) {
    const unit = unitOf(name);
    if (!known(axis.gain.value) || !known(axis.time_constant_s.value)) {
        return "About this speed the model does not settle: it has neither gain nor time constant there.";
    }
    return [`About ${withUnit(figures(axis.speed, 3), unit)}, ${withUnit("1", unitOf(axis.effort))} more of `,
        `${axis.effort_words} makes ${axis.words} `, el("strong", {class: "nowrap"}, derived(axis.gain, unit)),
        " higher in the end (gain). 63 % of that are reached after ",
        el("strong", {class: "nowrap"}, derived(axis.time_constant_s, "s")), " (time constant)."];
}

function axisPlot(name, axis, t) {
    const unit = unitOf(name);
    const words = `${axis.words[0].toUpperCase()}${axis.words.slice(1)}`;
    const length = t.at(-1) - t[0];
    return el("div", {class: "predicted"},
        plot(words, `${words}, measured and simulated, over ${figures(length, 3)} seconds`,
            {min: t[0], max: t.at(-1), label: "time, s"},
            {...bounds(axis.measured, axis.simulated), label: `${axis.words}, ${unit}`},
            scale => [pieces(t, axis.measured).map(piece => line(scale, piece, "trace measured")),
                pieces(t, axis.simulated).map(piece => line(scale, piece, "trace simulated"))]),
        el("p", {class: "muted"}, responseWords(name, axis),
            known(axis.rmse) && ` Off by ${withUnit(figures(axis.rmse, 2), unit)} (RMS over the whole window).`));
}

// Residuals of each velocity over time and against each effort.
function residualDetails(axes, times) {
    const inputs = Object.values(axes).map(({effort, effort_words: words, effort_values: values}) =>
        ({name: effort, words, values}));
    const t = {values: times, label: "time, s"};
    return el("details", {}, el("summary", {}, "Residuals over time and against each effort"),
        Object.entries(axes).map(([name, axis]) => [el("h3", {}, axisTitle({name, words: axis.words})),
            residualPlots({name, ...axis, modelled: axis.simulated}, t, inputs)]));
}

function drawPrediction(root, prediction) {
    const there = SIDES.filter(side => prediction?.[side]);
    redraw(root, there.length === 0
        ? el("p", {class: "muted"}, "Nothing to show yet: the first fit that can be simulated brings it.")
        : [legend([["━", "reported", "measured"], ["╍", "virtual", "the model, from the efforts alone"],
            ["━", "accent", "mean of the residual"]]),
            there.map(side => {
                const {fit, t, t_s: times, axes} = prediction[side];
                return [el("h3", {}, `${side[0].toUpperCase()}${side.slice(1)} robot, fit ${fit}, ${dateTime(t)}: `
                    + `the newest ${withUnit(figures(times.at(-1) - times[0], 3), "s")} of its samples`),
                el("div", {class: "plots"}, Object.entries(axes).map(([name, axis]) => axisPlot(name, axis, times))),
                residualDetails(axes, times)];
            })]);
}

// ---- a fit now ----

async function follow(id, notice) {
    const until = performance.now() + JOB_MS;
    for (;;) {
        const job = await get(`identify/${id}`);
        const text = job.state === "running" ? `The fit is under way: ${Math.round(job.progress * 100)} %${job.stage
            ? `, ${job.stage}` : ""}`
            : job.state === "failed" ? `The fit failed: ${job.error?.text}` : `The fit is ${job.state}.`;
        show(notice, el("p", {class: "notice"}, text));
        if (!["running", "queued"].includes(job.state) || performance.now() > until) {
            say(text);
            return;
        }
        await new Promise(done => setTimeout(done, ASK_MS));
    }
}

export function mount(root, {pair, path, route, signal}) {
    const notice = el("div", {role: "status"});
    const estimates = el("div", {});
    const sides = el("div", {class: "columns"});
    const title = el("p", {class: "muted"});
    const [against, history] = places(2);
    const page = stage(root, notice, section("Parameters", title, estimates),
        section("Measured against model", against), section("Fits over time", history), sides);
    let story = null;
    const fitNow = side => confirm(`Fit the ${side} robot now?`, el("p", {},
        "The samples of the window are fitted as they are now, in the background. If the real robot's fit "
            + "passes its checks it becomes a candidate; nothing goes into force by that."),
    "Fit now", async () => {
        const {id} = await send("POST", `${path}/identify`, {side});
        follow(id, notice).catch(error => show(notice, failure(error)));
    });
    watch(signal, async s => {
        const summary = await get(path, s);
        if (!summary.dynamics) {
            return {summary};
        }
        const [dynamics, prediction, stored, past, alarms] = await Promise.all([get(`${path}/dynamics`, s),
            get(`${path}/dynamics/prediction`, s), get(`${path}/fits?limit=${FITS}`, s),
            get(`${path}/parameters/changes?limit=${CHANGES}`, s), get(`${path}/alarms?type=drift&limit=100`, s)]);
        return {dynamics, prediction, stored: stored.fits.filter(fit => fit.model === dynamics.model),
            between: stored.between.filter(group => group.model === dynamics.model),
            changes: past.changes.filter(change => change.set?.model === dynamics.model), drifts: alarms.alarms};
    }, {pair, types: ["dynamics"], everyMs: 3000}, ({summary, dynamics, prediction, stored, between,
        changes, drifts}) => {
        if (page.say(!dynamics && empty("The dynamics of this pair are not followed",
            "To learn masses, drag and the like from telemetry while the robots run, say by which model in the lab "
                + "file and start the daemon again:",
            `pairs:\n  ${pair}:\n    dynamics: {model: ${modelOf(summary)}}`))) {
            show(title, `Model ${dynamics.model}, fitted by ${dynamics.method}. `
                + "Sets for the simulator are promoted under Parameters.");
            drawEstimates(estimates, dynamics);
            drawPrediction(against, prediction);
            story ??= new History(history, Object.fromEntries(dynamics.parameters.map(p => [p.name, wordsOf(p.name)])),
                dynamics.parameters[0].name, signal, route.query);
            story.draw({stored, between, now: {}, changes, drifts});
            redraw(sides, SIDES.filter(side => dynamics[side]).map(side => sidePanel(side, dynamics[side], fitNow)));
        }
    }, page.fail);
}
