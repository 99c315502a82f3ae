// Parameter sets for the simulator: their checks, promotion and roll back.

import {get, send} from "./api.js";
import {TERMS, checkTable, valueText} from "./estimate.js";
import {changeText, dateTime, decimalsFor, fixed, known, plural, unitOf, withUnit, wordsOf} from "./format.js";
import {confirm} from "./token.js";
import {button, el, empty, marked, muted, places, redraw, section, stage, table} from "./ui.js";
import {fitChip} from "./verdicts.js";
import {watch} from "./watch.js";

const CHANGES = 20;
const ANSWER_MS = 8000; // the lab handles a request at its next step
const ASK_MS = 250;
const NAMES = {travel_time: "Travel times"};
const ACTIONS = {
    proposed: ["+", "unsure", "became a candidate"], rejected: ["✕", "bad", "did not pass its checks"],
    promoted: ["▲", "sync", "went into force"], rolled_back: ["▼", "behind", "is in force again"],
    declined: ["✕", "bad", "was declined"], acknowledged: ["✓", "sync", "was acknowledged by the simulator"],
    version_changed: ["→", "unsure", "runs another version of its program"],
};

function meaningOfChange(c) {
    const refused = c.action === "acknowledged" && c.detail.includes(" refused");
    return refused ? ["⚠", "bad", "was not applied in full by the simulator"] : ACTIONS[c.action];
}

function meaningOf(name) {
    return TERMS[name] ?? wordsOf(name);
}

function nameOf(model) {
    return NAMES[model] ?? `Dynamics (${model})`;
}

function valueOf(set, name) {
    return set ? valueText(set, name) : "–";
}

// The value sent to the simulator so that it moves like the real robot: absolute, or a change of its own.
function sentText(set, name) {
    const unit = unitOf(name);
    const sent = set.sent[name];
    const {factor, add} = set.adjust?.[name] ?? {};
    return [
        known(sent) && withUnit(fixed(unit === "s" ? Math.max(sent, 0) : sent, 3), unit),
        known(factor) && `own × ${fixed(factor, 3)}`,
        known(add) && `own ${add < 0 ? "−" : "+"} ${withUnit(fixed(Math.abs(add), 3), unit)}`,
    ].filter(Boolean).join(" or ") || "–";
}

function fromTo(before, after) {
    return el("ul", {class: "words-list"}, Object.keys(after.values).filter(name => known(after.values[name]))
        .map(name => {
        const n = decimalsFor(after.se[name]);
        const old = before?.values[name];
        return el("li", {}, `${meaningOf(name)}: `, known(old) && `${fixed(old, n)} → `,
            el("strong", {}, withUnit(fixed(after.values[name], n), unitOf(name))));
    }));
}

// ---- actions ----

const OUTCOMES = {promote: ["promoted", "declined"], rollback: ["rolled_back", "declined"],
    propose: ["proposed", "rejected", "declined"]};

function subject(change) {
    if (change.action === "version_changed") {
        return `The ${change.by} robot`;
    }
    return change.version > 0 ? `Set ${change.version}` : change.action === "acknowledged" ? "That no set is in force"
        : "No set";
}

// The result of a request: its change, newer than `before`.
async function outcome(path, action, before) {
    const until = performance.now() + ANSWER_MS;
    while (performance.now() < until) {
        await new Promise(done => setTimeout(done, ASK_MS));
        const {changes} = await get(`${path}/parameters/changes?limit=5`);
        const change = changes.find(c => c.n > before && c.by === "http" && OUTCOMES[action].includes(c.action));
        if (change) {
            const [sign, tone, words] = meaningOfChange(change);
            return [sign, tone, `${subject(change)} ${words}${change.detail ? `: ${change.detail}` : ""}.`];
        }
    }
    return ["…", "unsure", "The lab has the request; its result will appear in the history below."];
}

class Doer {
    constructor(path, notice) {
        Object.assign(this, {path, notice, newest: 0});
    }

    ask(title, content, label, action, body) {
        return confirm(title, content, label, async () => {
            const before = this.newest;
            await send("POST", `${this.path}/parameters/${action}`, body);
            return outcome(this.path, action, before);
        }, this.notice);
    }

    promote(model, active, candidate) {
        const marginal = candidate.verdict === "MARGINAL";
        return this.ask(`Promote set ${candidate.version}?`, [
            el("p", {}, `${nameOf(model)}: set ${candidate.version}, made ${dateTime(candidate.made_t)} from `,
                `${plural(candidate.n, "row")}, goes into force and is sent to the simulator`,
                active ? ` in place of set ${active.version}.` : "."), fromTo(active, candidate),
            marginal && el("p", {}, marked("⚠", "unsure", "The fit is MARGINAL: look at its checks first.")),
            muted("It can be rolled back.")],
        `Promote set ${candidate.version}`, "promote",
        {version: candidate.version, model, ...marginal ? {accept: "marginal"} : {}});
    }

    rollBack(model, active) {
        return this.ask(`Take set ${active.version} back?`, [
            el("p", {}, `${nameOf(model)}: set ${active.version} goes out of force. The previous set comes back `,
                "into force and is sent to the simulator; without one the simulator uses its own parameters ",
                "again.")],
        `Take set ${active.version} back`, "rollback", {model});
    }

