// Missions of the pair: sent, queued, followed live on the map with the states of the machines, cancelled.

import {Problem, get, send} from "./api.js";
import {legend} from "./chart.js";
import {ago, labNow} from "./format.js";
import {MapView} from "./map_view.js";
import {confirm} from "./token.js";
import {aligned} from "./tracks.js";
import {button, el, empty, facts, failure, marked, muted, redraw, section, show, table, waiting} from "./ui.js";
import {watch} from "./watch.js";

const TRACK_MS = 1000;
const STEP_M = 1; // a longer step of a track is drawn as a jump
const STATES = {queued: ["…", "muted"], running: ["▶", "good"], done: ["✓", "good"], failed: ["✕", "bad"],
    cancelled: ["■", "muted"], refused: ["✕", "bad"]};

const MOVES = {waiting: ["…", "muted"], running: ["▶", "good"], done: ["✓", "good"], stopped: ["■", "bad"]};

// A kind needs one member: [its words, its name, an example].
const KINDS = {
    NAVIGATE: ["Goal x, y in m", "goal_m", "1.2, 1.2"],
    FOLLOW: ["Path: x, y in m; x, y; …", "path_m", "1, 0; 1, 1"],
    SWEEP: ["Nothing: it looks around", null, ""],
    COURSE: ["Way-points: x, y in m; x, y; …", "course_m", "60, 0; 60, 40"],
};

// Choices of a form: the member, its words, its values.
const RETURN = ["return", "Return to the start", ["never", "failure", "always"]];
const VESSEL = [["vessel", "Hull and thrusters", ["wamv", "iacquabot"]],
    ["actuation", "Its efforts are", ["allocated", "thrusters"]]];

// Advice for a pair that takes no missions, by the type of the problem.
const ADVICE = {
    "/problems/no-missions": "The lab file says how many missions of this pair may wait. Add missions_max: 4 to the "
        + "pair's options, which keep what else they have, and start the daemon again. Missions need mode: link.",
    "no-form": "This page sends robots on wheels and vessels on missions. The moves of an arm come by MQTT, by HTTP "
        + "or from tandem mission.",
};

// ---- sending ----

function refusal(title, words) {
    return Object.assign(new Error(words), {title});
}

// "1, 0; 1, 1" to [[1, 0], [1, 1]]. kind: its error gives an example of it
function pointsOf(text, kind) {
    const [, key, example] = KINDS[kind];
    const points = text.split(";").map(point => point.split(",").map(part => (part.trim() ? Number(part) : NaN)));
    if (!points.every(point => point.length === 2 && point.every(Number.isFinite))) {
        throw key === "goal_m" ? refusal("No goal", `Two numbers were expected, such as ${example}.`)
            : refusal("No path", `Two numbers for each point were expected, such as ${example}.`);
    }
    if (key === "goal_m" && points.length > 1) {
        throw refusal("More than one goal", `${kind} has one goal, such as ${example}; ${points.length} were given. `
            + "Send a mission for each, or FOLLOW a path through them.");
    }
    return points;
}

function missionOf(kind, text, choices) {
    const [, key] = KINDS[kind];
    const mission = {id: `page-${Math.round(labNow() * 1000)}`, kind,
        ...Object.fromEntries(choices.map(([member, select]) => [member, select.value]))};
    if (key) {
        const points = pointsOf(text, kind);
        mission[key] = key === "goal_m" ? points[0] : points;
    }
    return mission;
}

