// All pairs of the lab, those in trouble first.

import {getPairs, get} from "./api.js";
import {ago, count, labNow} from "./format.js";
import {PairTable, PairWall, SORTS, sortRows} from "./pair_list.js";
import {LEVELS, fidelity, judge, judgedText, lagNumber, lastVerdict, linkState, sideState, trustLine, verdictBar,
    verdictWords, whatToDo, wordsOfAlarm} from "./pair_state.js";
import {keepQuery, pairAddress, teamAddress} from "./router.js";
import {stream} from "./stream.js";
import {button, el, empty, failure, field, marked, muted, redraw, say, show, symbol, waiting} from "./ui.js";
import {watch} from "./watch.js";

export const title = "Pairs";

const CARDS_MAX = 60; // pairs shown as cards, if asked for
const CARDS_USUAL = 24; // and without being asked
const LARGE = 1000; // pairs: after an event only its pair is fetched
const WHOLE_MS = 15000; // between two fetches of all pairs of a large lab
const SINGLE_MAX = 40; // pairs fetched one by one between these
const SINGLE_MS = 500;
const FITS_MS = 10000; // between two fetches of the fits of a card
const LOOKS = {cards: "Cards", table: "Table", wall: "Wall"};
const LAGS = "Each picture has the last lags of a pair, the newest on the right; the band is SYNC.";
const OTHERS_MAX = 100; // pairs of other labs that are shown
const byName = new Intl.Collator("en", {numeric: true});

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

function card(row, now) {
    const {pair} = row;
    const level = LEVELS[row.level];
    const hasMoves = pair.entries > 0;
    const todo = whatToDo(pair, now);
    return el("article", {class: "card", "data-row": row.id},
        el("div", {class: "top"}, el("h2", {}, el("a", {href: pairAddress(pair.id)}, pair.id)),
            el("div", {class: `level tone-${level.tone}`}, symbol(level.sign, "sign"),
                ` ${row.reason || level.label}`)),
        todo && el("div", {class: "todo"}, `→ ${todo}`),
        el("div", {class: "motion"}, motionLine(pair), el("div", {class: "last"}, hasMoves && lastVerdict(pair))),
        el("div", {class: "shares"}, hasMoves && [verdictBar(pair.recent_verdicts),
            verdictWords(pair.recent_verdicts)]),
        el("div", {class: "sides"}, sideState("real", pair.real, now), sideState("virtual", pair.virtual, now),
            linkState(pair)),
        el("div", {class: "alarm"}, alarmLine(pair, now)), trustLine(pair, now, row.fits));
}

class PairCards {
    constructor() {
        this.node = el("div", {class: "cards"});
    }

    draw(rows, now) {
        redraw(this.node, rows.map(row => card(row, now)));
    }
}

// ---- the list ----

// Columns of the file: times in seconds since the epoch, lags in seconds.
const FILE_COLUMNS = {
    pair: ({id}) => id, state: ({level}) => LEVELS[level].name, reason: ({reason}) => reason,
    last_lag_s: ({pair}) => pair.last_lag_s, last_lag_uncertainty_s: ({pair}) => pair.last_lag_uncertainty_s,
    last_judged_lag_s: ({pair}) => pair.last_judged_lag_s, last_verdict: ({pair}) => pair.last_verdict,
    calibration: ({pair: {trust}}) => trust.set?.verdict, in_force: ({pair: {trust}}) => trust.set?.in_force,
    predictions_held: ({pair: {trust}}) => trust.held, predictions: ({pair: {trust}}) => trust.of,
    moves: ({pair}) => pair.entries, last_move_t: ({pair}) => pair.last_entry_t,
    last_alarm: ({pair}) => pair.last_alarm?.type, last_alarm_t: ({pair}) => pair.last_alarm?.t,
    real: ({pair}) => pair.real.connection, virtual: ({pair}) => pair.virtual.connection,
};

