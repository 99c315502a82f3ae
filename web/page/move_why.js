// Why a move was late: the parts of its lag, the times of both robots, what differs, and the alarms near it.

import {get} from "./api.js";
import {dateTime, known, signed, fixed, time, withUnit} from "./format.js";
import {wordsOfAlarm} from "./pair_state.js";
import {el, facts, marked, muted} from "./ui.js";

const SIDES = ["real", "virtual"];
const NEAR_S = 5; // alarms this long before and after a move belong to it
const FETCHED = 1000; // alarms of one answer
const SHOWN = 20;
const VISIBLE_S = 0.0005; // times are shown in milliseconds
const INSTANT_S = 1e-6; // lab time has microseconds

// The parts of a lag, as in the entry, with what each of them means.
const PARTS = {
    waiting: "between the command and the begin of the motion",
    motion: "the motion itself",
    transport: "the reply on its way",
    pace: "the simulator ran slower or faster than usual",
    rest: "not measured, or not explained by these",
};
const CAUSES = {pace: "the simulator's pace", waiting: "waiting before the motion", motion: "the motion",
    transport: "the network", clock: "a clock that was set"};

// ---- from the daemon ----

function entryAddress(path, t) {
    return `${path}/entries?since=${Number(t).toFixed(6)}&until=${(Number(t) + INSTANT_S).toFixed(6)}`;
}

// The end of a move: the last reply, or the deadline, which is the time of the alarm that says so.
async function fetchEnd(path, e, signal) {
    const ends = SIDES.filter(side => known(e[`${side}_lap_s`]))
        .map(side => e.t + e[`${side}_lap_s`] + (e[`${side}_wait_s`] ?? 0));
    if (e.timeout_side) {
        const {alarms} = await get(`${path}/alarms?type=timeout&order=oldest&limit=${FETCHED}`
            + `&since=${e.t.toFixed(6)}`, signal);
        ends.push(...SIDES.filter(side => [side, "both"].includes(e.timeout_side))
            .map(side => alarms.find(a => a.side === side && a.id === e.id)?.t).filter(known));
    }
    return Math.max(e.t, ...ends);
}

// The move of this lab time, and the alarms near it: {entry, alarms, more}; entry undefined: there is none. more:
// there are alarms beyond these.
export async function fetchWhy(path, t, signal) {
    const {entries: [entry]} = await get(entryAddress(path, t), signal);
    if (!entry) {
        return {entry, alarms: [], more: false};
    }
    const end = await fetchEnd(path, entry, signal);
    const list = await get(`${path}/alarms?limit=${FETCHED}&since=${(entry.t - NEAR_S).toFixed(3)}`
        + `&until=${(end + NEAR_S).toFixed(3)}`, signal);
    const alarms = list.alarms.filter(a => !a.id || a.id === entry.id);
    return {entry, alarms: alarms.slice(0, SHOWN), more: alarms.length > SHOWN || list.next_cursor !== null};
}

// ---- parts of the lag ----

const swatch = part => el("span", {class: `swatch part-${part}`, "aria-hidden": "true"});
const seconds = s => withUnit(signed(s, 3), "s");

// The parts below zero are left of the mark, those above zero right of it.
function partsBar(parts) {
    const piece = ([name, s]) => el("span", {class: `part-${name}`, title: `${name} ${seconds(s)}`,
        style: {"flex-grow": String(Math.abs(s))}});
    const words = parts.map(([name, s]) => `${name} ${seconds(s)}`).join(", ");
    return el("div", {class: "parts", role: "img", "aria-label": `Parts of the lag: ${words}`},
        parts.filter(([, s]) => s < 0).map(piece), el("span", {class: "zero"}),
        parts.filter(([, s]) => s > 0).map(piece));
}

export function cause(e) {
    const name = e.explained_by;
    return name === "not_explained" ? ["Unexpected, and no part alone explains it."]
        : name ? [`Mostly by ${CAUSES[name]}.`] : ["As expected."];
}

function drawParts(e) {
    if (!known(e.lag_s)) {
        return muted("No lag: not both robots answered.");
    }
    if (!known(e.lag_excess_s)) {
        return muted(`Lag ${seconds(e.lag_s)}. Its parts are known once lags of such moves are predicted, which needs `,
            "about twenty moves that both robots did.");
    }
    const parts = Object.keys(PARTS).map(name => [name, e[`lag_${name}_s`]]).filter(([, s]) => known(s));
    const missing = Object.keys(PARTS).filter(name => !known(e[`lag_${name}_s`]));
    return [
        el("p", {}, `Lag ${seconds(e.lag_s)}: ${seconds(e.lag_s - e.lag_excess_s)} was expected, `
            + `${seconds(e.lag_excess_s)} was not. `, el("strong", {}, cause(e))),
        partsBar(parts),
        el("ul", {class: "legend"}, parts.map(([name, s]) => el("li", {title: PARTS[name]}, swatch(name),
            ` ${name} ${seconds(s)}`))),
        missing.length > 0 && muted(`Not reported, so in the rest: ${missing.join(", ")}.`),
    ];
}

