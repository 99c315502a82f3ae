// A team: activities of each robot, holders of places, waiting robots, and all of it over time.

import {Problem, get, getBlob, send} from "./api.js";
import {downloadLink} from "./download.js";
import {count, duration, known, labNow, plural} from "./format.js";
import {wordsOfAlarm} from "./pair_state.js";
import {pairAddress, setQuery} from "./router.js";
import {mountJobs, mountMachines, runSection} from "./team_parts.js";
import {mountPlan} from "./team_plan.js";
import {confirm} from "./token.js";
import {button, el, empty, facts, field, marked, muted, places, redraw, section, show, stage, svg, symbol,
    table} from "./ui.js";
import {watch} from "./watch.js";

export const title = route => `Team ${route.team}`;

const EVERY_MS = 1000;
const CHART_MS = 2000;
const SPANS = [["course", "the last course"], [60, "the last minute"],
    [300, "5 minutes"], [1800, "30 minutes"], [7200, "2 hours"], [86400, "a day"]];
const PHASES = {
    IDLE: ["○", "unsure", "not started"], ACTIVE: ["●", "sync", "at work"], WAITING: ["…", "behind", "waits"],
    MEETING: ["…", "behind", "waits at a meeting"], JOINED: ["…", "behind", "done, waits for its partners"],
    RETRY: ["…", "unsure", "looks again soon"], PARKED: ["○", "unsure", "has no job"], ERROR: ["✕", "bad", "in error"],
    FINISHED: ["✓", "sync", "finished"],
};

// ---- who waits for whom ----

// For a waiting robot: the resources that it queues for, and the robots before it there.
function waitsFor(name, resources) {
    return Object.entries(resources).filter(([, r]) => r.queue.includes(name)).map(([resource, r]) => {
        const ahead = r.queue.slice(0, r.queue.indexOf(name));
        const owners = (r.owners ?? [r]).map(o => o.owner).filter(Boolean);
        return {resource, behind: [...new Set([...owners, ...ahead])]};
    });
}

function waitText(name, resources) {
    return waitsFor(name, resources).map(({resource, behind}) => el("div", {},
        `${resource}${behind.length > 0 ? `, behind ${behind.join(", ")}` : ", which is not given again yet"}`));
}

const argText = arg => (Array.isArray(arg) ? arg.join(", ") : arg ?? "");

// ---- actions ----

class Doer {
    constructor(team, notice, refresh) {
        Object.assign(this, {path: `teams/${encodeURIComponent(team)}`, notice, refresh});
    }

    // words: the question, and the confirmation afterwards.
    ask(words, explained, label, address, body, done) {
        return confirm(words, explained, label, async () => {
            await send("POST", `${this.path}/${address}`, typeof body === "function" ? body() : body);
            this.refresh();
            return ["✓", "sync", done];
        }, this.notice);
    }

    start() {
        return this.ask("Start the team?", muted("Every robot that has a sequence begins it; the robots will move."),
            "Start", "start", undefined, "The team was started.");
    }

    robot(name, action, explained) {
        return this.ask(`${action} ${name}?`, muted(explained), action,
            `robots/${encodeURIComponent(name)}/${action.toLowerCase()}`, undefined,
            `${name}: ${action.toLowerCase()} was asked for.`);
    }

    release(resource, {owner, fence}) {
        const reason = el("input", {id: "release-reason", maxlength: "90", required: true});
        return this.ask(`Take ${resource} from ${owner}?`, [
            muted(`${owner} holds it under number ${fence}. Only when you see that ${owner} is not inside: `,
                "the next robot may drive in as soon as it is free."), field("Reason", reason)],
        "Release", `resources/${encodeURIComponent(resource)}/release`, () => ({fence, reason: reason.value}),
        `${resource} was released.`);
    }
}

// ---- views ----

