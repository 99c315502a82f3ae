// Five questions about a twin, answered from its newest moves: is it good, since when not, which move was worst and
// why, what to drive next, is the new simulator better.

import {get} from "./api.js";
import {dateTime, figures, fixed, known, labNow, percent, plural, sentence, signed, withUnit} from "./format.js";
import {adviceOf, effortAdvice, isByEfforts, kindOf} from "./kinds.js";
import {cause} from "./move_why.js";
import {fidelity, isGoodNews, judge, judgeMoves, shareApart, sumOf, trustLine, wordsOfAlarm} from "./pair_state.js";
import {pairAddress} from "./router.js";
import {ask, el, marked} from "./ui.js";
import {isTooFew} from "./verdicts.js";

const MOVES = 1000; // newest moves that are looked at
const CHANGES = 200;
const GOAL = 0.02; // half width of the speeds' 95 % intervals that is good enough
const HELD = 0.9; // share of predictions that held, at least
const JUDGED = 20; // predictions before their share means something
const ABOUT_TWIN = ["drift", "fidelity", "following"]; // alarms about the twin, not about its messages
const COMPARED = 8; // moves before and after a change

const ANSWERS = {yes: ["✓", "sync", "Yes."], no: ["✕", "bad", "No."], unknown: ["?", "unsure", "Not known."]};

function answer(name, ...words) {
    const [sign, tone, text] = ANSWERS[name];
    return [marked(sign, tone, el("strong", {}, text)), " ", words];
}

function followsWell(following) {
    const {active, within_ratio: within, target_ratio: target} = following ?? {};
    const name = !active || !known(within) || !known(target) ? "unknown" : within >= target ? "yes" : "no";
    return answer(name, active ? `Following: ${fidelity(following).slice(2).filter(Boolean).join(" ")}.`
        : "No move was compared, and it does not follow.");
}

// Good is a twin that is close to the real robot and whose lags come as predicted. Close: within the fidelity target
// while it follows, else in SYNC.
function isGood(pair, fit, now) {
    const {held, of, set} = pair.trust;
    const [level, reason] = judge({...pair, last_alarm: ABOUT_TWIN.includes(pair.last_alarm?.type)
        ? pair.last_alarm : null}, now);
    const verdict = set?.verdict ?? fit?.verdict;
    const apart = shareApart(pair);
    const moves = sumOf(pair.recent_verdicts);
    if (level === 0) {
        return answer("no", sentence(reason));
    }
    if (isByEfforts(pair)) {
        return followsWell(pair.following);
    }
    if (moves >= COMPARED && apart > 1 - HELD) {
        return answer("no", `${percent(apart)} of the last ${plural(moves, "move")} were AHEAD, BEHIND or failed; at `
            + `most ${percent(1 - HELD)} should be.`);
    }
    const trouble = judgeMoves(pair);
    return trouble ? answer("no", sentence(trouble))
        : of >= JUDGED && held / of < HELD ? answer("no",
            `Only ${percent(held / of)} of ${plural(of, "predicted lag")} held; 95 % should.`)
        : of < JUDGED ? answer("unknown", `${plural(of, "predicted lag")} so far, ${JUDGED} are needed.`)
        : verdict !== "PASS" ? answer("unknown", adviceOf(fit) || "Its travel times are not calibrated yet.")
        : fit?.verdict === "FAIL" && !isTooFew(fit) ? answer("unknown",
            `The set is PASS, but the fit of its newest moves is FAIL: ${fit.reasons[0]}.`)
        : answer("yes", `${percent(held / of)} of ${plural(of, "predicted lag")} held, and ${percent(1 - apart)} of `
            + `the last ${plural(moves, "move")} neither failed nor were AHEAD or BEHIND.`);
}

// Whether a move was as it should be: alike, in SYNC, and as predicted. Null: it says nothing about that.
function wasGood(e) {
    if (e.consistent === false || ["AHEAD", "BEHIND", "TIMEOUT", "OVERFLOW"].includes(e.verdict)) {
        return false;
    }
    const predicted = known(e.lag_s) && known(e.lag_low_s) && known(e.lag_high_s);
    return predicted ? e.lag_s >= e.lag_low_s && e.lag_s <= e.lag_high_s : e.verdict === "SYNC" || null;
}

