// The law of an arm's travel times (docs/model/arm_pair.md, eq. 1): how long a move of a size takes as commanded, and
// as each arm does it; and how far measured laps are from it.

import {fixed, known} from "./format.js";
import {band, dot, line, plot} from "./plot.js";
import {el, muted} from "./ui.js";

const SIDES = ["real", "virtual"];
const STEPS = 60;
const REACH = 1.96; // standard deviations of 95 %
// Speeds and accelerations of movej and movel when a command names none.
const CLASSES = [
    {prefix: "joint", title: "Moves of joints", size: "turn of the joint that turns furthest, rad", largest: Math.PI,
        speed: 1.05, acceleration: 1.4, units: "rad/s and 1.4 rad/s²"},
    {prefix: "line", title: "Lines and arcs of the tool", size: "path of the tool, m", largest: 0.6,
        speed: 0.25, acceleration: 1.2, units: "m/s and 1.2 m/s²"},
];

export function isArmLaw(fits) {
    return SIDES.some(side => fits[side]?.values && "joint_t0_s" in fits[side].values);
}

// From rest to rest: a trapezoid of speed, or a triangle if full speed is not reached.
export function durationOf(size, speed, acceleration) {
    return size * acceleration >= speed ** 2 ? size / speed + speed / acceleration : 2 * Math.sqrt(size / acceleration);
}

// The law of a side and class: its points [size, lap], as far as the fit determines it. Moves that never reach full
// speed determine it for such moves only.
function pointsOf(fit, {prefix, largest, speed, acceleration}) {
    const [t0, v, a] = ["t0_s", "speed_ratio", "acceleration_ratio"].map(term => fit?.values[`${prefix}_${term}`]);
    if (!known(t0) || !known(a)) {
        return [];
    }
    const end = known(v) ? largest : Math.min(largest, speed ** 2 / (a * acceleration));
    return sizesTo(end).map(size => [size, t0 + durationOf(size, (known(v) ? v : 1) * speed, a * acceleration)]);
}

function sizesTo(end) {
    return Array.from({length: STEPS + 1}, (_, k) => end * k / STEPS);
}

function classPlot(fits, kind) {
    const laws = SIDES.map(side => pointsOf(fits[side], kind));
    if (laws.flat().length === 0) {
        return null;
    }
    const commanded = sizesTo(kind.largest).map(size => [size, durationOf(size, kind.speed, kind.acceleration)]);
    const most = Math.max(...[commanded, ...laws].flat().map(([, lap]) => lap));
    return el("div", {}, plot(kind.title, `${kind.title}: lap against size, as commanded and as fitted`,
        {min: 0, max: kind.largest, label: kind.size}, {min: 0, max: most * 1.08, label: "lap, s"}, scale => [
            line(scale, commanded, "commanded"),
            SIDES.map((side, k) => laws[k].length > 0 && [
                known(fits[side].residual_s_sd) && band(scale, laws[k].map(([size, lap]) => [size,
                    lap - REACH * fits[side].residual_s_sd, lap + REACH * fits[side].residual_s_sd]), `band ${side}`),
                line(scale, laws[k], `fit ${side}`)]),
        ]), muted(`Dotted: commanded ${kind.speed} ${kind.units}. A law ends where no move determines it.`));
}

// Laps of the real arm against those that the law predicted before they came.
function measuredPlot(entries) {
    const moves = entries.filter(e => known(e.real_expected_s) && known(e.real_lap_s));
    if (moves.length === 0) {
        return null;
    }
    const max = Math.max(...moves.flatMap(e => [e.real_expected_s, e.real_lap_s])) * 1.08;
    return plot("Real arm: measured against predicted", "Measured laps against those that the law predicted",
        {min: 0, max, label: "predicted lap, s"}, {min: 0, max, label: "measured lap, s"}, scale => [
            line(scale, [[0, 0], [max, max]], "fit"),
            moves.map(e => dot(scale, e.real_expected_s, e.real_lap_s, "move real",
                `move ${e.n}: ${fixed(e.real_lap_s, 3)} s, predicted ${fixed(e.real_expected_s, 3)} s`)),
        ]);
}

export function armLaw(fits, entries) {
    return [el("p", {class: "law"}, el("code", {}, "lap = t0 + T(speed ratio · v, acceleration ratio · a)"),
        " with v and a as commanded, each divided by the size of the move; ",
        el("code", {}, "T(v, a) = 1/v + v/a"), ", or ", el("code", {}, "2/√a"), " if it never reaches full speed."),
    el("div", {class: "plots"}, CLASSES.map(kind => classPlot(fits, kind)), measuredPlot(entries))];
}
