// An estimate for people, of any fit: values with their intervals, verdict, reasons, advice; checks, data summary.

import {count, decimalsFor, duration, figures, fixed, known, percent, plusMinus, unitOf, withUnit,
    wordsOf} from "./format.js";
import {el, facts, svg, table} from "./ui.js";
import {fitChip, isTooFew} from "./verdicts.js";

export const DECIMALS_MAX = 5; // of times in seconds and of ratios: more than clocks resolve

export function valueText(estimate, name) {
    const value = estimate?.values[name];
    const [low, high] = estimate?.ci95?.[name] ?? [];
    if (!known(value)) {
        return "–";
    }
    if (estimate.ci95 && !known(low) && !known(high)) {
        const unit = unitOf(name);
        return `${withUnit(unit === "s" ? fixed(value, 3) : figures(value, 3), unit)} (too few data for an interval)`;
    }
    const half = known(low) && known(high) ? (high - low) / 2 : null;
    const most = /_(s|ratio)$/.test(name) ? DECIMALS_MAX : Infinity;
    return plusMinus(value, half, unitOf(name), half === null ? null : Math.min(most, decimalsFor(half)));
}

// ---- intervals side by side ----

const WIDTH = 170;
const ROW = 9;

// 95 % intervals of a parameter, one below the other, from the lowest end to the highest.
// rows: [{words, low, value, high, kind}]; rows without an interval are left out.
export function intervalBars(rows) {
    const there = rows.filter(row => row && known(row.low) && known(row.high));
    if (there.length === 0) {
        return "";
    }
    const low = Math.min(...there.map(row => row.low));
    const high = Math.max(...there.map(row => row.high));
    const x = value => 5 + (high > low ? (value - low) / (high - low) : 0.5) * (WIDTH - 10);
    const words = there.map(row => `${row.words} ${figures(row.low)} to ${figures(row.high)}`).join(", ");
    return svg("svg", {class: "intervals", viewBox: `0 0 ${WIDTH} ${ROW * there.length + 2}`, width: WIDTH,
        height: ROW * there.length + 2, role: "img", "aria-label": words},
        there.map((row, k) => {
            const y = ROW * k + 5.5;
            return svg("g", {class: row.kind}, svg("title", {}, words),
                svg("line", {x1: x(row.low), x2: x(row.high), y1: y, y2: y}),
                svg("circle", {cx: x(row.value), cy: y, r: 3}));
        }));
}

function coded(prefix, texts, codes) {
    return texts.map((text, i) =>
        el("li", {}, prefix, text, el("code", {class: "muted"}, ` ${codes?.[i] ?? ""}`)));
}

export function verdictWords(estimate, note) {
    return [el("p", {}, fitChip(estimate.verdict, isTooFew(estimate)),
        note && el("span", {class: "muted"}, ` ${note}`)),
        el("ul", {class: "words-list"}, coded("", estimate.reasons, estimate.reason_codes),
            coded("Note: ", estimate.notes ?? [], estimate.note_codes),
            estimate.advice.map(a => el("li", {}, el("strong", {}, "Advice: "), a)))];
}

export function checkTable(title, checks) {
    return table(title, [
        {label: "Check", cell: c => c.name.replaceAll("_", " ")},
        {label: "Verdict", cell: c => fitChip(c.verdict)},
        {label: "Why", cell: c => c.detail, className: "prose"},
    ], checks);
}

// Faults of a recording are shown only if there are any.
function flaws(data) {
    const kinds = [["incomplete", "incomplete rows"], ["duplicates", "duplicates"],
        ["back_steps", "steps back in time"], ["gaps", "gaps"],
        ["missing", "missing samples"], ["jumps", "jumps"], ["short_rows", "rows of too short runs"]];
    const found = kinds.filter(([key]) => data[key] > 0).map(([key, words]) => `${count(data[key])} ${words}`);
    return found.length > 0 ? found.join(", ") : "none";
}

export function dataSummary(data) {
    return [facts([
        ["Length", duration(data.duration_s)],
        ["Samples used", `${count(data.used)} of ${count(data.rows)}`],
        ["Rate", `${withUnit(fixed(data.rate_hz, 1), "Hz")}${data.resampled ? ", resampled" : ""}`],
        ["Jitter", percent(data.jitter_ratio, 1)],
        ["Longest gap", withUnit(figures(data.gap_s_max, 2), "s")],
        ["Flaws", flaws(data)],
    ]), data.channels && table("Channels of the data", [
        {label: "Channel", cell: ([name]) => `${wordsOf(name)}, ${unitOf(name)}`},
        {label: "From", cell: ([, c]) => figures(c.min, 3), numeric: true},
        {label: "To", cell: ([, c]) => figures(c.max, 3), numeric: true},
        {label: "Spread (sd)", cell: ([, c]) => figures(c.sd, 3), numeric: true},
        {label: "Noise (sd)", cell: ([, c]) => figures(c.noise_sd, 2), numeric: true},
        {label: "Signal to noise", cell: ([, c]) => (known(c.signal_ratio) ? count(Math.round(c.signal_ratio)) : "–"),
            numeric: true},
        {label: "At its limits", cell: ([, c]) => percent(c.saturation_ratio, 1), numeric: true},
    ], Object.entries(data.channels))];
}

// ---- travel times: what their parameters mean, and how long a move takes (docs/model/travel_time.md, eq. 1) ----

export const TINY = 1e-6; // rad, m: a smaller one is no turn, no distance

export const TERMS = {
    t0_s: "delay of every command (t0)", ta_s: "starting and stopping a turn (ta)",
        tr_s: "starting and stopping a drive (tr)",
    angular_speed_radps: "angular speed", linear_speed_mps: "linear speed",
};

export function lapOf(values, rotation, displacement) {
    const turn = rotation > TINY ? (values.ta_s ?? 0) + rotation / values.angular_speed_radps : 0;
    const drive = displacement > TINY ? (values.tr_s ?? 0) + displacement / values.linear_speed_mps : 0;
    return (values.t0_s ?? 0) + turn + drive;
}

export function isWhole(fit) {
    return Boolean(fit) && Object.keys(TERMS).every(name => known(fit.values[name]));
}

// The law of a robot that accelerates: laps are no linear function of the size of moves.
export function accelerating(fit) {
    const law = fit.with_accelerations;
    return law && [el("h3", {}, "With accelerations"), table("With accelerations", [
        {label: "Parameter", cell: name => wordsOf(name)},
        {label: "Value, ± standard error", cell: name => plusMinus(law.values[name], law.se[name], unitOf(name)),
            numeric: true},
    ], Object.keys(law.values).filter(name => known(law.values[name])))];
}
