// How well the virtual robot follows: reference against simulated velocities, errors,
// actuator commands, and start and stop.

import {get, send} from "./api.js";
import {chart, colour, legend} from "./chart.js";
import {changeText, count, figures, fixed, unitOf, withUnit, wordsOf} from "./format.js";
import {fidelity, modelOf} from "./pair_state.js";
import {PositionError} from "./position_error.js";
import {confirm} from "./token.js";
import {button, el, empty, facts, failure, marked, muted, numberField, redraw, say, section, show, stage, symbol,
    table} from "./ui.js";
import {watch} from "./watch.js";

const EVERY_MS = 500;
const PLACES_MS = 2000;
const SAMPLES_MAX = 600; // samples: five minutes

// u, v, r and the like in words; the unit of errors of states whose name has none.
const MOTIONS = {u: "surge, ahead", v: "sway, sideways", r: "yaw rate", w: "turn rate", x: "x", y: "y", psi: "heading"};
const UNITS = {u: "m/s", v: "m/s", r: "rad/s", w: "rad/s", x: "m", y: "m", psi: "rad"};

function motionOf(name, kinds) {
    // A robot with two velocities calls the one ahead v.
    return name === "v" && !("u" in kinds) ? "speed ahead" : MOTIONS[name] ?? "";
}

const STATES = {OFF: ["○", "unsure"], TRACKING: ["●", "sync"], LOST: ["✕", "bad"]};

// ---- charts ----

// Enough digits to distinguish neighbouring ticks.
function tickText(value, _granularity, _option, graph) {
    const [low, high] = graph.yAxisRange();
    return value === 0 ? "0" : fixed(value, Math.min(8, Math.max(0, Math.ceil(-Math.log10((high - low) / 8)))));
}

// The last minutes of one velocity: those that the daemon has, and then what comes.
class Trace {
    constructor(root, name, kinds, {t, velocities}, signal) {
        const {reference = [], actual = []} = velocities[name] ?? {};
        const date = k => new Date(t[k] * 1000);
        Object.assign(this, {name, rows: reference.map((value, k) => [date(k), value, actual[k]]),
            errors: reference.map((value, k) => [date(k), value - actual[k]])});
        const short = wordsOf(name);
        const words = motionOf(short, kinds);
        const box = el("div", {class: "trace"},
            el("h3", {}, `${words ? `${words} (${short})` : short}, ${unitOf(name)}`));
        root.append(box);
        this.velocity = chart(box, {label: `${name} of both robots`, height: "10rem", tools: false, signal,
            options: () => this.options(["time", "real", "virtual"], ["real", "virtual"],
                {series: {virtual: {strokePattern: [6, 4]}}})});
        this.error = chart(box, {label: `error of ${name}`, height: "6.5rem", tools: false, signal,
            options: () => this.options(["time", "error"], ["behind"], {includeZero: true})});
    }

    options(labels, colours, more) {
        return {labels, colors: colours.map(colour), connectSeparatedPoints: false,
            axes: {y: {axisLabelWidth: 62, pixelsPerLabel: 22, axisLabelFormatter: tickText}}, xAxisHeight: 18,
            yRangePad: 8, ...more};
    }

    append(t, now) {
        const date = new Date(t * 1000);
        const part = now[this.name];
        if (this.rows.length > 0 && this.rows.at(-1)[0] >= date) {
            return; // the daemon's newest one
        }
        this.rows.push([date, part.reference, part.actual]);
        this.errors.push([date, part.error]);
        if (this.rows.length > SAMPLES_MAX) {
            this.rows.shift();
            this.errors.shift();
        }
        this.draw();
    }

    draw() {
        if (this.rows.length > 1) {
            this.velocity.draw(this.rows);
            this.error.draw(this.errors);
        }
    }
}

// ---- words and numbers ----

