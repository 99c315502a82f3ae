// The box "Next move": how long a move takes, whether the twin may be trusted for it, and how many forecasts held.

import {get, send} from "./api.js";
import {fixed, known, percent, plural, signed, withUnit} from "./format.js";
import {el, failure, marked, muted, numberField, places, redraw, say, section, show, table} from "./ui.js";

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

// The box, and show(signal), which fetches the gauge.
export function forecastBox(path) {
    const [counted, answer] = places(2);
    const fields = [numberField("next-rotation", "Rotation, rad", 1.57),
        numberField("next-displacement", "Displacement, m", 0.5),
        numberField("next-bound", "Bound of the lag, s", 0.1)];
    async function ask(event) {
        event.preventDefault();
        const [rotation, displacement, bound] = fields.map(([, input]) => Number(input.value));
        try {
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
    const box = section("Next move", counted,
        muted("How long does this move take, and does the lag stay within the bound?"),
        el("form", {class: "bar", onsubmit: ask}, fields, el("button", {type: "submit"}, "Ask")), answer);
    return {box, show: async signal => {
        const state = await get(`${path}/forecast`, signal);
        redraw(counted, el("p", {}, gauge(state.quantities.lag)));
    }};
}
