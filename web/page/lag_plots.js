// Lags as a histogram, and against the size of the move; those of another time or pair over them.

import {legend} from "./chart.js";
import {fixed, known, percent, plural, signed, withUnit} from "./format.js";
import {line, plot, ticks} from "./plot.js";
import {append, el, muted, svg} from "./ui.js";
import {verdictOf} from "./verdicts.js";

const BARS = 36;
const WORDS_RIGHT = 300; // words that begin further on the right would be cut
const MIDDLE = [0.05, 0.95]; // shares of the lags below the ends that are put into words

const seconds = s => withUnit(signed(s, 3), "s");

function quantile(sorted, share) {
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

// Edges of the bars: nine of ten lags and as much again on both sides, so that single ones far out do not hide the
// rest.
function edgesOf(sorted) {
    const [low, high] = MIDDLE.map(share => quantile(sorted, share));
    const span = high - low || Math.abs(high) || 0.001;
    const [from, to] = [Math.max(sorted[0], low - span), Math.min(sorted.at(-1), high + span)];
    const steps = ticks(from, to > from ? to : from + span, BARS);
    const step = steps[1] - steps[0];
    return Array.from({length: Math.floor((to - steps[0]) / step) + 3}, (_, k) => steps[0] + (k - 1) * step);
}

// How many lags each bar has; those beyond the edges are in none.
function countsOf(lags, edges) {
    const counts = new Array(edges.length - 1).fill(0);
    const step = edges[1] - edges[0];
    for (const lag of lags) {
        const k = Math.floor((lag - edges[0]) / step);
        if (k >= 0 && k < counts.length) {
            counts[k]++;
        }
    }
    return counts;
}

// The upper outline of bars as points.
function outline(heights, edges) {
    return [[edges[0], 0], ...heights.flatMap((h, k) => [[edges[k], h], [edges[k + 1], h]]), [edges.at(-1), 0]];
}

function bands(scale, tolerance, most) {
    return [-tolerance, tolerance].map((s, k) => [line(scale, [[s, 0], [s, most]], "edge"),
        k === 1 && svg("text", {...scale.x(s) > WORDS_RIGHT ? {x: scale.x(s) - 4, "text-anchor": "end"}
            : {x: scale.x(s) + 4}, y: scale.y(0.94 * most) - 4}, "SYNC ends")]);
}

// sets: [{name, lags}], of one or two; two are compared by their shares.
function histogram(sets, tolerance) {
    const edges = edgesOf(sets.flatMap(set => set.lags).sort((a, b) => a - b));
    const share = sets.length > 1;
    const counts = sets.map(({lags}) => countsOf(lags, edges));
    const beyond = sets.map(({name, lags}, k) => [name, lags.length - counts[k].reduce((sum, n) => sum + n, 0)])
        .filter(([, n]) => n > 0);
    const heights = counts.map((bars, k) => bars.map(n => (share ? 100 * n / (sets[k].lags.length || 1) : n)));
    const most = 1.08 * Math.max(1, ...heights.flat());
    const figure = plot("How often each lag came", `Histogram of lags: ${sets.map(wordsOf).join(" ")}`,
        {min: edges[0], max: edges.at(-1), label: "lag, s"},
        {min: 0, max: most, label: share ? "share of its moves, %" : "moves"}, scale => [
            heights[0].map((h, k) => svg("rect", {class: "column", x: scale.x(edges[k]) + 0.5, y: scale.y(h),
                width: Math.max(1, scale.x(edges[k + 1]) - scale.x(edges[k]) - 1), height: scale.y(0) - scale.y(h)},
            svg("title", {}, `${signed(edges[k], 3)} to ${seconds(edges[k + 1])}: ${share
                ? `${fixed(h, 1)} %` : plural(h, "move")}`))),
            heights.slice(1).map(part => line(scale, outline(part, edges), "other")),
            bands(scale, tolerance, most),
        ]);
    return append(figure, beyond.length > 0 && muted(`Beyond the axis: ${beyond.map(([name, n]) =>
        `${plural(n, "lag")}${share ? ` of ${name}` : ""}`).join(", ")}.`));
}

// The spread of a set of lags.
function wordsOf({name, lags}) {
    const sorted = [...lags].sort((a, b) => a - b);
    return sorted.length === 0 ? `${name}: no lag.` : `${name}: ${plural(sorted.length, "lag")}, median `
        + `${seconds(quantile(sorted, 0.5))}, nine of ten from ${MIDDLE.map(share =>
            seconds(quantile(sorted, share))).join(" to ")}.`;
}

// ---- lag against size ----

// The moves with a lag that have this size at all.
function sized(entries, field) {
    return entries.filter(e => known(e.lag_s) && Math.abs(e[field] ?? 0) > 0);
}

function mark(scale, e, field) {
    const {sign, tone} = verdictOf(e.verdict);
    return svg("text", {class: `sign tone-${tone}`, x: scale.x(Math.abs(e[field])), y: scale.y(e.lag_s) + 3.5,
        "text-anchor": "middle"}, svg("title", {}, `move ${e.n}: ${e.verdict}, lag ${seconds(e.lag_s)}`), sign);
}

function againstSize(sets, field, [word, unit]) {
    const [main, ...others] = sets.map(set => sized(set.entries, field));
    const all = [main, ...others].flat();
    if (all.length === 0) {
        return null;
    }
    const lags = all.map(e => e.lag_s);
    const [low, high] = [Math.min(0, ...lags), Math.max(0, ...lags)];
    const pad = 0.08 * (high - low) || 0.01;
    const largest = Math.max(...all.map(e => Math.abs(e[field])));
    const sizeless = sets[0].lags.length - main.length;
    const figure = plot(`Lag against ${word}`, `Lags of ${plural(main.length, "move")} against their ${word}`,
        {min: 0, max: 1.06 * largest, label: `${word}, ${unit}`}, {min: low - pad, max: high + pad, label: "lag, s"},
        scale => [line(scale, [[0, 0], [1.06 * largest, 0]], "edge"),
            others.flat().map(e => svg("circle", {class: "other", cx: scale.x(Math.abs(e[field])),
                cy: scale.y(e.lag_s), r: 3.4}, svg("title", {}, `the other, move ${e.n}: lag ${seconds(e.lag_s)}`))),
            main.map(e => mark(scale, e, field))]); // signs are above circles
    return append(figure, sizeless > 0 && muted(`Left out: ${plural(sizeless, "move")} without a ${word}.`));
}

// ---- both ----

// sets: [{name, entries, total}], those shown first, then those compared with them; total: moves of that time.
// sizes: field of an entry -> [word, unit]; field: the one that is plotted
export function lagPlots(sets, tolerance, sizes, field) {
    const drawn = sets.map(set => ({...set, lags: set.entries.map(e => e.lag_s).filter(known)}));
    if (drawn.every(set => set.lags.length === 0)) {
        return muted("No lags in the time shown.");
    }
    return [drawn.filter(set => set.total > set.entries.length).map(set => muted(`${set.name}: only the newest `
        + `${plural(set.entries.length, "move")} of ${fixed(set.total, 0)} are counted here, `
        + `${percent(set.entries.length / set.total)} of them. Show less time for all of them.`)),
    el("p", {class: "muted"}, drawn.map(set => `${wordsOf(set)} `)),
    drawn.length > 1 && legend([["▮", "forecast", `${drawn[0].name}: bars, signs of verdicts`],
        ["○", "forecast", `${drawn[1].name}: outline, circles`]]),
    el("div", {class: "plots"}, histogram(drawn, tolerance), againstSize(drawn, field, sizes[field])
        ?? muted(`No move of the time shown has a ${sizes[field][0]}.`))];
}