function openForm(path, notice, sent, isVessel) {
    const label = el("label", {for: "mission-points"});
    const points = el("input", {id: "mission-points", type: "text", spellcheck: "false"});
    const pick = () => {
        const [words, key, example] = KINDS[kind.value];
        show(label, words);
        points.disabled = !key;
        points.value = example;
    };
    const kinds = Object.keys(KINDS).filter(k => (k === "COURSE") === isVessel);
    const kind = el("select", {id: "mission-kind", onchange: pick}, kinds.map(k => el("option", {}, k)));
    const choices = (isVessel ? VESSEL : [RETURN]).map(([member, words, values]) => [member,
        el("select", {id: `mission-${member}`}, values.map(w => el("option", {}, w))), words]);
    pick();
    return confirm("Send a mission", [
        muted(`The robot moves as soon as it is free. ${isVessel ? "Its course goes around the discs of"
            : "A goal is planned on"} the map of the lab file.`),
        el("label", {for: "mission-kind"}, "Kind"), kind, label, points,
        ...choices.flatMap(([member, select, words]) => [el("label", {for: `mission-${member}`}, words), select]),
    ], "Send", async () => {
        const answer = await send("POST", `${path}/missions`, missionOf(kind.value, points.value, choices));
        sent();
        return ["✓", "good", `Mission ${answer.id} is ${answer.state}.`];
    }, notice);
}

// ---- the view ----

// The path from where the robot was, in pieces that a track may have.
function routeOf({pose, path_m: path = []} = {}) {
    const corners = [...(pose ? [pose] : []), ...path];
    return corners.flatMap(([x, y], k) => {
        const [fromX, fromY] = corners[Math.max(k - 1, 0)];
        const steps = Math.max(1, Math.ceil(Math.hypot(x - fromX, y - fromY) / STEP_M));
        return Array.from({length: steps}, (_, n) => [0, fromX + (x - fromX) * (n + 1) / steps,
            fromY + (y - fromY) * (n + 1) / steps, 0]);
    });
}

function stateOf({state, code, detail}) {
    const [sign, tone] = STATES[state];
    return [marked(sign, tone, state), code && el("small", {}, ` ${code}`), detail && el("small", {}, `: ${detail}`)];
}

// Words for the states of the two machines of a mission; the state's name is their tooltip.
const L2 = {IDLE: "waits", STEP: "the next step", PLAN: "plans a route", HOME: "plans the way back",
    FOLLOW: "begins a path", FOLLOWING: "follows a path", SWEEP: "begins a sweep", SWEEPING: "looks around",
    QUIT: "stops", QUITTING: "stops", END: "done", ABORT: "failed", STOPPED: "stopped"};
const L1 = {IDLE: "waits for an order", LEG: "chooses the next leg", GO: "sends a command",
    MOVING: "waits for the robot's reply", LIDAR: "starts the lidar", RAY: "receives the sweep",
    RESUME: "receives the sweep", HALT: "halts the robot", HALTING: "halts the robot",
    STOP: "halts the robot, whose reply is late", ACK: "has done its order", QUIT: "has stopped", FAIL: "has failed"};

function inWords(words, states, machine) {
    return states.map((state, k) => [k > 0 && ", then ", el("span", {title: `${state} of machine ${machine}`},
        words[state] ?? state)]);
}

const metres = x => (x === null ? "–" : `${x.toFixed(2)} m`);

// The states of the machines, or the figures of a course; an arm has neither.
function detailsOf({machines, stack, obstacles_found: found, course}) {
    if (course) {
        return [["State", course.state], ["Way made", `${metres(course.way_m)} of ${metres(course.length_m)}`],
            ["To the left of the course", metres(course.off_m)], ["On straight lines, rms", metres(course.rms_m)]];
    }
    return machines ? [["The mission", inWords(L2, [machines.L2.state], "L2")],
        ["Its command", inWords(L1, [machines.L1.state], "L1")],
        ["Plans to return to", inWords(L2, [...stack].reverse(), "L2")], ["Obstacles found", String(found)]] : [];
}

function movesOf({moves}) {
    return moves && table("Steps of this mission", [
        {label: "Step", cell: move => String(move.number)}, {label: "Move", cell: move => move.op},
        {label: "State", cell: move => marked(...MOVES[move.state], move.state)},
        {label: "Planned", cell: move => (move.duration_s === null ? "–" : `${move.duration_s.toFixed(1)} s`)},
    ], moves.map((move, k) => ({...move, number: k + 1})), null, {key: move => String(move.number)});
}

