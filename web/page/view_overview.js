// All pairs of the lab, those in trouble first.

import {getPairs} from "./api.js";
import {ago, count, labNow} from "./format.js";
import {LEVELS, fidelity, judge, judgedText, lagNumber, lastVerdict, linkState, sideState, trustLine, verdictBar,
    verdictWords, whatToDo, wordsOfAlarm} from "./pair_state.js";
import {pairAddress, teamAddress} from "./router.js";
import {el, empty, failure, field, marked, redraw, say, show, symbol, waiting} from "./ui.js";
import {watch} from "./watch.js";

export const title = "Pairs";

const CHUNK = 60; // cards drawn before the browser may paint
const DENSE_FROM = 25; // pairs: rows instead of cards
const SHOWN_MAX = 1000; // others are found by name
const byName = new Intl.Collator("en", {numeric: true});

function mostFirst(amount) {
    return (a, b) => amount(b.pair) - amount(a.pair) || byName.compare(a.id, b.id);
}

const ORDERS = {
    trouble: {label: "trouble first", compare: (a, b) => a.level - b.level || byName.compare(a.id, b.id)},
    name: {label: "name", compare: (a, b) => byName.compare(a.id, b.id)},
    lag: {label: "largest lag", compare: mostFirst(pair => Math.abs(pair.last_lag_s ?? 0))},
    latest: {label: "latest move", compare: mostFirst(pair => pair.last_entry_t ?? 0)},
};

// ---- one pair ----

function alarmLine(pair, now) {
    return pair.last_alarm ? marked("⚠", "bad", `${wordsOfAlarm(pair.last_alarm.type)} `,
        el("span", {class: "muted"}, ago(pair.last_alarm.t, now)))
        : el("span", {class: "muted"}, "no alarms");
}

function motionLine(pair) {
    if (pair.following && (pair.following.active || pair.entries === 0)) {
        const [sign, tone, figure, words] = fidelity(pair.following);
        return el("div", {class: `big tone-${tone}`}, symbol(sign, "sign"), ` ${figure}`, el("small", {}, words));
    }
    const parts = judgedText(pair.last_lag_s, pair.last_judged_lag_s).slice(2, -1);
    return el("div", {class: "big"}, pair.entries > 0 && [lagNumber(pair),
        el("small", {}, parts ? `last known lag: ${parts}` : "last known lag")]);
}

function drawCard(row, now) {
    const {pair} = row;
    const level = LEVELS[row.level];
    const hasMoves = pair.entries > 0;
    redraw(row.node,
        el("div", {class: "top"}, el("h2", {}, el("a", {href: pairAddress(pair.id)}, pair.id)),
            el("div", {class: `level tone-${level.tone}`}, symbol(level.sign, "sign"),
                ` ${row.reason || level.label}`)),
        row.todo && el("div", {class: level.name === "quiet" ? "todo later" : "todo"}, `→ ${row.todo}`),
        motionLine(pair),
        el("div", {class: "last"}, hasMoves && lastVerdict(pair)),
        el("div", {class: "shares"}, hasMoves && [verdictBar(pair.recent_verdicts),
            verdictWords(pair.recent_verdicts)]),
        el("div", {class: "sides"}, sideState("real", pair.real, now), sideState("virtual", pair.virtual, now),
            linkState(pair)),
        el("div", {class: "alarm"}, alarmLine(pair, now)), trustLine(pair, now));
}

// ---- the list ----

class Overview {
    constructor(root, signal) {
        this.signal = signal;
        this.rows = new Map(); // id -> {id, pair, level, reason, todo, node, face}
        this.order = "trouble";
        this.level = null; // the only level shown; null: all
        this.filter = el("input", {type: "search", id: "filter", placeholder: "part of a name",
            oninput: () => (this.left > 0 ? this.refetch() : this.arrange())});
        this.left = 0; // pairs of the lab that were not fetched
        this.cut = false; // some of them match the filter
        this.orderBox = el("select", {id: "order", onchange: () => {
            this.order = this.orderBox.value;
            this.arrange();
        }}, Object.entries(ORDERS).map(([id, {label}]) => el("option", {value: id}, label)));
        this.levels = el("div", {class: "levels", role: "group", "aria-label": "Show only pairs that are"});
        this.list = el("div", {class: "cards"});
        this.more = el("p", {class: "wait"});
        this.message = el("div", {}, waiting());
        this.bar = el("div", {class: "bar", hidden: true}, this.levels,
            el("span", {class: "push"}), field("Name", this.filter), field("Order", this.orderBox));
        this.teams = el("nav", {class: "bar", "aria-label": "Teams", hidden: true});
        show(root, el("h1", {class: "unseen"}, "Pairs"), this.teams, this.bar, this.message, this.list, this.more);
    }

    updateTeams({teams}) {
        this.teams.hidden = teams.length === 0;
        redraw(this.teams, el("strong", {}, teams.length === 1 ? "Team" : "Teams"), teams.map(team =>
            el("a", {href: teamAddress(team.id)}, team.id,
                team.alarms > 0 && [" ", marked("⚠", "bad", count(team.alarms))])));
    }

