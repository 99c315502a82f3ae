// The choice of moves to compare lags with: another time of the pair, as long as the one shown, or another pair. The
// address has it.

import {get, hasPair} from "./api.js";
import {dateTime, isLabTime} from "./format.js";
import {el, field, redraw} from "./ui.js";

const OFFERED = 20; // names of pairs
const KINDS = {none: "nothing", before: "the time before", time: "another time", pair: "another pair"};

// Lab time as the field for it has it, in the reader's time zone.
function toField(t) {
    return dateTime(t).replace(" ", "T");
}

export class Comparison {
    // query: of the address of the page. onChange() must write the address, fetch and draw again.
    constructor({with: other = "", from2 = ""}, own, onChange) {
        const since = Number(from2);
        Object.assign(this, {own, onChange, kind: other ? "pair" : from2 === "before" ? "before"
            : isLabTime(since) ? "time" : "none"});
        this.choice = el("select", {id: "compare", onchange: () => {
            this.kind = this.choice.value;
            this.draw();
            this.onChange();
        }}, Object.entries(KINDS).map(([id, words]) => el("option", {value: id, selected: id === this.kind}, words)));
        this.since = el("input", {type: "datetime-local", step: "1", id: "compare-from", onchange: () => onChange(),
            value: isLabTime(since) ? toField(since) : ""});
        this.names = el("datalist", {id: "compare-pairs"});
        this.pair = el("input", {type: "text", id: "compare-pair", value: other, list: "compare-pairs", class: "short",
            onchange: () => onChange(), onfocus: () => this.offer(), oninput: () => this.offer()});
        this.more = el("span", {class: "labelled"});
        this.node = el("span", {class: "labelled compare"}, field("Compare with", this.choice), this.more);
        this.draw();
    }

    draw() {
        this.more.replaceChildren(...this.kind === "time" ? [field("from", this.since)]
            : this.kind === "pair" ? [field("named", this.pair), this.names] : []);
    }

    // Names that contain what is typed.
    async offer() {
        const {pairs} = await get(`pairs?limit=${OFFERED}&name=${encodeURIComponent(this.pair.value)}`)
            .catch(() => ({pairs: []}));
        redraw(this.names, pairs.filter(({id}) => id !== this.own).map(({id}) => el("option", {value: id})));
    }

    // The choice for the address of the page; empty: no comparison.
    query() {
        const since = new Date(this.since.value).getTime() / 1000;
        return {with: this.kind === "pair" ? this.pair.value.trim() : "",
            from2: this.kind === "before" ? "before" : this.kind === "time" && isLabTime(since) ? String(since) : ""};
    }

    // Whether the pair to compare with is there. It is asked once for each name; one that is there stays.
    async isThere(signal) {
        const {with: pair} = this.query();
        if (pair && pair !== this.sought) {
            this.there = await hasPair(pair, signal);
            this.sought = pair;
        }
        return !pair || this.there;
    }

    // The moves to fetch: {path, shift, name, own} with shift in seconds from their time to the time shown, or
    // {problem}; null: nothing is compared. range: [since, until] shown; null: everything
    other(path, range) {
        const {with: pair, from2} = this.query();
        if (pair && !this.there) {
            return {problem: `Nothing to compare with: the lab has no pair '${pair}'.`};
        }
        if (pair) {
            return {path: `pairs/${encodeURIComponent(pair)}`, shift: 0, name: `pair ${pair}`, own: `pair ${this.own}`};
        }
        if (!from2) {
            return null;
        }
        if (!range) {
            return {problem: "Two times are compared over the same length: choose 10 min, 1 h or 1 d, or zoom in."};
        }
        const [from, to] = range;
        const since = from2 === "before" ? from - (to - from) : Number(from2);
        return {path, shift: from - since, name: `from ${dateTime(since)}`, own: `from ${dateTime(from)}`};
    }
}
