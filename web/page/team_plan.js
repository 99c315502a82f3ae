// The plan of a team: who should begin which task when, so that nobody waits. It is shown; nothing runs it.

import {get} from "./api.js";
import {count, fixed} from "./format.js";
import {ticks} from "./plot.js";
import {setQuery} from "./router.js";
import {el, facts, failure, field, muted, redraw, section, show, svg, table} from "./ui.js";
import {watch} from "./watch.js";

const EVERY_MS = 10000;
const ROWS_MAX = 20;
// The chart over time has the same sizes and colours.
const [WIDTH, LANE, TOP, RIGHT, CHARACTER] = [960, 26, 24, 16, 6];
const COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"];

const seconds = s => `${fixed(s, 1)} s`;
const percent = share => `${fixed(100 * share, share < 0.1 ? 1 : 0)} %`;
const namesOf = task => task.robots.split(" ");

// ---- the chart ----

// Robots, then the places that more tasks need than fit in.
function lanesOf(plan, robots) {
    return [...robots.filter(name => plan.tasks.some(task => namesOf(task).includes(name))),
        ...new Set(plan.interference.map(row => row.resource))];
}

function bar(x, y, from, to, words, title, attributes) {
    const width = Math.max(x(to) - x(from), 1);
    return svg("g", {}, svg("title", {}, `${title}, ${seconds(from)} to ${seconds(to)}`),
        svg("rect", {x: x(from), y, width, height: LANE - 6, "fill-opacity": 0.4, ...attributes}),
        width > CHARACTER * words.length + 6 && svg("text", {x: x(from) + 4, y: y + 14}, words));
}

function taskBars(plan, robots, lanes, x, y) {
    return plan.tasks.flatMap(task => namesOf(task).map(robot => {
        const fill = COLOURS[robots.indexOf(robot) % COLOURS.length];
        return bar(x, y(lanes.indexOf(robot)), task.start_s, task.end_s, task.task,
            `${robot}: ${task.task}${task.guessed ? ", a guess" : ""}`,
            {fill, stroke: fill, "stroke-dasharray": task.guessed ? "3 2" : null});
    }));
}

function interferenceBars(plan, lanes, x, y) {
    return plan.interference.map(row => bar(x, y(lanes.lastIndexOf(row.resource)), row.from_s, row.to_s,
        `${row.task}, ${row.other}`, `${row.resource}: ${row.task} and ${row.other} at the same time`,
        {class: "clash"}));
}

function axis(end, x, bottom) {
    return ticks(0, end, 10).map(s => [
        svg("path", {stroke: "currentColor", "stroke-opacity": 0.2, d: `M ${x(s)} ${TOP - 2} V ${bottom}`}),
        svg("text", {"text-anchor": "middle", x: x(s), y: bottom + 14}, `${s} s`)]);
}

function chartOf(plan, robots) {
    const lanes = lanesOf(plan, robots);
    const left = Math.min(200, Math.max(48, 12 + CHARACTER * Math.max(...lanes.map(name => name.length))));
    const x = s => left + s / plan.length_s * (WIDTH - RIGHT - left);
    const y = lane => TOP + LANE * lane;
    const bottom = y(lanes.length);
    return svg("svg", {class: "team-chart plan-chart", viewBox: `0 0 ${WIDTH} ${bottom + 22}`, role: "img",
        "aria-label": "Plan of the team", "font-family": "sans-serif", "font-size": 10, fill: "currentColor"},
    axis(plan.length_s, x, bottom),
    lanes.map((name, k) => [svg("text", {x: 4, y: y(k) + 14}, name), svg("path", {stroke: "currentColor",
        "stroke-opacity": 0.2, d: `M ${left} ${y(k) + LANE - 3} H ${WIDTH - RIGHT}`})]),
    taskBars(plan, robots, lanes, x, y), interferenceBars(plan, lanes, x, y));
}

// ---- words ----

function lengthText({bound_s: bound, gap_to_bound: gap, optimal}) {
    return optimal ? "No plan of these tasks is shorter."
        : `At most ${percent(gap)} longer than the shortest: no plan is below ${seconds(bound)}.`;
}

function uncertainText({spread, share_with_wait: share, waited_mean_s: mean, length_mean_s: length}) {
    return `With each duration within ±${percent(spread)}${share > 0 ? `, who waits does so for ${seconds(mean)
    } in the mean, and` : ""} all is done after ${seconds(length)}.`;
}

function interferenceText({interference: rows, interference_cut: cut}) {
    return rows.length > 0 && [
        el("ul", {}, rows.slice(0, ROWS_MAX).map(row => el("li", {}, `${row.task} and ${row.other} both need ${
            row.resource}, ${fixed(row.from_s, 1)} to ${seconds(row.to_s)}`)),
        (cut || rows.length > ROWS_MAX) && el("li", {}, "and more")),
        muted("One of both waits there, which makes the work longer: the plan does not avoid it.")];
}

function planned(plan, robots) {
    const guesses = plan.tasks.filter(task => task.guessed).length;
    const {uncertain} = plan;
    return [
        el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Chart of the plan"},
            chartOf(plan, robots)),
        facts([["Length", seconds(plan.length_s)],
            uncertain && ["Somebody waits", `${percent(uncertain.share_with_wait)} of ${count(uncertain.draws)} plays`],
            ["Need one place at once", count(plan.interference.length)],
            ["Durations", guesses === 0 ? "measured" : `${guesses} of ${plan.tasks.length} guesses`]]),
        muted(lengthText(plan), " ", uncertain && uncertainText(uncertain), guesses > 0
            && " Guesses use times of the lab file; their bars are dashed."),
        interferenceText(plan),
        table("Tasks of the plan", [
            {label: "Task", cell: task => task.task},
            {label: "Robots", cell: task => task.robots},
            {label: "Begin", numeric: true, cell: task => seconds(task.start_s)},
            {label: "End", numeric: true, cell: task => seconds(task.end_s)},
            {label: "Duration", numeric: true, cell: task => [seconds(task.end_s - task.start_s),
                task.guessed && muted("a guess")]},
        ], plan.tasks),
    ];
}

// ---- the panel ----

// robots: their names, in the order of the file
export function mountPlan(root, path, robots, query, signal) {
    const shown = el("div", {});
    const input = el("input", {id: "plan-set", type: "search", value: query.set ?? "", spellcheck: "false",
        placeholder: "R1.speed=+10%,IB.capacity=2", autocomplete: "off", size: "28"});
    const address = () => `${path}/plan${input.value.trim() ? `?set=${encodeURIComponent(input.value.trim())}` : ""}`;
    show(root, section("Plan",
        muted("Who should begin which task when, so that nobody waits. Nothing runs the plan: “Start the team” lets "
            + "every robot begin its own sequence. To use the plan, write its order into the sequences of the lab "
            + "file."),
        el("div", {class: "bar"}, field("What if", input)), shown));
    const refresh = watch(signal, s => get(address(), s), {everyMs: EVERY_MS},
        plan => redraw(shown, planned(plan, robots)), error => show(shown, failure(error)));
    input.addEventListener("change", () => {
        setQuery({set: input.value.trim()});
        refresh();
    });
}