    // All pairs of a small lab, else its first pairs, or those with a part of a name.
    fetch(signal) {
        return getPairs(this.left > 0 ? this.filter.value.trim() : "", signal);
    }

    update({pairs, cut, left}) {
        Object.assign(this, {cut, left});
        const now = labNow();
        const seen = new Set();
        for (const pair of pairs) {
            const [level, reason] = judge(pair, now);
            const row = this.rows.get(pair.id) ?? {id: pair.id, node: null, face: ""};
            if (level === 0 && row.level > 0) { // screen readers announce what becomes worse
                say(`${row.id}: ${reason}`);
            }
            Object.assign(row, {pair, level, reason, todo: whatToDo(pair, now)});
            this.rows.set(pair.id, row);
            seen.add(pair.id);
        }
        for (const [id, row] of this.rows) {
            if (!seen.has(id)) {
                row.node?.remove();
                this.rows.delete(id);
            }
        }
        this.bar.hidden = pairs.length < 2 && left === 0;
        this.list.classList.toggle("dense", pairs.length >= DENSE_FROM);
        show(this.message, pairs.length === 0 && left === 0 && empty("The lab has no pairs",
            "Name one in the lab file and start the daemon again:", "pairs: {r1: {}}"));
        this.arrange();
    }

    drawLevels() {
        const counts = LEVELS.map((_, k) => [...this.rows.values()].filter(row => row.level === k).length);
        const text = counts.join();
        if (text === this.counted) {
            return;
        }
        this.counted = text;
        const button = (k, label, sign, tone, n) => el("button",
            {type: "button", "aria-pressed": String(this.level === k),
            class: `tone-${tone}`, disabled: n === 0 && this.level !== k, onclick: () => {
                this.level = this.level === k ? null : k;
                this.counted = "";
                this.arrange();
            }}, sign && symbol(sign, "sign"), sign && " ", `${count(n)} ${label}`);
        show(this.levels, button(null, this.rows.size === 1 ? "pair" : "pairs", "", "unsure", this.rows.size),
            LEVELS.map((level, k) => button(k, level.label, level.sign, level.tone, counts[k])));
    }

    // Sort the cards, some at a time so that the first ones are seen at once.
    arrange() {
        this.drawLevels();
        const part = this.filter.value.trim().toLowerCase();
        const rows = [...this.rows.values()]
            .filter(row => (this.level === null || row.level === this.level) && row.id.toLowerCase().includes(part))
            .sort(ORDERS[this.order].compare);
        const hidden = rows.splice(SHOWN_MAX).length;
        const wanted = new Set(rows.map(row => row.node));
        for (const row of this.rows.values()) {
            if (row.node?.parentNode && !wanted.has(row.node)) {
                row.node.remove();
            }
        }
        if (rows.length === 0 && this.rows.size + this.left > 0) {
            show(this.message, empty("No pair fits", "Clear the name, or show all pairs."));
        } else if (rows.length > 0) {
            show(this.message);
        }
        const more = hidden + (this.cut ? this.left : 0);
        show(this.more, more > 0 && `${count(more)} more are not shown: part of a name finds them.`);
        cancelAnimationFrame(this.frame);
        this.place(rows, 0);
    }

    place(rows, from) {
        if (this.signal.aborted) {
            return;
        }
        const now = labNow();
        const until = Math.min(rows.length, from + CHUNK);
        for (let k = from; k < until; k++) {
            const row = rows[k];
            const {pair, reason, todo} = row;
            const face = JSON.stringify([pair, reason, todo, pair.last_alarm && ago(pair.last_alarm.t, now),
                pair.trust.set && Math.floor((now - pair.trust.set.made_t) / 60)]);
            row.node ??= el("article", {class: "card"});
            if (row.face !== face) {
                row.face = face;
                drawCard(row, now);
            }
            if (this.list.children[k] !== row.node) {
                this.list.insertBefore(row.node, this.list.children[k] ?? null);
            }
        }
        if (until < rows.length) {
            this.frame = requestAnimationFrame(() => this.place(rows, until));
        }
    }
}

// The next click is likely one on a pair.
function prepare() {
    const idle = globalThis.requestIdleCallback ?? (run => setTimeout(run, 500));
    idle(() => Promise.all([import("./view_pair.js"), import("./tab_lag.js"), import("./chart.js").then(c => c.load())])
        .catch(() => {}));
}

export function mount(root, {signal}) {
    const overview = new Overview(root, signal);
    overview.refetch = watch(signal, s => overview.fetch(s), {types: ["entry", "alarm", "fidelity"]},
        fetched => {
            overview.update(fetched);
            prepare();
        }, error => show(overview.message, failure(error)));
    // If this fails, the pairs show the error.
    watch(signal, "teams", {types: ["alarm"]}, data => overview.updateTeams(data), () => {});
}