class Overview {
    constructor(root, {route: {query}, signal}) {
        this.signal = signal;
        this.rows = new Map(); // id -> {id, rank, pair, level, reason}
        this.look = LOOKS[query.look] ? query.look : null; // null: the usual one for their number
        this.sort = SORTS[query.sort] ? query.sort : "trouble";
        this.reversed = query.reversed === "1";
        this.level = query.level && LEVELS.findIndex(({name}) => name === query.level);
        this.level = this.level >= 0 ? this.level : null; // the only level shown; null: all
        this.left = 0; // pairs of the lab that were not fetched
        this.cut = false; // some of them match the filter
        this.changed = new Set(); // pairs with events since the last fetch
        this.wholeAt = -Infinity;
        this.filter = el("input", {type: "search", id: "filter", placeholder: "part of a name", value: query.name ?? "",
            oninput: () => (this.left > 0 ? this.fetchAgain() : this.arrange())});
        this.sortBox = el("select", {id: "order", onchange: () => this.sortBy(this.sortBox.value, false)},
            Object.entries(SORTS).map(([id, {label}]) => el("option", {value: id}, label)));
        this.levels = el("div", {class: "levels", role: "group", "aria-label": "Show only pairs that are"});
        this.looks = el("div", {class: "levels", role: "group", "aria-label": "Show the pairs as"});
        this.list = el("div", {});
        this.more = el("p", {class: "wait"});
        this.message = el("div", {}, waiting());
        this.bar = el("div", {class: "bar", hidden: true}, this.levels,
            el("span", {class: "push"}), field("Name", this.filter), field("Order", this.sortBox), this.looks,
            button("Table as CSV", () => this.save().catch(error => show(this.message, failure(error)))));
        this.teams = el("nav", {class: "bar", "aria-label": "Teams", hidden: true});
        this.others = el("nav", {class: "bar", "aria-label": "Pairs of other labs", hidden: true});
        this.shown = null; // the list in use
        this.detail = el("div", {}); // of the only pair
        show(root, el("h1", {class: "unseen"}, "Pairs"), this.teams, this.bar, this.message, this.list, this.more,
            this.detail, this.others);
    }

    updateTeams({teams}) {
        this.teams.hidden = teams.length === 0;
        redraw(this.teams, el("strong", {}, teams.length === 1 ? "Team" : "Teams"), teams.map(team =>
            el("a", {href: teamAddress(team.id)}, team.id,
                team.alarms > 0 && [" ", marked("⚠", "bad", count(team.alarms))])));
    }

    // A pair's own page is at its daemon.
    updateOthers(pairs) {
        this.others.hidden = pairs.length === 0;
        const line = ({pair, lab: name, address, running}) => el("span", {},
            address ? el("a", {href: `${address}/${pairAddress(pair)}`}, pair) : pair,
            el("span", {class: "muted"}, ` ${name}${running ? "" : ", away"}`));
        redraw(this.others, el("strong", {}, "Other labs"), pairs.slice(0, OTHERS_MAX).map(line),
            pairs.length > OTHERS_MAX && muted(`and ${count(pairs.length - OTHERS_MAX)} more`));
    }

    fetchAgain() {
        this.wholeAt = -Infinity;
        this.refetch();
    }

    // After an event of a pair of a large lab.
    async changePair(id) {
        this.changed.add(id);
        if (this.rows.size < LARGE || this.changing) {
            return;
        }
        this.changing = true;
        for (let ids = [id]; ids.length > 0 && !this.signal.aborted; ids = [...this.changed].slice(0, SINGLE_MAX)) {
            ids.forEach(one => this.changed.delete(one));
            const pairs = await Promise.all(ids.filter(one => this.rows.has(one)).map(one =>
                get(`pairs/${encodeURIComponent(one)}`, this.signal).catch(() => null))); // all pairs show the error
            const now = labNow();
            pairs.filter(Boolean).forEach(pair => this.judgePair(pair, now));
            this.arrange();
            await new Promise(done => setTimeout(done, SINGLE_MS));
        }
        this.changing = false;
    }

