// The state of a pair in words and signs: what the overview and the head of a pair's page share.

import {ago, count, duration, figures, fixed, known, percent, plural, plusMinus, signed, withUnit} from "./format.js";
import {kindOf} from "./kinds.js";
import {el, marked, symbol} from "./ui.js";
import {fitSign, isTooFew, verdictChip, verdictOf, verdictsOf} from "./verdicts.js";

const FRESH_S = 60; // an alarm counts as new for this time
const RECENT_S = 900;
const FAR_RATIO = 0.5; // of the moves AHEAD or BEHIND: worth a look
const FAILED_RATIO = 0.1;
const ENOUGH = 10; // moves before shares mean something

export const LEVELS = [
    {name: "trouble", label: "in trouble", sign: "✕", tone: "bad"},
    {name: "watch", label: "to watch", sign: "▲", tone: "behind"},
    {name: "well", label: "OK", sign: "●", tone: "sync"},
    {name: "quiet", label: "quiet", sign: "○", tone: "unsure"},
];

export function sumOf(counts) {
    return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

// The share of verdicts with one of these tones.
function share(counts, ...tones) {
    const all = sumOf(counts);
    const some = verdictsOf(counts).filter(v => tones.includes(v.tone));
    return all === 0 ? 0 : some.reduce((sum, v) => sum + counts[v.name], 0) / all;
}

// The share of the last moves that were apart or failed; null before any.
export function shareApart(pair) {
    return sumOf(pair.recent_verdicts) > 0 ? share(pair.recent_verdicts, "ahead", "behind", "bad") : null;
}

// Advice in one line.
const TIMEOUT = "see which robot does not answer, and whether timeout_s allows for its longest move";
const DIFFERS = "see what differs; tolerances and correct: each_move of the lab file may be what it needs";
const FOLLOWING = "look at Following: which robot is silent, what is missing, who is at a limit";
const ADVICE = {
    timeout: TIMEOUT, late: TIMEOUT, inconsistent: DIFFERS, following: FOLLOWING, fidelity: FOLLOWING,
    duplicate: "a robot answers twice, or an id is used twice: look at its replies",
    out_of_context: "a reply to no command: do robots and controller use the same ids?",
    malformed: "a message violates the protocol: the alarm names the right form",
    queue_overflow: "send the next command after the previous one is answered",
    offline: "switch it on, or look at its connection to the broker",
    reboot: "a robot restarted: was that intended?",
    clock_jump: "a robot's clock was set: was that intended?",
    drift: "a robot changed: look at Calibration or Dynamics, and promote a new set",
    parameters: "look at Parameters: what was refused or failed, and why",
    lost: "messages are missing, or may be: the alarm gives the evidence, and whether a broker was killed",
    ambiguous: "give commands and replies ids: then duplicates can be distinguished from equal messages",
    robot_error: "a robot reports an error: see its own display, or ask its operator",
    estop: "an emergency stop was pressed: make sure that its path is free",
    mode: "somebody else drives the robot, or drove it: moves of that time do not count",
    contradiction: "a robot contradicts the lab file: the alarm names the option to change",
    correction: "the simulator refused a pose: its answer has the reason",
};

// The next step for a pair that has not moved yet.
function beginning(pair) {
    return ["real", "virtual"].some(side => !pair[side].seen) ? "start its robots, and send a command"
        : pair.following ? "start following, or send a command" : "send a command";
}

export function whatToDo(pair, now) {
    const offline = [pair.real, pair.virtual].some(side => side.connection === "offline");
    const fresh = pair.last_alarm && now - pair.last_alarm.t < RECENT_S;
    const far = share(pair.recent_verdicts, "ahead", "behind");
    const [level] = judge(pair, now);
    if (level > 1) {
        return level === 2 ? "" : beginning(pair);
    }
    return offline ? ADVICE.offline
        : pair.following?.missed ? FOLLOWING
        : pair.last_verdict === "TIMEOUT" ? TIMEOUT
        : pair.last_verdict === "OVERFLOW" ? ADVICE.queue_overflow
        : pair.last_consistent === false ? DIFFERS
        : far > FAR_RATIO && !(fresh && now - pair.last_alarm.t < FRESH_S)
            ? "look at Parameters: a promoted set gives the simulator the real robot's times"
        : fresh ? ADVICE[pair.last_alarm.type] ?? "look at Alarms" : "look at Lag, move by move";
}

// Returns the fault of the last moves, if they are enough to say; else "".
export function judgeMoves({recent_verdicts: verdicts, recent_consistency: consistency}) {
    const all = sumOf(verdicts);
    const [failed, far, contrary] = [share(verdicts, "bad"), share(verdicts, "ahead", "behind"), consistency.false];
    return all < ENOUGH ? ""
        : failed >= FAILED_RATIO ? `${percent(failed)} of the last commands failed`
        : contrary / all >= FAILED_RATIO ? `${count(contrary)} of the last answers contradict each other`
        : far > FAR_RATIO ? `${percent(far)} of the last moves apart` : "";
}

// [level, reason]: index into LEVELS, and why in a few words.
export function judge(pair, now) {
    const sides = [["real", pair.real], ["virtual", pair.virtual]];
    const offline = sides.find(([, side]) => side.connection === "offline");
    const alarmAge = pair.last_alarm ? now - pair.last_alarm.t : Infinity;
    if (offline) {
        return [0, `the ${offline[0]} robot is offline`];
    }
    if (pair.following?.missed) {
        return [0, "the fidelity target is missed"];
    }
    if (pair.last_verdict && verdictOf(pair.last_verdict).tone === "bad") {
        return [0, `the last command ended ${pair.last_verdict}`];
    }
    if (pair.last_consistent === false) {
        return [0, "the robots' last answers contradict each other"];
    }
    if (alarmAge < FRESH_S) {
        return [0, `alarm: ${wordsOfAlarm(pair.last_alarm.type)}`];
    }
    const trouble = judgeMoves(pair);
    if (trouble) {
        return [1, trouble];
    }
    if (alarmAge < RECENT_S) {
        return [1, `alarm: ${wordsOfAlarm(pair.last_alarm.type)}`];
    }
    const missing = sides.find(([, side]) => !side.seen);
    if (pair.entries > 0 || pair.following?.active || (pair.dynamics && !missing)) {
        return [2, pair.entries > 0 || pair.following?.active ? "" : "its dynamics are being estimated"];
    }
    return [3, missing ? `no message from the ${missing[0]} robot` : "no moves yet"];
}

// The verdict of the last move; in the past if a robot has gone since.
export function lastVerdict(pair) {
    const gone = pair.real.connection === "offline" || pair.virtual.connection === "offline";
    return verdictChip(pair.last_verdict, pair.last_consistent, gone);
}

// The model of dynamics for this kind of pair, as the lab file names it.
export function modelOf(pair) {
    return pair.arm ? "joint" : pair.kind === "generic" ? "first_order" : pair.kind;
}

// Alarms that report the end of a trouble.
export function isGoodNews({code}) {
    return code === "fidelity_met" || code === "following_resumed";
}

export function wordsOfAlarm(type) {
    return type.replaceAll("_", " ");
}

// Shares of verdicts as one bar; the words are its label.
export function verdictBar(counts) {
    const all = sumOf(counts);
    const parts = verdictsOf(counts).filter(v => counts[v.name] > 0);
    const words = all === 0 ? "no moves yet"
        : parts.map(v => `${v.name} ${percent(counts[v.name] / all)}`).join(", ");
    return el("div", {class: "share", role: "img", "aria-label": words},
        parts.map(v => el("span", {class: `tone-${v.tone}`,
            title: `${v.name}: ${count(counts[v.name])} of ${count(all)}`,
            style: {"flex-grow": String(counts[v.name])}})));
}

// The same in words, largest first.
export function verdictWords(counts, most = 3) {
    const all = sumOf(counts);
    const parts = verdictsOf(counts).filter(v => counts[v.name] > 0).sort((a, b) => counts[b.name] - counts[a.name]);
    const shown = parts.slice(0, most).map(v =>
        el("span", {class: `nowrap tone-${v.tone}`}, symbol(v.sign, "sign"),
            ` ${v.name} ${percent(counts[v.name] / all)}`));
    return el("span", {class: "words"}, shown, parts.length > most
        && el("span", {class: "muted"}, `+${parts.length - most}`));
}

export function lagNumber(pair) {
    return !known(pair.last_lag_s) ? "–"
        : `${pair.last_lag_s > 0 ? "+" : ""}${plusMinus(pair.last_lag_s, pair.last_lag_uncertainty_s, "s")}`;
}

export function lagText(pair) {
    return `${lagNumber(pair)}${judgedText(pair.last_lag_s, pair.last_judged_lag_s)}`;
}

// The lag that decided the verdict, if it is not the lag of arrivals: " (judged −0.040 s, network +0.136 s)".
export function judgedText(lag, judged) {
    return known(judged) ? ` (judged ${withUnit(signed(judged, 3), "s")}, network ${
        withUnit(signed(lag - judged, 3), "s")})` : "";
}

const HELD_WANTED = 0.9; // below this share, predictions of 95 % are too narrow
const JUDGED_ENOUGH = 50; // fewer may miss by chance
const SHARE_FROM = 20; // a share of fewer predictions looks more certain than it is

function rangeText(word, [low, high], unit) {
    return !known(low) ? ""
        : `${word} ${high > low ? `${figures(low, 2)} to ` : ""}${withUnit(figures(high, 2), unit)}`;
}

function runningTitle(fits) {
    return `The fit to the newest moves, which no set holds: ${["real", "virtual"].filter(side => fits[side])
        .map(side => `${side} robot ${fits[side].verdict}, ${plural(fits[side].n, "move")}`).join("; ")}`;
}

// Whether the twin can be trusted, in one line: what its calibration is good for, how exactly lags are predicted, on
// how many moves that rests, how old it is, and how many of the last predictions held. fits: of both robots as they are
// now, which no set holds; without them nothing is said of them.
export function trustLine(pair, now, fits) {
    const {trust, entries, arm} = pair;
    const {set, held, of} = trust;
    if (entries === 0) {
        return null;
    }
    const [sign, tone] = fitSign(set?.verdict);
    const calibration = !set ? "no set of travel times yet" : `${set.verdict}${set.in_force ? "" : ", not in force"}`;
    const half = known(trust.lag_low_s) && known(trust.lag_high_s) ? (trust.lag_high_s - trust.lag_low_s) / 2 : null;
    const poor = of >= JUDGED_ENOUGH && held / of < HELD_WANTED;
    const ranges = [rangeText("turns", trust.rotation_rad, "rad"),
        rangeText(kindOf(pair).straight, trust.displacement_m, "m")]
        .filter(Boolean).join(", ");
    const share = of < SHARE_FROM ? `${held} of ${plural(of, "prediction")} held`
        : `${percent(held / of)} of ${plural(of, "prediction")} held`;
    return el("div", {class: "trust"},
        el("span", {title: "Verdict of the set of travel times in force, else of the candidate"},
            marked(sign, tone, calibration)),
    fits?.real && [" · ", el("span", {title: runningTitle(fits)}, "running fit ",
        isTooFew(fits.real) ? "of too few moves" : marked(...fitSign(fits.real.verdict), fits.real.verdict))],
    [
        !arm && known(pair.last_lag_s) && ranges && [`seen for ${ranges}`, "Sizes of the moves that the pair has done"],
        known(half) && [`lag ± ${withUnit(fixed(half, 3), "s")}`,
            "95 % interval of the predicted lag of a move of middle size"],
        set && [plural(set.moves, "move"), "Moves that the calibration is fitted to"],
        set && [`${duration(Math.max(0, now - set.made_t))} old`, "Age of the calibration"],
    ].filter(Boolean).map(([words, title]) => [" · ", el("span", {title}, words)]),
    of > 0 && [" · ", el("span",
        {title: `${held} of the last ${of} lags lay within the predicted interval; 95 % should`},
        poor ? marked("▲", "behind", share) : share)]);
}

const CONNECTIONS = {online: ["●", "sync"], offline: ["✕", "bad"], unknown: ["○", "unsure"]};

// One robot of the pair: "real ● online, clock locked"
export function sideState(name, side, now) {
    const seen = side.seen && known(side.seen_t);
    const [sign, tone] = CONNECTIONS[side.connection] ?? CONNECTIONS.unknown;
    const word = side.connection !== "unknown" ? side.connection : seen ? `seen ${ago(side.seen_t, now)}` : "not seen";
    return el("span", {class: `side tone-${tone}`,
        title: seen ? `last message ${ago(side.seen_t, now)}` : "no message yet"},
    el("span", {class: "muted"}, name), " ", symbol(sign, "sign"), ` ${word}`,
    side.seen && el("span", {class: "muted"}, side.clock === "none" ? ", no clock" : `, clock ${side.clock}`));
}

// Link mode: the number of open commands. Null for a pair that is only observed.
export function linkState(pair) {
    return pair.mode !== "link" ? null : el("span", {class: `side tone-${pair.outstanding > 0 ? "sync" : "unsure"}`},
        el("span", {class: "muted"}, "link"), " ", symbol(pair.outstanding > 0 ? "●" : "○", "sign"),
        pair.outstanding > 0 ? ` ${plural(pair.outstanding, "command")} open` : " idle");
}

// The fidelity of following: sign, tone, a figure, and its meaning.
export function fidelity(following) {
    if (!following.active) {
        return ["○", "unsure", "not following", ""];
    }
    if (!known(following.within_ratio)) {
        return ["◇", "unsure", following.state.toLowerCase(), "how closely is not known yet"];
    }
    const wanted = known(following.target_ratio) ? `; ${percent(following.target_ratio)} wanted` : "";
    return [following.missed ? "✕" : "●", following.missed ? "bad" : "sync", percent(following.within_ratio, 1),
        `of the time close enough${wanted}`];
}
