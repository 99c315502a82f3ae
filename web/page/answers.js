// Five questions about a twin, answered from its newest moves: is it good, since when not, which move was worst and
// why, what to drive next, is the new simulator better.

import {get} from "./api.js";
import {dateTime, figures, fixed, known, labNow, percent, plural, signed, withUnit} from "./format.js";
import {cause} from "./move_why.js";
import {judge, trustLine, wordsOfAlarm} from "./pair_state.js";
import {pairAddress} from "./router.js";
import {ask, el, marked} from "./ui.js";

const MOVES = 1000; // newest moves that are looked at
const CHANGES = 200;
const GOAL = 0.02; // half width of the speeds' 95 % intervals that is good enough
const HELD = 0.9; // share of predictions that held, at least
const JUDGED = 20; // predictions before their share means something
const COMPARED = 8; // moves before and after a change

const ANSWERS = {yes: ["✓", "sync", "Yes."], no: ["✕", "bad", "No."], unknown: ["?", "unsure", "Not known."]};

function answer(name, ...words) {
    const [sign, tone, text] = ANSWERS[name];
    return [marked(sign, tone, el("strong", {}, text)), " ", words];
}

function isGood(pair, fit, now) {
    const {held, of} = pair.trust;
    const [level, reason] = judge(pair, now);
    const verdict = pair.trust.set?.verdict ?? fit?.verdict;
    return level === 0 ? answer("no", `${reason}.`)
        : of >= JUDGED && held / of < HELD ? answer("no",
            `Only ${percent(held / of)} of ${plural(of, "predicted lag")} held; 95 % should.`)
        : of < JUDGED || verdict !== "PASS" ? answer("unknown", verdict === "PASS"
            ? `${plural(of, "predicted lag")} so far, ${JUDGED} are needed.`
            : fit?.advice?.[0] ?? "Its travel times are not calibrated yet.")
        : answer("yes", `${percent(held / of)} of ${plural(of, "predicted lag")} held.`);
}

// Whether a move was as it should be: alike, and as predicted, else in SYNC. Null: it says nothing about that.
function wasGood(e) {
    if (e.consistent === false || e.verdict === "OVERFLOW") {
        return false;
    }
    const predicted = known(e.lag_s) && known(e.lag_low_s) && known(e.lag_high_s);
    return predicted ? e.lag_s >= e.lag_low_s && e.lag_s <= e.lag_high_s
        : ["SYNC", "AHEAD", "BEHIND", "TIMEOUT"].includes(e.verdict) ? e.verdict === "SYNC" : null;
}

// entries: the newest first
function sinceWhen(entries, drift) {
    const judged = entries.filter(e => wasGood(e) !== null);
    const good = judged.findIndex(wasGood);
    const bad = judged.findIndex(e => !wasGood(e));
    const changed = drift && ` A robot changed: ${wordsOfAlarm(drift.type)}, ${dateTime(drift.t)}: ${drift.detail}.`;
    const n = good < 0 ? judged.length : good;
    return [judged.length === 0 ? "No move could be judged yet."
        : n === 0 ? ["The last move is as it should be. ", bad < 0 ? `So are all ${count(judged)}.`
            : `The last one that was not: ${dateTime(judged[bad].t)}.`]
        : `Since ${dateTime(judged[n - 1].t)}: ${plural(n, "move")}${
            n === 1 ? " was" : " in a row were"} not as expected.`, changed];
}

const count = list => plural(list.length, "move");

// The worst of the predicted moves is furthest from its prediction; without predictions it has the largest lag.
function worstMove(pair, entries) {
    const predicted = entries.filter(e => known(e.lag_excess_s));
    const excessOf = e => Math.abs(predicted.length > 0 ? e.lag_excess_s : e.lag_s);
    const late = predicted.length > 0 ? predicted : entries.filter(e => known(e.lag_s));
    const worst = late.reduce((most, e) => (excessOf(e) > excessOf(most) ? e : most), late[0]);
    return !worst ? "No move that both robots answered yet."
        : [el("a", {href: `${pairAddress(pair, "lag")}?move=${worst.t.toFixed(6)}`}, `Move ${worst.n}`),
            `, ${dateTime(worst.t)}: lag ${withUnit(signed(worst.lag_s, 3), "s")}`,
            known(worst.lag_excess_s)
                ? [`, ${withUnit(fixed(Math.abs(worst.lag_excess_s), 3), "s")} ${
                    worst.lag_excess_s > 0 ? "more" : "less"} than predicted. `, cause(worst)]
                : ". Why is known once lags are predicted, after about twenty moves."];
}