    // All pairs of a small lab, else its first pairs, or those with a part of a name. Of a large lab seldom.
    async fetch(signal) {
        if (this.rows.size >= LARGE && performance.now() - this.wholeAt < WHOLE_MS) {
            return null;
        }
        this.changed.clear();
        this.wholeAt = performance.now();
        const now = labNow();
        return getPairs(this.left > 0 ? this.filter.value.trim() : "", signal, (pairs, left) => {
            pairs.forEach(pair => this.judgePair(pair, now));
            if (!this.shown && left > 0) { // the first ones are seen at once
                this.update({pairs, cut: false, left});
            }
        });
    }

    judgePair(pair, now) {
        const [level, reason] = judge(pair, now);
        const row = this.rows.get(pair.id) ?? {id: pair.id, rank: 0};
        if (level === 0 && row.level > 0) { // screen readers announce what becomes worse
            say(`${row.id}: ${reason}`);
        }
        Object.assign(row, {pair, level, reason});
        this.rows.set(pair.id, row);
    }

    update({pairs, cut, left}) {
        Object.assign(this, {cut, left});
        this.setRows(pairs.map(pair => pair.id));
        const usual = this.rows.size > CARDS_USUAL ? "table" : "cards";
        this.choose(this.look === "cards" && this.rows.size > CARDS_MAX ? "table" : this.look ?? usual);
        this.bar.hidden = this.rows.size < 2 && this.left === 0;
        show(this.message, this.rows.size === 0 && this.left === 0 && empty("The lab has no pairs",
            "Name one in the lab file and start the daemon again:", "pairs: {r1: {}}"));
        this.arrange();
        this.showOnly().catch(error => show(this.detail, failure(error)));
        if (this.shown.look === "cards") {
            this.fetchFits();
        }
    }

    // The only pair of a lab fills the page.
    async showOnly() {
        const [id] = this.rows.size === 1 && this.left === 0 ? this.rows.keys() : [null];
        if (id !== this.only) {
            this.only = id;
            this.list.classList.toggle("only", id !== null);
            this.leaving?.abort();
            this.leaving = new AbortController();
            this.signal.addEventListener("abort", () => this.leaving.abort());
            show(this.detail);
            if (id) {
                const [{mount: mountPair}, {answersButton}] = await Promise.all([import("./tab_overview.js"),
                    import("./view_pair.js")]);
                const [path, notice, body] = [`pairs/${encodeURIComponent(id)}`, el("div", {}), el("div", {})];
                const {signal} = this.leaving;
                show(this.detail, el("p", {class: "answers-bar"}, answersButton(id, path, notice, signal)), notice,
                    body);
                await mountPair(body, {pair: id, path, signal});
            }
        }
    }

    // The fits of the pairs that are shown as cards, after those are seen.
    async fetchFits() {
        const old = performance.now() - FITS_MS;
        const due = [...this.rows.values()].filter(row => row.pair.entries > 0 && !(row.fitsAt > old));
        due.forEach(row => {
            row.fitsAt = performance.now();
        });
        await Promise.all(due.map(async row => {
            row.fits = await get(`pairs/${encodeURIComponent(row.id)}/travel-time`, this.signal).catch(() => row.fits);
        }));
        if (due.length > 0 && this.shown.look === "cards") {
            this.arrange();
        }
    }

    // The rows that are shown, in their order.
    async save() {
        const {saveRows} = await import("./export.js");
        saveRows([Object.keys(FILE_COLUMNS), ...this.chosen.map(row =>
            Object.values(FILE_COLUMNS).map(value => value(row)))], "pairs");
    }

    // These and no others, with their place among all names.
    setRows(ids) {
        const there = new Set(ids);
        for (const id of this.rows.keys()) {
            if (!there.has(id)) {
                this.rows.delete(id);
            }
        }
        const names = ids.join("\n");
        if (names !== this.names) {
            this.names = names;
            [...ids].sort(byName.compare).forEach((id, rank) => {
                this.rows.get(id).rank = rank;
            });
        }
    }

    // ---- choices ----