function robotActions(name, robot, doer) {
    return [
        robot.state === "ERROR" && [
            button("Reset", () => doer.robot(name, "Reset", "Its error is cleared and it does the same step again.")),
            button("Skip", () => doer.robot(name, "Skip", "Its error is cleared and it goes on with the next step."))],
        ["ACTIVE", "WAITING", "MEETING"].includes(robot.state) && button("Abort", () => doer.robot(name, "Abort",
            "What it does counts as failed: it is halted, and goes on only after a reset.")),
    ];
}

function robotTable({robots, resources}, pairs, now, doer) {
    return table("Robots", [
        {label: "Robot", cell: ([name]) => (pairs?.[name] ? el("a", {href: pairAddress(pairs[name])}, name) : name)},
        {label: "State", cell: ([, r]) => [marked(...(PHASES[r.state] ?? ["?", "unsure", r.state])),
            !r.online && el("div", {}, marked("✕", "bad", "offline"))]},
        {label: "Task", cell: ([, r]) => (r.task ? `${r.task} ${argText(r.arg)}` : "–")},
        {label: "For", numeric: true, cell: ([, r]) => (known(r.since) ? duration(now - r.since) : "–")},
        {label: "Waits for", cell: ([name, r]) => (r.state === "WAITING" ? waitText(name, resources) : "")},
        {label: "", cell: ([name, r]) => el("div", {class: "actions"}, robotActions(name, r, doer))},
    ], Object.entries(robots));
}

function resourceTable({resources}, now, doer) {
    const units = r => (r.owners ?? [r]).filter(o => o.owner);
    return table("Places and tools", [
        {label: "Name", cell: ([name]) => name},
        {label: "Held by", cell: ([name, r]) => (units(r).length === 0 ? muted("nobody") : units(r).map(unit =>
            el("div", {class: "actions"}, `${unit.owner} `, el("small", {class: "muted"},
                `#${unit.fence} for ${duration(now - unit.since)}`),
            button("Release …", () => doer.release(name, unit)))))},
        {label: "Queue", cell: ([, r]) => r.queue.join(", ") || "–"},
    ], Object.entries(resources));
}

function summary(team) {
    const alarms = Object.entries(team.alarm_counts).filter(([, n]) => n > 0);
    return facts([
        ["Locks", {ordered: "nested in the order of the file", at_once: "all at once",
            free: "free: deadlocks are reported, not excluded"}[team.locking] ?? team.locking],
        ["Jobs that wait", count(team.jobs_waiting)],
        ["Alarms", alarms.length === 0 ? "none" : alarms.map(([type, n]) =>
            el("div", {}, symbol("⚠", "sign tone-bad"), ` ${wordsOfAlarm(type)}: ${count(n)}`))],
        ["Activities", plural(team.effect_counts.start, "begun", "begun")],
    ]);
}

// The times shown, as the address of the chart has them. The last course is over when all robots have finished.
export function timesOf(span, {state, last_run: last, finished}) {
    const begin = span === "course" ? (state.run ?? last)?.t ?? labNow() - 300 : labNow() - span;
    const end = Math.max(...Object.values(state.robots).map(robot => robot.since ?? 0));
    return `&since=${(begin - 1).toFixed(3)}${span === "course" && finished && end > begin
        ? `&until=${(end + 1).toFixed(3)}` : ""}`;
}

// The daemon's own drawing; its colours are those of the page.
async function fetchChart(path, times, signal) {
    const blob = await getBlob(`${path}/chart?format=svg${times}`);
    if (signal.aborted) {
        return null;
    }
    const {documentElement: drawing} = new DOMParser().parseFromString(await blob.text(), "image/svg+xml");
    drawing.setAttribute("class", "team-chart");
    return document.importNode(drawing, true);
}