function drawHead(root, following, report) {
    const [sign, tone] = STATES[following.state] ?? ["◇", "unsure"];
    const [mark, markTone, figure, words] = fidelity({active: following.active, state: following.state,
        within_ratio: report.within_ratio, target_ratio: report.target?.ratio, missed: report.missed});
    const target = report.target && [`within ${withUnit(fixed(report.target.distance_m * 100, 1), "cm")} and `,
        `${withUnit(fixed(report.target.time_s * 1000, 0), "ms")}, `,
        `over the last ${withUnit(fixed(report.window_s, 0), "s")}`];
    redraw(root,
        facts([
            ["State", marked(sign, tone, `${following.state}`)],
            ["Fidelity", marked(mark, markTone, `${figure}`), el("div", {}, el("small", {}, target ?? words))],
            ["Actuators", !following.active ? "not in use"
                : following.saturated ? marked("✕", "bad", "at their limit: the errors grow")
                : marked("●", "sync", "within their limits")],
            ["Delay of telemetry", withUnit(fixed(following.latency_s * 1000, 1), "ms")],
            ["Model, method", `${following.model}, ${following.method}`],
            ["Gains", withUnit(figures(following.gains.bandwidth_radps, 3), "rad/s"),
                `, rejection ${following.gains.rejection}`],
        ]),
        following.obstacle && el("p", {class: "notice"}, symbol("◇", "sign tone-unsure"),
            ` Not yet: ${following.obstacle}`));
}

function drawErrors(root, report) {
    redraw(root, report.samples === 0 ? empty("No motion compared yet",
        "Both robots must publish telemetry with their velocities.")
        : table("Errors state by state", [
            {label: "State", cell: ([name]) => {
                const words = motionOf(name, report.states);
                const title = words && words !== name ? `${words} (${name})` : name;
                return UNITS[name] ? `${title}, ${UNITS[name]}` : title;
            }},
            {label: "RMS error", cell: ([, s]) => figures(s.rmse, 3), numeric: true},
            {label: "Mean |error|", cell: ([, s]) => figures(s.mae, 3), numeric: true},
            {label: "R²", cell: ([, s]) => (s.r2 < 0 ? "below 0" : fixed(s.r2, 5)), numeric: true},
        ], Object.entries(report.states)),
    report.samples > 0 && muted(`${count(report.samples)} samples in ${withUnit(fixed(report.window_s, 0), "s")}. `,
        "The errors contain the noise of the real robot's telemetry."));
}

function drawEfforts(root, efforts) {
    redraw(root, table("Efforts of the virtual robot's actuators", [
        {label: "Effort", cell: ([name]) => `${wordsOf(name)}, ${unitOf(name)}`},
        {label: "Sent", cell: ([, e]) => figures(e.sent, 4), numeric: true},
        {label: "Beyond the limits", cell: ([, e]) => figures(e.unmatched, 3), numeric: true},
        {label: "Disturbance compensated", cell: ([, e]) => figures(e.disturbance, 3), numeric: true},
    ], Object.entries(efforts)));
}

function drawParameters(root, {real, virtual}) {
    const names = Object.keys((real ?? virtual)?.values ?? {});
    const column = (who, model) => ({label: `${who} (${model?.source.replaceAll("_", " ") ?? "not known"})`,
        cell: name => withUnit(figures(model?.values[name], 5), unitOf(name)), numeric: true});
    redraw(root, table("Parameters of both models", [
        {label: "Parameter", cell: wordsOf},
        column("Real", real), column("Virtual", virtual),
        {label: "Virtual against real", cell: name => changeText(real?.values[name], virtual?.values[name]),
            numeric: true},
    ], names));
}

// ---- start, stop, gains ----

function change(path, title, content, label, readRequest, notice) {
    return confirm(title, content, label, async () => {
        await send("PUT", `${path}/following`, readRequest());
        return ["✓", "sync", "The lab has the request; the state below shows its result."];
    }, notice);
}

function setGains(path, gains, notice) {
    const rejection = el("select", {id: "rejection"}, ["none", "integral", "observer"].map(name =>
        el("option", {value: name, selected: name === gains.rejection}, name)));
    const inputs = [numberField("bandwidth", "Bandwidth, rad/s", gains.bandwidth_radps),
        numberField("observer", "Observer, rad/s", gains.observer_radps),
        numberField("pose", "Pull towards the real pose, 1/s²", gains.pose_per_s2)];
    const number = k => Number(inputs[k][1].value);
    return change(path, "Other gains?", [
        el("p", {}, "A higher bandwidth makes errors die out sooner and asks more of the actuators. ",
            "Gains that the control period does not allow are refused."),
        inputs, el("label", {for: "rejection"}, "Disturbances"), rejection],
    "Use these gains", () => ({bandwidth_radps: number(0), rejection: rejection.value, observer_radps: number(1),
        pose_per_s2: number(2)}), notice);
}