    choose(look) {
        if (look !== this.shown?.look) {
            this.ending?.abort();
            this.ending = new AbortController();
            const made = {cards: () => new PairCards(), wall: () => new PairWall(this.ending.signal),
                table: () => new PairTable(this.ending.signal, sort =>
                    this.sortBy(sort, sort === this.sort && !this.reversed))}[look]();
            this.shown = {look, list: made};
            show(this.list, made.node, look !== "cards" && muted(LAGS));
        }
        const fits = Object.entries(LOOKS).filter(([id]) => id !== "cards" || this.rows.size <= CARDS_MAX);
        redraw(this.looks, fits.map(([id, label]) => el("button", {type: "button", "aria-pressed": String(id === look),
            onclick: () => {
                this.look = id;
                this.choose(id);
                this.arrange();
            }}, label)));
    }

    sortBy(sort, reversed) {
        Object.assign(this, {sort, reversed});
        this.arrange();
    }

    // The choices, so that a view can be sent.
    writeAddress() {
        const given = Object.entries({look: this.look, sort: this.sort === "trouble" ? null : this.sort,
            reversed: this.reversed ? "1" : null, level: LEVELS[this.level]?.name, name: this.filter.value.trim()})
            .filter(([, value]) => value);
        keepQuery("#/", given);
    }

    drawLevels() {
        const counts = LEVELS.map(() => 0);
        for (const row of this.rows.values()) {
            counts[row.level]++;
        }
        const choice = (k, label, sign, tone, n) => el("button",
            {type: "button", "aria-pressed": String(this.level === k),
            class: `tone-${tone}`, disabled: n === 0 && this.level !== k, onclick: () => {
                this.level = this.level === k ? null : k;
                this.arrange();
            }}, sign && symbol(sign, "sign"), sign && " ", `${count(n)} ${label}`);
        redraw(this.levels, choice(null, this.rows.size === 1 ? "pair" : "pairs", "", "unsure", this.rows.size),
            LEVELS.map((level, k) => choice(k, level.label, level.sign, level.tone, counts[k])));
    }

    arrange() {
        if (this.signal.aborted || !this.shown) {
            return;
        }
        this.writeAddress();
        this.drawLevels();
        const part = this.filter.value.trim().toLowerCase();
        const rows = [...this.rows.values()]
            .filter(row => (this.level === null || row.level === this.level) && row.id.toLowerCase().includes(part));
        sortRows(rows, this.sort, this.reversed);
        this.chosen = rows;
        if (rows.length === 0 && this.rows.size + this.left > 0) {
            show(this.message, empty("No pair fits", "Clear the name, or show all pairs."));
        } else if (rows.length > 0) {
            show(this.message);
        }
        this.list.hidden = rows.length === 0;
        this.sortBox.value = this.sort;
        this.shown.list.order?.(this.sort, this.reversed);
        this.shown.list.draw(rows, labNow());
        show(this.more, this.cut && `${count(this.left)} more are not shown: part of a name finds them.`);
        this.more.hidden = !this.cut;
    }
}

// The next click is likely one on a pair.
function prepare() {
    const idle = globalThis.requestIdleCallback ?? (run => setTimeout(run, 500));
    idle(() => Promise.all([import("./view_pair.js"), import("./tab_lag.js"), import("./chart.js").then(c => c.load())])
        .catch(() => {}));
}

export function mount(root, context) {
    const {signal} = context;
    const overview = new Overview(root, context);
    const types = ["entry", "alarm", "fidelity"];
    stream.listen(types, null, ({data}) => data?.pair && overview.changePair(data.pair), signal);
    overview.refetch = watch(signal, s => overview.fetch(s), {types},
        fetched => {
            if (fetched) {
                overview.update(fetched);
                prepare();
            }
        }, error => show(overview.message, failure(error)));
    // If this fails, the pairs show the error.
    watch(signal, "shared-pairs", {types: []}, data => overview.updateOthers(data), () => {});
    watch(signal, "teams", {types: ["alarm"]}, data => overview.updateTeams(data), () => {});
}