// The signs of the daemon's drawing, drawn as there.
function chartLegend() {
    const bar = more => svg("rect", {x: 2, y: 3, width: 28, height: 10, fill: "currentColor", stroke: "currentColor",
        "fill-opacity": 0.4, ...more});
    const path = d => svg("path", {d, fill: "none", stroke: "currentColor"});
    const rows = [
        ["at work; a place has the colour of its holder", bar()],
        ["waits", bar({"fill-opacity": 0.08, "stroke-dasharray": "3 2"})],
        ["failed", [bar(), path("M 2 13 L 30 3")]],
        ["predicted begin", path("M 16 11 l -5 -7 h 10 z")],
        ["predicted end, P05 to P95 (a guess has none)", path("M 4 5 v 6 m 0 -3 H 28 m 0 -3 v 6")],
        ["now; right of it is the future", path("M 16 0 v 16")],
        ["alarm", svg("path", {class: "alarm", d: "M 16 12 l -5 -8 h 10 z"})],
    ];
    return el("ul", {class: "legend"}, rows.map(([words, sign]) => el("li", {},
        svg("svg", {class: "chart-sign", viewBox: "0 0 32 16", "aria-hidden": "true"}, sign), ` ${words}`)));
}

// team: its name; first: as the daemon has it now
function chart(root, team, first, path, query, signal) {
    const notice = el("div", {role: "status"});
    const drawing = el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Chart over time"});
    const choice = el("select", {id: "chart-range"}, SPANS.map(([s, words]) => el("option", {value: s}, words)));
    choice.value = SPANS.some(([span]) => String(span) === query.span) ? query.span : first.finished ? "course" : "300";
    let newest = first;
    const times = () => timesOf(choice.value, newest);
    show(root, section("Over time", el("div", {class: "bar"}, field("Show", choice), el("span", {class: "push"}),
        downloadLink("Picture", () => `${path}/chart?format=svg${times()}`,
            `${team}.svg`, notice),
        downloadLink("Table as CSV", () => `${path}/chart?format=csv${times()}`,
            `${team}.csv`, notice)),
    notice, drawing, chartLegend()));
    const refresh = watch(signal, s => fetchChart(path, times(), s), {everyMs: CHART_MS},
        node => node && redraw(drawing, node), error => show(drawing, muted(error.detail ?? String(error))));
    choice.addEventListener("change", () => {
        setQuery({span: choice.value});
        refresh();
    });
    return team => {
        newest = team;
    };
}

export async function mount(root, {route, signal}) {
    if (!(await get("teams", signal)).teams.some(({id}) => id === route.team)) {
        throw new Problem(404, "There is no such team",
            `The lab has no team '${route.team}'. The overview names its teams.`);
    }
    const path = `teams/${encodeURIComponent(route.team)}`;
    const notice = el("div", {role: "status"});
    const [facts_, runs, robots, resources, over, plan, jobs, machines] = places(8);
    const starter = el("div", {class: "actions"});
    show(root);
    let renew = null;
    const page = stage(root, el("h1", {}, `Team ${route.team}`), starter, notice, facts_, robots, over, plan, runs,
        jobs, resources, machines);
    const refresh = watch(signal, path, {types: ["team"], everyMs: EVERY_MS}, team => {
        page.say(null);
        const now = labNow();
        if (!renew && team.planned > 0) {
            mountPlan(plan, path, Object.keys(team.state.robots), route.query, signal);
        }
        renew ??= chart(over, route.team, team, path, route.query, signal);
        renew(team);
        const idle = Object.values(team.state.robots).some(r => r.state === "IDLE");
        redraw(starter, idle && button("Start the team …", () => doer.start(), {class: "primary"}));
        redraw(facts_, section("The team", summary(team)));
        redraw(runs, runSection(team));
        redraw(robots, section("Robots", robotTable(team.state, team.pairs, now, doer)));
        redraw(resources, section("Places and tools", Object.keys(team.state.resources).length > 0
            ? resourceTable(team.state, now, doer) : empty("Nothing to share", "The team's file names no resources.")));
    }, page.fail);
    const doer = new Doer(route.team, notice, refresh);
    mountJobs(jobs, path, signal);
    mountMachines(machines, path, signal);
}
