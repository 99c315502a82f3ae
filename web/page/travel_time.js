// The travel-time model: what its parameters mean, and how long a move takes
// (docs/model/travel_time.md, eq. 1).

import {known} from "./format.js";

export const TINY = 1e-6; // rad, m: less is no turn, no way

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
