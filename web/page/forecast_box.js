// The box "Next move": how long a move takes, whether the twin may be trusted for it, how many forecasts held, and of
// moves of which sizes.

import {Problem, get, send} from "./api.js";
import {legend} from "./chart.js";
import {fixed, known, percent, plural, signed, withUnit} from "./format.js";
import {dot, plot, square} from "./plot.js";
import {el, failure, marked, muted, numberField, places, redraw, say, section, show, table} from "./ui.js";

const MAPPED = 200; // latest moves in the map

const ANSWERS = {yes: ["✓", "sync", "Yes"], no: ["✕", "bad", "No"], "not known": ["?", "unsure", "Not known"]};
const QUANTITIES = [["real_lap", "Real lap"], ["virtual_lap", "Virtual lap"], ["lag", "Lag"]];

function ends(q) {
    const [low, high] = [q.low_s, q.high_s].map(s => (known(s) ? signed(s, 3) : "open"));
    return q.basis === "none" ? "not known yet" : withUnit(`${low} … ${high}`, "s");
}

const COLUMNS = [
    {label: "", cell: ([, name]) => name},
    {label: "Expected, s", cell: ([q]) => fixed(q.expected_s, 3), numeric: true},
    {label: "95 % within", cell: ([q]) => ends(q), className: "nowrap"},
    {label: "", cell: ([q]) => q.beyond ?? "", className: "muted"},
];

function gauge({held, of, held_ci95}) {
    return of === 0 ? "No predicted lag was judged yet: the first one comes after 21 moves."
        : `${held} of the last ${plural(of, "predicted lag")} held, so ${percent(held_ci95[0])} to ` +
            `${percent(held_ci95[1])} of all do. It should be 95 %.`;
}

function holds(e) {
    return (!known(e.lag_low_s) || e.lag_s >= e.lag_low_s) && (!known(e.lag_high_s) || e.lag_s <= e.lag_high_s);
}

// The latest moves by their sizes show where predictions hold. Null while no lag was predicted.
function rangeMap(entries) {
    const moves = entries.filter(e => [e.lag_s, e.lag_expected_s, e.rotation_rad, e.displacement_m].every(known))
        .map(e => ({turn: Math.abs(e.rotation_rad), drive: Math.abs(e.displacement_m), held: holds(e), e}));
    if (moves.length === 0) {
        return null;
    }
    const axis = (key, label) => {
        const largest = Math.max(...moves.map(m => m[key])) || 1;
        return {min: -0.04 * largest, max: 1.06 * largest, label};
    };
    const held = moves.filter(m => m.held).length;
    const title = ({e}) => `move ${e.n}: lag ${withUnit(signed(e.lag_s, 3), "s")}, 95 % within ` +
        ends({low_s: e.lag_low_s, high_s: e.lag_high_s});
    return el("div", {class: "holds"},
        plot("Sizes of the moves whose lag was predicted",
            `${plural(moves.length, "move")} by rotation and displacement; ${held} of these lags were as predicted`,
            axis("turn", "rotation, rad"), axis("drive", "displacement, m"),
            scale => moves.map(m => (m.held ? dot(scale, m.turn, m.drive, "move", title(m))
                : square(scale, m.turn, m.drive, "missed", title(m))))),
        legend([["●", "real", "the lag was within its 95 %"], ["□", "bad", "it was not"]]));
}

// [least, most] of each field of the question, as the daemon accepts them.
const LIMITS = [[-1e6, 1e6], [-1e9, 1e9], [1e-6, 1e9]];

// The fields as numbers; the error names the first one that has none, or one that is not allowed.
function readFields(fields) {
    return fields.map(([label, input], k) => {
        const [least, most] = LIMITS[k];
        const value = input.value === "" ? NaN : Number(input.value);
        if (!(value >= least && value <= most)) {
            throw new Problem(0, "This cannot be asked", `${label.textContent}: ${input.value || "nothing"} was given, `
                + `a number from ${least} to ${most} would be right.`);
        }
        return value;
    });
}

// The box, and show(signal), which fetches the gauge and the map. It is for robots whose moves have these sizes.
export function forecastBox(path) {
    const [counted, answer, map] = places(3);
    const fields = [numberField("next-rotation", "Rotation, rad", 1.57),
        numberField("next-displacement", "Displacement, m", 0.5),
        numberField("next-bound", "Bound of the lag, s", 0.1)];
    async function ask(event) {
        event.preventDefault();
        try {
            const [rotation, displacement, bound] = readFields(fields);
            const [move, trust] = await Promise.all([
                get(`${path}/forecast?rotation_rad=${rotation}&displacement_m=${displacement}`),
                send("POST", `${path}/forecast`,
                    {moves: [{rotation_rad: rotation, displacement_m: displacement}], bound_s: bound})]);
            const [sign, tone, word] = ANSWERS[trust.answer];
            show(answer, el("p", {class: "notice"}, marked(sign, tone, `${word}: ${trust.why}`)),
                table("Forecast of the move", COLUMNS, QUANTITIES.map(([key, name]) => [move[key], name])));
            say(`${word}: ${trust.why}`);
        } catch (error) {
            show(answer, failure(error));
        }
    }
    const question = el("div", {}, muted("How long does this move take, and does the lag stay within the bound?"),
        el("form", {class: "bar", onsubmit: ask}, fields, el("button", {type: "submit"}, "Ask")));
    const box = section("Next move", counted, question, answer, map);
    return {box, show: async signal => {
        const [state, latest] = await Promise.all([get(`${path}/forecast`, signal),
            get(`${path}/entries?limit=${MAPPED}`, signal)]);
        redraw(counted, el("p", {}, gauge(state.quantities.lag)));
        redraw(map, rangeMap(latest.entries));
    }};
}