class MissionTab {
    constructor(root, path, signal) {
        Object.assign(this, {path, end: new AbortController()});
        const drawing = el("div", {});
        [this.message, this.notice] = [el("div", {}, waiting()), el("div", {})];
        [this.list, this.now] = [el("div", {}), el("div", {})];
        this.panel = el("div", {hidden: true},
            section("Mission under way", el("div", {class: "bar"}, button("Send a mission",
                () => openForm(path, this.notice, () => this.refetch(), this.isVessel), {class: "primary"})),
            this.notice, this.now,
            legend([["➤", "real", "real robot, solid: what was driven"], ["➤", "virtual", "virtual robot, dashed"],
                ["–", "route", "planned path"]]), drawing),
            section("Missions", this.list));
        show(root, this.message, this.panel);
        this.view = new MapView(drawing, signal);
    }

    async fetch(signal) {
        if (!this.asked) {
            const {arm, kind} = await get(this.path, signal);
            if (arm) {
                throw new Problem(0, "No missions", "", "no-form");
            }
            [this.asked, this.isVessel] = [true, kind === "usv3"];
        }
        return get(`${this.path}/missions`, signal);
    }

    // No event says where a robot is: it is asked for while a mission runs, and once behind its end.
    fetchTracks(signal) {
        const moves = this.running || this.moved || !this.tracks;
        this.moved = this.running;
        return moves ? get(`${this.path}/trajectory`, signal) : this.tracks;
    }

    draw() {
        const {running, tracks} = this;
        if (!tracks) {
            return;
        }
        const data = aligned(tracks);
        this.view.draw({map: data.map, sweeps: [], robots: [
            {side: "route", track: routeOf(running), name: "the goal", isPoint: true},
            {side: "real", track: data.real, name: "real robot"},
            {side: "virtual", track: data.virtual, name: "virtual robot"}],
        label: running ? `Mission ${running.id}: the path and what was driven` : "What was driven"});
    }

    update({missions, missions_max: most}) {
        const running = missions.find(mission => mission.state === "running");
        this.running = running;
        this.moved ||= running;
        this.panel.hidden = false;
        show(this.message);
        redraw(this.now, running ? [facts([["Mission", running.id], ["Kind", running.kind],
            ["Step", `${running.step} of ${running.steps}`], ...detailsOf(running)]),
            movesOf(running)]
            : muted(`No mission runs. Up to ${most} may wait.`));
        this.draw();
        redraw(this.list, missions.length === 0 ? muted("None yet.") : table("Missions of this pair", [
            {label: "", cell: m => ["queued", "running"].includes(m.state) && button("Cancel", () => this.cancel(m.id),
                {"aria-label": `Cancel ${m.id}`})},
            {label: "Mission", cell: m => m.id}, {label: "Kind", cell: m => m.kind ?? "–"},
            {label: "State", cell: stateOf}, {label: "Sent", cell: m => ago(m.queued_t, labNow()), className: "nowrap"},
            {label: "By", cell: m => m.by ?? "–"},
        ], missions, null, {key: m => m.id}));
    }

    cancel(id) {
        return confirm(`Cancel ${id}`, muted("A running robot is halted first."), "End the mission", async () => {
            const answer = await send("DELETE", `${this.path}/missions/${encodeURIComponent(id)}`);
            this.refetch();
            return ["✓", "good", `Mission ${id} is ${answer.cancelling ? "being halted" : answer.state}.`];
        }, this.notice, "Keep it");
    }

    // A lab without missions gets none while the daemon runs, so it is asked once.
    fail(error) {
        const advice = ADVICE[error.type];
        show(this.message, advice ? empty("No missions", advice) : failure(error));
        if (advice) {
            this.end.abort();
        }
    }
}

export function mount(root, {pair, path, signal}) {
    const tab = new MissionTab(root, path, signal);
    const whole = AbortSignal.any([signal, tab.end.signal]);
    tab.refetch = watch(whole, s => tab.fetch(s), {pair, types: ["mission"]}, all => tab.update(all),
        error => tab.fail(error));
    watch(whole, s => tab.fetchTracks(s), {pair, everyMs: TRACK_MS}, tracks => {
        tab.tracks = tracks;
        tab.draw();
    }, error => tab.fail(error));
}