function drawButtons(root, path, following, notice) {
    const start = () => change(path, "Start following?", el("p", {},
        "Tandem sends efforts to the virtual robot, many times a second, that make it move as the real one does. ",
        "The real robot is not touched."),
    "Start following", () => ({active: true}), notice);
    const stop = () => change(path, "Stop following?", el("p", {},
        "Tandem sends no more efforts; the virtual robot continues under its own controller."),
    "Stop following", () => ({active: false}), notice);
    show(root, following.active ? button("Stop following …", stop)
        : button("Start following …", start, {class: "primary"}),
        button("Gains …", () => setGains(path, following.gains, notice)));
}

function nobody(pair, summary) {
    return empty("Not following in this pair",
        "To have Tandem drive the virtual robot so that it moves as the real one does, say by which model in the lab " +
        "file and start the daemon again:",
        `pairs:\n  ${pair}:\n    following: {model: ${modelOf(summary)}}`);
}

export function mount(root, {pair, path, signal}) {
    const parts = Object.fromEntries(["head", "buttons", "traces", "place", "errors", "efforts", "parameters"]
        .map(name => [name, el("div", {})]));
    const notice = el("div", {role: "status"});
    parts.buttons.className = "bar";
    parts.traces.className = "traces";
    const still = muted("They are shown here while Tandem follows: press Start following.");
    const moving = el("div", {hidden: true}, legend([["━", "real", "real robot, estimated for now"],
        ["╍", "virtual", "virtual robot"], ["━", "behind", "error: real minus virtual"]]), parts.traces);
    const page = stage(root, parts.buttons, notice, section("How it goes", parts.head),
        section("Velocities", still, moving), section("Distance of the virtual robot", parts.place),
        el("div", {class: "columns"}, section("Errors over the window", parts.errors),
            section("Efforts", parts.efforts)),
        section("Models", parts.parameters));
    const traces = new Map();
    let buttons = "";
    let summary = null; // the lab file prescribes whether it follows, so that stays
    let past = null;
    let place = null;
    let trajectory = null; // it may come before the place of its chart, and not change any more
    watch(signal, `${path}/trajectory`, {everyMs: PLACES_MS}, newest => {
        trajectory = newest;
        place?.draw(newest);
    }, error => show(parts.place, failure(error)));
    watch(signal, async s => {
        summary ??= await get(path, s);
        const [following, report, seen] = summary.following !== null ? await Promise.all([get(`${path}/following`, s),
            get(`${path}/fidelity`, s), past ?? get(`${path}/following/motion`, s)]) : [];
        past = seen;
        return {following, report};
    }, {everyMs: EVERY_MS}, ({following, report}) => {
        if (!page.say(!following && nobody(pair, summary))) {
            return;
        }
        if (!place) {
            place = new PositionError(parts.place, Boolean(summary.arm), signal);
            place.draw(trajectory ?? {real: [], virtual: []});
        }
        drawHead(parts.head, following, report);
        drawErrors(parts.errors, report);
        drawEfforts(parts.efforts, following.efforts);
        drawParameters(parts.parameters, following.parameters);
        const face = JSON.stringify([following.active, following.gains]);
        if (face !== buttons) {
            buttons = face;
            drawButtons(parts.buttons, path, following, notice);
            say(`Following is ${following.active ? "on" : "off"}`);
        }
        // The samples stay visible after it stops.
        const moves = following.active || traces.size > 0 || past.t.length > 0;
        still.hidden = moves;
        moving.hidden = !moves;
        if (!moves) {
            return;
        }
        const kinds = Object.fromEntries(Object.keys(following.now).map(name => [wordsOf(name), true]));
        for (const name of Object.keys(following.now)) {
            if (!traces.has(name)) {
                traces.set(name, new Trace(parts.traces, name, kinds, past, signal));
                traces.get(name).draw();
            }
            if (following.active) {
                traces.get(name).append(report.t, following.now);
            }
        }
    }, error => page.say(failure(error)));
}
