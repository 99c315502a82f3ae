// Parts of a team's view: its jobs and courses with their predictions, and its machines.

import {get} from "./api.js";
import {diagramOf, drawing, zoomTools} from "./diagrams.js";
import {count, duration, fixed, known, labNow} from "./format.js";
import {button, el, empty, facts, marked, muted, redraw, section, show, table} from "./ui.js";
import {watch} from "./watch.js";

// ---- predictions and results ----

const seconds = s => (known(s) ? `${fixed(s, 1)} s` : "–");

function predictedCell({predicted}) {
    if (!predicted) {
        return "–";
    }
    const {p05_s: p05, p50_s: p50, p95_s: p95, after_s: after} = predicted;
    return known(p05) ? [`${fixed(p50, 1)} s (${fixed(p05, 1)} to ${fixed(p95, 1)})`,
        known(after) && muted(`predicted ${fixed(after, 1)} s after the beginning`)]
        : [`about ${fixed(p50, 1)} s`, muted("a guess: durations of the file")];
}

// over: it has ended
function outcome(what, over) {
    if (what.disturbed) {
        return marked("!", "behind", "took another path");
    }
    if (!over) {
        return marked("●", "sync", "under way");
    }
    return what.inside === null ? marked("○", "unsure", what.predicted ? "not judged" : "not predicted")
        : what.inside ? marked("✓", "sync", "inside") : marked("✕", "bad", "outside");
}

function share({predicted: n, inside}) {
    return n === 0 ? "none yet" : `${count(inside)} of ${count(n)} inside`;
}

// The duration of courses: GET /teams/{team}.
export function runSection({state: {run}, last_run: last, judged}) {
    const rows = [run && {...run, name: "now"}, last && {...last, name: `run ${last.number}`}].filter(Boolean);
    return section("How long it takes", rows.length === 0
        ? empty("Nothing was predicted yet", "When the team begins, its duration is predicted.")
        : table("Courses of the team", [
            {label: "Course", cell: row => row.name},
            {label: "Predicted", numeric: true, cell: row => [predictedCell(row), row.detail && muted(row.detail)]},
            {label: "Real", numeric: true, cell: row => (row.makespan_real_s === undefined
                ? duration(labNow() - row.t) : seconds(row.makespan_real_s))},
            {label: "Virtual", numeric: true, cell: row => seconds(row.makespan_virtual_s)},
            {label: "", cell: row => outcome(row, row.makespan_real_s !== undefined)},
        ], rows),
    facts([["Courses", share(judged.runs)], ["Jobs", share(judged.jobs)]]),
    muted("Predicted: the median, and the range from P05 to P95, which should contain nine of ten."));
}

function jobTable({waiting, jobs}) {
    return table("Jobs", [
        {label: "Job", cell: job => job.job ?? `number ${job.number ?? "–"}`},
        {label: "Part", cell: job => job.part},
        {label: "By", cell: job => job.robot ?? muted("no robot yet")},
        {label: "Predicted", numeric: true, cell: predictedCell},
        {label: "Real", numeric: true, cell: job => seconds(job.makespan_real_s)},
        {label: "Virtual", numeric: true, cell: job => seconds(job.makespan_virtual_s)},
        {label: "", cell: job => (job.number ? outcome(job, job.makespan_real_s !== null)
            : marked("…", "behind", "waits"))},
    ], [...waiting, ...jobs].slice(0, 30));
}

const failed = (root, error) => show(root, muted(error.detail ?? error.title ?? String(error)));

export function mountJobs(root, path, signal) {
    watch(signal, `${path}/jobs`, {types: ["team"]}, data => redraw(root, data.waiting.length + data.jobs.length > 0
        && section("Jobs", jobTable(data), data.jobs.length + data.waiting.length > 30
            && muted("The newest 30; GET …/jobs has the others."))), error => failed(root, error));
}

// ---- machines ----

const MACHINES = ["robot", "task", "activity", "resource"];

function statesOf(name, {robots, resources}) {
    return new Set(name === "resource" ? Object.values(resources).flat() : Object.values(robots).map(r => r[name]));
}

function machineTable({robots, resources}, chosen, choose) {
    const head = name => button(name, () => choose(name),
        {class: "pick", "data-key": name, "aria-pressed": String(name === chosen)});
    const rows = [...Object.entries(robots).map(([name, states]) => ({name, ...states})),
        ...Object.entries(resources).map(([name, units]) => ({name, resource: units.join(", ")}))];
    return [el("div", {class: "bar", role: "group", "aria-label": "Diagram of"}, MACHINES.map(head)),
        table("States of the team's machines", [
            {label: "Machine of", cell: row => row.name},
            ...MACHINES.map(name => ({label: name, cell: row => row[name] ?? ""})),
        ], rows)];
}

export function mountMachines(root, path, signal) {
    const list = el("div", {});
    const picture = el("div", {});
    let newest = null;
    let chosen = "robot";
    let light = null;

    function draw() {
        if (newest) {
            redraw(list, machineTable(newest, chosen, choose));
            light?.(statesOf(chosen, newest), new Set());
        }
    }

    async function choose(name) {
        chosen = name;
        light = null;
        draw();
        const diagram = await diagramOf(name).catch(() => null);
        if (chosen !== name || signal.aborted) {
            return;
        }
        if (!diagram) {
            show(picture, muted("There is no diagram of it."));
            return;
        }
        const drawn = drawing(diagram);
        light = drawn.light;
        show(picture, el("div", {class: "bar"}, muted(diagram.purpose), el("span", {class: "push"}, zoomTools(drawn))),
            drawn.frame, muted("Filled: where robots, or units, are now."));
        draw();
    }

    show(root, section("Machines", list, picture));
    watch(signal, s => get(`${path}/machines`, s), {everyMs: 1000}, data => {
        newest = data;
        draw();
    }, error => failed(list, error));
    choose(chosen);
}
