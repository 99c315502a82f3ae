// The state machines of the pair, live: Tandem's own, and those that the robots publish.

import {diagramOf, drawing} from "./diagrams.js";
import {ago, count, figures, known, labNow, time} from "./format.js";
import {keepQuery, pairAddress} from "./router.js";
import {button, el, empty, failure, marked, muted, helpButton, redraw, section, show, table,
    waiting} from "./ui.js";
import {watch} from "./watch.js";

const RECENT_S = 3; // how long a state that was left stays marked
const TRACE = 15; // transitions in the list
const OWNERS = {tandem: "Tandem", real: "real robot", virtual: "virtual robot"};
const INITIAL = {smartlog: "IDLE", link: "IDLE"}; // without a command there is no machine

// ---- from the answer to rows {key, owner, name, tokens, visits, faults, variables} ----

// A token stands in one state: that of a command, or of a side.
function tokensOf(name, group) {
    if (group.commands) {
        return group.commands.length > 0 ? group.commands.map(c => ({label: c.id ?? "a command", ...c.machine}))
            : [{label: "no command open", state: INITIAL[name], since: null}];
    }
    return ["real", "virtual"].filter(side => group[side]).map(side => ({label: OWNERS[side], ...group[side]}));
}

function isMachine(value) {
    return typeof value === "object" && value !== null && typeof value.state === "string";
}

function rowsOf(machines) {
    const own = Object.entries(machines.tandem).filter(([, group]) => !Array.isArray(group)).map(([name, group]) => ({
        key: `tandem.${name}`, owner: "tandem", name, tokens: tokensOf(name, group), visits: group.visits,
            faults: group.faults}));
    const published = ["real", "virtual"].flatMap(side => Object.entries(machines[side] ?? {})
        .filter(([, m]) => isMachine(m)).map(([name, m]) => ({
        key: `${side}.${name}`, owner: side, name, tokens: [{label: OWNERS[side], ...m}], visits: m.visits,
            faults: m.faults})));
    return [...own, ...published];
}

// States of this machine that were left a moment ago.
function recentOf(row, trace) {
    const now = labNow();
    return new Set(row.owner !== "tandem" ? [] : trace.filter(step => step.machine === row.name
        && now - step.t < RECENT_S)
        .flatMap(step => [step.from, step.to]));
}

// ---- the list of machines ----

function sinceOf(token) {
    return known(token.since) && token.since > 0 ? ago(token.since, labNow()) : "";
}

function drawList(root, rows, chosen, choose) {
    redraw(root, table("State machines and the states they are in", [
        {label: "Machine", cell: row => button(row.name, () => choose(row.key),
            {class: "pick", "data-key": row.key, "aria-pressed": String(row.key === chosen)})},
        {label: "Of", cell: row => OWNERS[row.owner], className: "nowrap"},
        {label: "State", cell: row => row.tokens.map(t => el("div", {class: "nowrap"}, el("strong", {}, t.state),
            row.tokens.length > 1 && el("small", {}, ` ${t.label}`)))},
        {label: "Since", cell: row => row.tokens.map(t => el("div", {class: "nowrap muted"}, sinceOf(t) || "–"))},
        {label: "Steps", cell: row => count(Object.values(row.visits ?? {}).reduce((sum, n) => sum + n, 0)),
            numeric: true},
        {label: "Faults", cell: row => (row.faults > 0 ? marked("✕", "bad", `${count(row.faults)}`) : "none"),
            numeric: true},
    ], rows));
}

// ---- the chosen one ----

const HIDDEN = new Set(["label", "state", "since", "arc", "visits", "stay_s", "faults"]);

function value(name, v) {
    if (v === null) {
        return "not set";
    }
    if (typeof v === "number" && v > 1e9) {
        return time(v > 1e14 ? v / 1e6 : v); // a time, in seconds or, for a robot's, microseconds
    }
    return typeof v === "number" ? figures(v, 4) : String(v);
}

function variablesOf(row) {
    const shown = ([name, v]) => !HIDDEN.has(name) && (v === null || typeof v !== "object");
    return row.tokens.map(t => [t, Object.entries(t).filter(shown)])
        .filter(([, list]) => list.length > 0)
        .map(([t, list]) => muted(row.tokens.length > 1 && `${t.label}: `,
            list.map(([name, v]) => `${name} ${value(name, v)}`).join(", ")));
}

