// Words that differ between wheels, vessels, arms and other machines: sizes of their moves, and which moves tell
// something new. The API names the kind of a pair.

import {sentence} from "./format.js";

const MOVES = {rotation_rad: ["turn", "rad"], displacement_m: ["drive", "m"]};
const GO = {op: "go", rotation_rad: 1.57, displacement_m: 0.5};

// Moves that a robot has done: it both turns and drives.
function turnsAndDrives({trust}) {
    return trust.rotation_rad[0] !== null && trust.displacement_m[0] !== null;
}

// sizes: field of an entry -> [word, unit], the usual one first; straight: moves without a turn; example: a command;
// needs: moves that a fit needs; plans(pair): whether the daemon plans the next move; next: that one in words
const KINDS = {
    wheels: {sizes: MOVES, straight: "drives", example: GO, plans: () => true,
        needs: "About twenty are needed: turns on the spot, straight drives, and moves that do both, each of several "
            + "sizes.",
        next: (turn, way) => `Turn ${turn}, drive ${way}. `},
    vessel: {sizes: {displacement_m: ["distance", "m"], rotation_rad: ["turn", "rad"]}, straight: "legs", example: GO,
        plans: () => true,
        needs: "About twenty are needed: turns, straight legs, and moves that do both, each of several sizes.",
        next: (turn, way) => `Turn ${turn}, go ${way} straight on. `},
    arm: {sizes: {rotation_rad: ["largest joint turn", "rad"], displacement_m: ["way of the tool", "m"]},
        plans: () => false, example: {op: "movej", q_rad: [0, -1.57, -1.57, -1.57, 1.57, 0]},
        needs: "About a dozen are needed of each kind: movej with short and long turns of joints, movel with short "
            + "and long ways of the tool."},
    other: {sizes: MOVES, straight: "drives", example: GO, plans: turnsAndDrives,
        needs: "About twenty are needed, of several sizes.", next: (turn, way) => `Turn ${turn}, drive ${way}. `},
};

// pair: its summary, as the API has it
export function kindOf(pair) {
    return KINDS[pair.arm ? "arm" : {diffdrive: "wheels", usv3: "vessel"}[pair.kind] ?? "other"];
}

// Whether efforts move it, not commands, so that it has no laps.
export function isByEfforts(pair) {
    return pair.entries === 0 && Boolean(pair.dynamics || pair.following);
}

// The first reason of a fit's verdict and the first advice, which may refer to it; "": none.
export function adviceOf(fit) {
    return [fit?.reasons[0], fit?.advice[0]].filter(Boolean).map(sentence).join(" ");
}

// Advice on efforts that tell most about the dynamics of the real robot. dynamics: as the API has it; null: they are
// not estimated
export function effortAdvice(dynamics) {
    const {obstacle, fit} = dynamics?.real ?? {};
    return obstacle ? `Nothing is estimated: ${obstacle}.`
        : fit?.advice[0] ? adviceOf(fit)
        : fit?.verdict === "PASS" ? "Nothing: the fit of its dynamics is PASS."
        : dynamics ? "Efforts that change often, on each axis by itself and on several at once."
        : "Efforts as its work needs them: the tab Following shows how closely the twin follows.";
}