function nextMove({next_move: next, real}) {
    if (!next) {
        return "The forecast box of the tab Lag says for which moves the twin can be trusted.";
    }
    const {rotation_rad: turn, displacement_m: drive, moves_left_range: left, why} = next;
    if (!known(turn)) {
        return why === "not_pass" ? ["There are enough moves, but their fit is no PASS. ", real?.advice[0]]
            : `Nothing: the speeds are known to ${percent(GOAL)}.`;
    }
    return [`Turn ${withUnit(figures(turn, 3), "rad")}, drive ${withUnit(figures(drive, 3), "m")}. `,
        why === "middle" ? "It shows whether times bend with the size of a move. " : "",
        left ? `${left.low} to ${left.high} moves like this until the speeds are known to ${percent(GOAL)}.` : ""];
}

function meanOf(entries) {
    const lags = entries.map(e => Math.abs(e.judged_lag_s ?? e.lag_s)).filter(known);
    const mean = lags.reduce((sum, lag) => sum + lag, 0) / lags.length;
    return {n: lags.length, mean, error2: lags.reduce((sum, lag) => sum + (lag - mean) ** 2, 0)
        / (lags.length - 1) / lags.length};
}

const NEW = {promoted: "a set was promoted", rolled_back: "a set was rolled back",
    version_changed: "the simulator's program changed"};

function isBetter(entries, changes) {
    const change = changes.find(c => NEW[c.action] && (c.action !== "version_changed" || c.by === "virtual"));
    if (!change) {
        return answer("unknown", "Nothing is new: no set was promoted, and the simulator sent no other version.");
    }
    const what = `${dateTime(change.t)}, ${NEW[change.action]}: `;
    const [before, after] = [e => e.t < change.t, e => e.t >= change.t].map(part => meanOf(entries.filter(part)));
    if (before.n < COMPARED || after.n < COMPARED) {
        return answer("unknown", what,
            `${before.n} moves before and ${after.n} after it, ${COMPARED} each are needed.`);
    }
    const difference = after.mean - before.mean;
    const half = 1.96 * Math.sqrt(before.error2 + after.error2);
    return answer(difference + half < 0 ? "yes" : difference - half > 0 ? "no" : "unknown", what,
        `the lag without its sign was ${withUnit(fixed(before.mean, 3), "s")}, and is `
        + `${withUnit(fixed(after.mean, 3), "s")} now: ${signed(difference, 3)} ± `
        + `${withUnit(fixed(half, 3), "s")} (95 %).`);
}

export async function openAnswers(pair, path, signal) {
    const [summary, {entries}, {alarms}, fits, {changes}] = await Promise.all([get(path, signal),
        get(`${path}/entries?limit=${MOVES}`, signal), get(`${path}/alarms?type=drift&limit=1`, signal),
        get(path, signal).then(({arm}) => get(`${path}/travel-time${arm ? "" : `?goal=${GOAL}`}`, signal)),
        get(`${path}/parameters/changes?limit=${CHANGES}`, signal)]);
    const now = labNow();
    await ask(`Five answers about ${pair}`, [el("dl", {class: "answers"}, [
        ["Is this twin good?", isGood(summary, fits.real, now), trustLine(summary, now)],
        ["Since when not?", sinceWhen(entries, alarms[0])],
        ["Which move was worst, and why?", worstMove(pair, entries)],
        ["What should I drive next?", nextMove(fits)],
        ["Is the new simulator better?", isBetter(entries, changes)],
    ].map(([question, ...words]) => el("div", {}, el("dt", {}, question), el("dd", {}, words)))),
    el("p", {class: "muted"}, `Of the newest ${count(entries)}.`)], []);
}
