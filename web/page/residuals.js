// Residuals of a model over time and against each input, in small plots, for uploaded recordings and for live
// dynamics.

import {known, percent, unitOf, wordsOf} from "./format.js";
import {dot, line, plot} from "./plot.js";
import {el} from "./ui.js";

const BINS = 10;
const BIN_LEAST = 6; // points: fewer make no mean
const WORTH_RATIO = 0.05; // of the residual's variance: a smaller dependence is not named

export function axisTitle({name, words}) {
    const unit = unitOf(name);
    return unit ? `${words ?? wordsOf(name)}, ${unit}` : words ?? wordsOf(name);
}

// Values with some room around them.
export function bounds(...columns) {
    const values = columns.flat().filter(known);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const pad = Math.max(0.06 * (high - low), 1e-6 * Math.abs(high), 1e-9);
    return {min: low - pad, max: high + pad};
}

// Lines between neighbouring points; they break at missing values and where a run begins.
export function pieces(x, y, runs = []) {
    const list = [[]];
    y.forEach((value, k) => {
        if (!known(value) || runs.includes(k)) {
            list.push([]);
        }
        if (known(value)) {
            list.at(-1).push([x[k], value]);
        }
    });
    return list.filter(piece => piece.length > 1);
}

// Means of y over equally many points each, in the order of x: {means: [[x, y]], share}. share: the part of the
// variance of y that the means explain, less what chance explains.
export function meansAgainst(x, y) {
    const points = y.map((value, k) => [x[k], value]).filter(([a, b]) => known(a) && known(b))
        .sort((a, b) => a[0] - b[0]);
    const n = points.length;
    const bins = Math.min(BINS, Math.floor(n / BIN_LEAST));
    if (bins < 2 || points[0][0] === points[n - 1][0]) {
        return {means: [], share: 0};
    }
    const mean = list => list.reduce((sum, p) => sum + p, 0) / list.length;
    const all = mean(points.map(p => p[1]));
    const total = points.reduce((sum, p) => sum + (p[1] - all) ** 2, 0);
    let between = 0;
    const means = Array.from({length: bins}, (_, k) => {
        const bin = points.slice(Math.round(k * n / bins), Math.round((k + 1) * n / bins));
        const at = mean(bin.map(p => p[1]));
        between += bin.length * (at - all) ** 2;
        return [mean(bin.map(p => p[0])), at];
    });
    const share = total > 0 ? 1 - (1 - between / total) * (n - 1) / (n - bins) : 0;
    return {means, share: Math.max(0, share)};
}

function zero(scale, {min, max}) {
    return line(scale, [[min, 0], [max, 0]], "fit");
}

function residualPlot(title, axis, x, residual, span, draw, note) {
    const across = {...bounds(x.values), label: x.label};
    return el("div", {class: "predicted"}, plot(title, `Residual of ${axisTitle(axis)}, ${title}`, across,
        {...span, label: `residual, ${unitOf(axis.name)}`}, scale => [zero(scale, across), draw(scale)]), note);
}

// The plots of one quantity. axis: {name, words, measured, modelled}; inputs: [{name, words, values}].
export function residualPlots(axis, t, inputs, runs) {
    const residual = axis.measured.map((value, k) =>
        (known(value) && known(axis.modelled[k]) ? value - axis.modelled[k] : null));
    if (!residual.some(known)) {
        return el("p", {class: "muted"}, "The model cannot be simulated here, so there are no residuals.");
    }
    const most = Math.max(...residual.filter(known).map(Math.abs), 1e-9) * 1.08;
    const span = {min: -most, max: most};
    const varying = inputs.filter(({values}) => values.some(value => known(value) && value !== values[0]));
    return el("div", {class: "plots residuals"},
        residualPlot("over time", axis, {values: t.values, label: t.label}, residual, span,
            scale => pieces(t.values, residual, runs).map(piece => line(scale, piece, "trace residual"))),
        varying.map(input => {
            const {means, share} = meansAgainst(input.values, residual);
            return residualPlot(`against ${input.words ?? wordsOf(input.name)}`, axis,
                {values: input.values, label: axisTitle(input)}, residual, span, scale => [
                    residual.map((value, k) => known(value) && known(input.values[k])
                        && dot(scale, input.values[k], value, "move faint")),
                    line(scale, means, "trace mean")],
                share > WORTH_RATIO && el("p", {}, `Its mean changes with ${input.words ?? wordsOf(input.name)}: `,
                    el("strong", {}, `${percent(share)} of its variance`)));
        }));
}