// entries: the newest first
function sinceWhen(entries, drift) {
    const judged = entries.filter(e => wasGood(e) !== null);
    const good = judged.findIndex(wasGood);
    const bad = judged.findIndex(e => !wasGood(e));
    const changed = drift && !isGoodNews(drift) && ` ${drift.type === "drift" ? "A robot changed" : "Following"}: ${
        wordsOfAlarm(drift.type)}, ${dateTime(drift.t)}: ${drift.detail}.`;
    const n = good < 0 ? judged.length : good;
    return [judged.length === 0 ? "No move could be judged yet."
        : n === 0 ? ["The last move is as it should be. ", bad < 0 ? `So are all ${count(judged)}.`
            : `The last one that was not: ${dateTime(judged[bad].t)}.`]
        : `Since ${dateTime(judged[n - 1].t)}${entries.length === MOVES && good < 0 ? " or earlier" : ""}: ${
            plural(n, "move")}${
            n === 1 ? " was" : " in a row were"} not as expected.`, changed];
}

const count = list => plural(list.length, "move");

// Whether both robots answered in time.
const isAnswered = e => e.verdict !== "TIMEOUT" && known(e.lag_s);

// The worst of the predicted moves is furthest from its prediction; without predictions it has the largest lag.
function worstMove(pair, entries) {
    const answered = entries.filter(isAnswered);
    const predicted = answered.filter(e => known(e.lag_excess_s));
    const excessOf = e => Math.abs(predicted.length > 0 ? e.lag_excess_s : e.lag_s);
    const late = predicted.length > 0 ? predicted : answered;
    const worst = late.reduce((most, e) => (excessOf(e) > excessOf(most) ? e : most), late[0]);
    return !worst ? "No move that both robots answered yet."
        : [el("a", {href: `${pairAddress(pair, "lag")}?move=${worst.t.toFixed(6)}`}, `Move ${worst.n}`),
            `, ${dateTime(worst.t)}: lag ${withUnit(signed(worst.lag_s, 3), "s")}`,
            known(worst.lag_excess_s)
                ? [`, ${withUnit(fixed(Math.abs(worst.lag_excess_s), 3), "s")} ${
                    worst.lag_excess_s > 0 ? "more" : "less"} than predicted. `, cause(worst)]
                : ". Why is known once lags are predicted, after about twenty moves."];
}

// entries: the newest first
function nextMove(pair, entries, {next_move: next, real}, dynamics) {
    const kind = kindOf(pair);
    const side = entries.find(e => e.timeout_side)?.timeout_side;
    if (side && !entries.some(isAnswered)) {
        return `Nothing yet: no move was answered by both robots. First find why ${side === "both"
            ? "neither robot answers" : `the ${side} robot does not answer`}.`;
    }
    if (isByEfforts(pair)) {
        return effortAdvice(dynamics);
    }
    if (!next) {
        return adviceOf(real) || (real?.verdict === "PASS" ? "Nothing: the fit of its times is PASS." : kind.needs);
    }
    const {rotation_rad: turn, displacement_m: way, moves_left_range: left, why} = next;
    if (!known(turn)) {
        return why === "not_pass" ? `There are enough moves, but their fit is no PASS. ${adviceOf(real)}`
            : `Nothing: the speeds are known to ${percent(GOAL)}.${pair.trust.set?.in_force ? ""
                : " The tab Parameters gives them to the simulator."}`;
    }
    return [kind.next(withUnit(figures(turn, 3), "rad"), withUnit(figures(way, 3), "m")),
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

// The fits, and the next move of robots that turn and drive; the daemon refuses to plan for others.
async function fetchFits(pair, path, signal) {
    const plain = `${path}/travel-time`;
    return !kindOf(pair).plans(pair) ? get(plain, signal) : get(`${plain}?goal=${GOAL}`, signal).catch(error => {
        if (error.status !== 400) {
            throw error;
        }
        return get(plain, signal);
    });
}

export async function openAnswers(pair, path, signal) {
    const summary = await get(path, signal);
    const drift = summary.following ? "drift,fidelity" : "drift";
    const [{entries}, {alarms}, fits, {changes}, dynamics] = await Promise.all([
        get(`${path}/entries?limit=${MOVES}`, signal), get(`${path}/alarms?type=${drift}&limit=1`, signal),
        fetchFits(summary, path, signal), get(`${path}/parameters/changes?limit=${CHANGES}`, signal),
        summary.dynamics && get(`${path}/dynamics`, signal)]);
    const now = labNow();
    await ask(`Five answers about ${pair}`, [el("dl", {class: "answers"}, [
        ["Is this twin good?", isGood(summary, fits.real, now), trustLine(summary, now, fits)],
        ["Since when not?", sinceWhen(entries, alarms[0])],
        ["Which move was worst, and why?", worstMove(pair, entries)],
        ["What should I drive next?", nextMove(summary, entries, fits, dynamics)],
        ["Is the new simulator better?", isBetter(entries, changes)],
    ].map(([question, ...words]) => el("div", {}, el("dt", {}, question), el("dd", {}, words)))),
    el("p", {class: "muted"}, `Of the newest ${count(entries)}.`)], []);
}