// A robot's own machine may have the name of one of Tandem's, but different states.
function isPictureOf(diagram, row) {
    const states = Object.keys(row.visits ?? {});
    return row.owner === "tandem" || states.length === 0
        || (states.length === diagram.states.length && states.every(state => diagram.states.includes(state)));
}

// Keeps the diagram while its machine stays the chosen one, so that only its lights change.
class Picture {
    constructor(root) {
        this.root = root;
        this.key = null;
        this.fit = true;
    }

    async choose(row) {
        this.key = row.key;
        this.drawing = null;
        this.facts = el("div", {});
        const diagram = await diagramOf(row.name, found => isPictureOf(found, row));
        if (this.key !== row.key) {
            return;
        }
        const head = el("h2", {}, row.name, el("small", {}, ` ${OWNERS[row.owner]}`));
        if (!diagram) {
            show(this.root, head, helpButton(this.root, "State machine"),
                muted("A machine of the robot: its file is not among the lab file's machines."), this.facts);
            return;
        }
        this.drawing = drawing(diagram);
        const whole = el("button", {type: "button", "aria-pressed": String(this.fit), onclick: () => {
            this.fit = !this.fit;
            whole.setAttribute("aria-pressed", String(this.fit));
            this.drawing.frame.classList.toggle("fit", this.fit);
        }}, "Whole picture");
        this.drawing.frame.classList.toggle("fit", this.fit);
        this.entering = true;
        show(this.root, el("div", {class: "bar helped"}, head, el("span", {class: "push"}, whole)),
            helpButton(this.root, "State machine"), muted(diagram.purpose),
            this.drawing.frame, muted("Filled: where it is now. Tinted: where it was in the last 3 s. ",
                "Bold: the arc that it took last. Dashed: arcs after which it waits."), this.facts);
    }

    draw(row, trace) {
        const node = this.drawing?.light(new Set(row.tokens.map(t => t.state)), recentOf(row, trace),
            new Set(row.tokens.map(t => t.arc).filter(Number.isInteger)));
        if (node && this.entering) {
            this.entering = false;
            centre(this.drawing.frame, node);
        }
        show(this.facts, variablesOf(row));
    }
}

// Scroll the frame, not the page.
function centre(frame, node) {
    const [outer, inner] = [frame.getBoundingClientRect(), node.getBoundingClientRect()];
    frame.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
    frame.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
}

function drawTrace(root, trace) {
    redraw(root, trace.length === 0 ? muted("No transition yet.")
        : table("Latest transitions of Tandem's machines, newest first", [
        {label: "Time", cell: s => time(s.t), className: "nowrap"},
        {label: "Machine", cell: s => s.machine},
        {label: "From", cell: s => s.from},
        {label: "To", cell: s => s.to},
        {label: "Because", cell: s => s.arc ?? "", className: "muted nowrap"},
    ], [...trace].reverse().slice(0, TRACE)));
}

export function mount(root, {pair, path, route, signal}) {
    const list = el("div", {class: "machine-list"}, waiting());
    const panel = el("section", {class: "panel", hidden: true});
    const traceList = el("div", {});
    const tracePanel = section("Latest transitions", traceList);
    tracePanel.hidden = true;
    show(root, list, panel, tracePanel);
    const picture = new Picture(panel);
    let newest = null;
    let chosen = route.query.machine ?? null;

    async function draw() {
        const rows = rowsOf(newest);
        const row = rows.find(r => r.key === chosen) ?? rows[0];
        if (!row) {
            show(list, empty("No machines",
                "Tandem's own come with the first command; a robot publishes its own on its 'machines' topic."));
            return;
        }
        const focused = document.activeElement?.dataset?.key;
        drawList(list, rows, row.key, choose);
        if (focused) {
            list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
        }
        panel.hidden = tracePanel.hidden = false;
        if (picture.key !== row.key) {
            await picture.choose(row);
        }
        if (!signal.aborted && picture.key === row.key) {
            picture.draw(row, newest.tandem.trace);
        }
        drawTrace(traceList, newest.tandem.trace);
    }

    function choose(key) {
        chosen = key;
        keepQuery(pairAddress(pair, "machines"), {machine: key});
        draw().catch(error => show(panel, failure(error)));
    }

    watch(signal, `${path}/machines`, {pair, types: ["machines"]}, machines => {
        newest = machines;
        draw().catch(error => show(panel, failure(error)));
    }, error => show(list, failure(error)));
    // States that were left fade, and times pass, without any event.
    const timer = setInterval(() => newest && draw().catch(() => {}), 1000);
    signal.addEventListener("abort", () => clearInterval(timer));
}