    propose(model) {
        return this.ask("Make a candidate now?", [
            el("p", {}, `${nameOf(model)}: the real robot is fitted as it is known now. If the fit passes its checks `,
                "it becomes the candidate; nothing is sent to the simulator.")],
        "Make a candidate", "propose", {model});
    }
}

// ---- views ----

function checksOf(changes, set) {
    return changes.find(c => c.version === set?.version && c.set?.model === set.model && c.checks?.length > 0)?.checks;
}

// Why an automatic promotion left the candidate waiting.
function reasonOf(changes, candidate) {
    return changes.find(c => c.action === "proposed" && c.version === candidate?.version)?.detail;
}

function setHead(words, set) {
    return el("div", {}, el("h3", {}, words, set && [" ", fitChip(set.verdict)]),
        set ? muted(`set ${set.version}, ${set.method}, ${plural(set.n, "row")}, made ${dateTime(set.made_t)}`)
            : muted(words === "Candidate" ? "None waits." : "None: the simulator uses its own."));
}

const SIMULATOR = {
    sent: () => ["…", "unsure", "The simulator has not acknowledged the set yet."],
    settling: s => ["…", "unsure", "Settling: the simulator's moves will show whether it has these times " +
        `(${s.moves} of ${Math.max(s.moves, s.moves_needed)} made).`],
    as_asked: () => ["✓", "sync", "The simulator moves with the requested times."],
    misses: () => ["⚠", "behind",
        "The simulator does not move with the requested times; the next set corrects that."],
};

function simulatorLine(simulator) {
    const words = SIMULATOR[simulator?.state]?.(simulator);
    return words && el("p", {}, marked(...words));
}

function book(model, {promote, active, candidate, simulator}, changes, doer) {
    const some = candidate ?? active;
    const checks = checksOf(changes, some);
    const reason = reasonOf(changes, candidate);
    return section(`Parameter sets: ${nameOf(model)[0].toLowerCase()}${nameOf(model).slice(1)}`,
        el("div", {class: "bar"},
            candidate && button(`Promote set ${candidate.version} …`, () => doer.promote(model, active, candidate),
                {class: "primary"}),
            active && button(`Roll back set ${active.version} …`, () => doer.rollBack(model, active)),
            button("Make a candidate now …", () => doer.propose(model)),
            el("span", {class: "muted push"}, promote === "auto" ? "Promotion is automatic."
                : "Promotion is by hand.")),
        el("div", {class: "columns tight"}, setHead("In force", active), setHead("Candidate", candidate)),
        reason && muted(`Set ${candidate.version}: ${reason}.`),
        simulatorLine(simulator),
        some && table(`${nameOf(model)}: sets in force and waiting`, [
            {label: "Parameter", cell: meaningOf},
            {label: "In force, ± 95 %", cell: name => valueOf(active, name), numeric: true},
            {label: "Candidate, ± 95 %", cell: name => valueOf(candidate, name), numeric: true},
            {label: "Change", cell: name => changeText(active?.values[name], candidate?.values[name],
                model === "travel_time" ? unitOf(name) : ""), numeric: true},
            ...some.sent ? [{label: `Sent to the simulator, set ${some.version}`,
                cell: name => sentText(some, name)}] : [],
        ], Object.keys(some.values)),
        checks && [el("h3", {}, `Checks of set ${some.version}`), checkTable(`Checks of set ${some.version}`, checks)]);
}

function drawHistory(root, changes) {
    redraw(root, changes.length === 0 ? empty("Nothing has happened to parameter sets yet",
        "A fit of the real robot that passes its checks becomes a candidate; after about twenty different moves the " +
        "first one can be expected.")
        : table("Changes of parameter sets, newest first", [
            {label: "Time", cell: c => dateTime(c.t), className: "nowrap"},
            {label: "What", cell: c => {
                const [sign, tone, words] = meaningOfChange(c);
                return marked(sign, tone, `${subject(c)} ${words}`);
            }},
            {label: "By", cell: c => c.by},
            {label: "Why", cell: c => [c.detail, c.checks?.filter(k => k.verdict !== "PASS")
                .map(k => el("div", {}, `${k.name.replaceAll("_", " ")}: ${k.detail}`))], className: "prose"},
        ], changes));
}

export function mount(root, {pair, path, signal}) {
    const notice = el("div", {role: "status"});
    const [books, past] = places(2);
    const page = stage(root, notice, books, section("History", past));
    const doer = new Doer(path, notice);
    watch(signal, async s => {
        const summary = await get(path, s);
        const [laps, dynamics, list] = await Promise.all([get(`${path}/parameters`, s),
            summary.dynamics ? get(`${path}/dynamics`, s) : null,
                get(`${path}/parameters/changes?limit=${CHANGES}`, s)]);
        return {laps, dynamics, changes: list.changes};
    }, {pair, types: ["change"]}, ({laps, dynamics, changes}) => {
        page.say(null);
        doer.newest = changes[0]?.n ?? 0;
        redraw(books, book("travel_time", laps, changes, doer), dynamics
            && book(dynamics.model, dynamics, changes, doer));
        drawHistory(past, changes);
    }, page.fail);
}