// ---- both timelines ----

// The pieces of a robot's time from the command to its reply: [[part, words, seconds]].
function piecesOf(e, side) {
    const [lap, queue, motion, transport] = ["lap", "wait", "motion", "transport"].map(name => e[`${side}_${name}_s`]);
    const onWay = Math.max(transport ?? 0, 0);
    const waited = Math.max(lap - (motion ?? 0) - onWay, 0);
    return [["queue", "in the queue", queue ?? 0],
        ...known(motion) ? [["waiting", "waited", waited], ["motion", "moved", motion]]
            : [["rest", "waited and moved", waited]],
        ["transport", "reply on its way", onWay]].filter(([, , s]) => s > 0);
}

// The robot's own clock may give a motion more time than there was between the command and the reply.
function clockNote(e, side) {
    const [lap, motion, transport] = ["lap", "motion", "transport"].map(name => e[`${side}_${name}_s`]);
    const over = (motion ?? 0) + Math.max(transport ?? 0, 0) - lap;
    return over >= VISIBLE_S ? `; clock and arrival disagree by ${withUnit(fixed(over, 3), "s")}` : "";
}

function timeline(e, side, longest) {
    if (!known(e[`${side}_lap_s`])) {
        return [el("span", {}, side), el("span", {class: "muted"}, "no answer")];
    }
    const pieces = piecesOf(e, side);
    const words = pieces.map(([, name, s]) => `${name} ${fixed(s, 3)} s`).join(", ");
    return [el("span", {}, side),
        el("div", {class: "timeline", role: "img", "aria-label": `${side} robot: ${words}`},
            pieces.map(([part, name, s]) => el("span", {class: `part-${part}`, title: `${name} ${fixed(s, 3)} s`,
                style: {width: `${(100 * s / longest).toFixed(3)}%`}}))),
        el("small", {}, `${words}: ${fixed(e[`${side}_lap_s`], 3)} s${clockNote(e, side)}`)];
}

function drawTimelines(e) {
    const longest = Math.max(...SIDES.map(side => piecesOf(e, side).reduce((sum, [, , s]) => sum + s, 0)));
    const range = known(e.real_expected_s) && ["real_low_s", "real_high_s"].map(name =>
        (known(e[name]) ? fixed(e[name], 3) : "open")).join(" to ");
    return [el("div", {class: "timelines"}, SIDES.map(side => timeline(e, side, longest))),
        range && muted(`Predicted for the real robot: ${fixed(e.real_expected_s, 3)} s (95 %: ${range}).`)];
}

// ---- all of it ----

function statusOf(e, side) {
    const status = e[`${side}_status`];
    const version = e[`${side}_version`];
    return el("div", {}, marked(...status === "done" ? ["✓", "sync"] : ["✕", "bad"],
        `${side}: ${status ?? "no reply"}${version ? ` (${version})` : ""}`));
}

function drawNear(alarms, more) {
    return alarms.length === 0 && !more ? "none" : [
        alarms.map(a => el("div", {}, marked("⚠", "bad", `${time(a.t)} ${wordsOfAlarm(a.type)} `),
            el("small", {}, a.detail ?? ""))),
        more && muted(`Only the newest ${alarms.length} are shown. The tab Alarms has all of them.`)];
}

export function drawWhy(path, {entry: e, alarms, more}) {
    const address = `api/v1/${entryAddress(path, e.t)}`;
    return el("div", {class: "why"},
        el("div", {}, el("h3", {}, "Parts of the lag"), drawParts(e)),
        el("div", {}, el("h3", {}, "Both robots"), drawTimelines(e)),
        facts([
            ["Statuses", SIDES.map(side => statusOf(e, side))],
            ["Answers", e.consistent === true ? "agree" : e.differs ? `differ: ${e.differs}` : "not compared"],
            [`Alarms within ${NEAR_S} s`, drawNear(alarms, more)],
            ["Command", `${e.id ?? "without id"}, ${dateTime(e.t)}`],
            ["Over HTTP", el("a", {href: address}, "this entry")],
        ]));
}
