// The latest moves as a table, which can be filtered; a row opens and shows why the move was late.

import {get} from "./api.js";
import {fixed, known, plusMinus, signed, time, withUnit} from "./format.js";
import {drawWhy, fetchWhy} from "./move_why.js";
import {judgedText} from "./pair_state.js";
import {keepQuery, pairAddress} from "./router.js";
import {button, el, empty, field, redraw, symbol, table} from "./ui.js";
import {INCONSISTENT, VERDICTS, verdictChip, verdictsOf} from "./verdicts.js";

const ROWS = 25; // in the table
const SEARCHED = 1000; // newest moves, if sizes or words are asked for
const TYPING_MS = 300;

// ---- columns ----

// The move in words: "go +1.57 rad, 0.50 m", as nodes.
function move(e) {
    const parts = [];
    if (known(e.rotation_rad) && e.rotation_rad !== 0) {
        parts.push(withUnit(signed(e.rotation_rad, 2), "rad"));
    }
    if (known(e.displacement_m) && e.displacement_m !== 0) {
        parts.push(withUnit(fixed(e.displacement_m, 2), "m"));
    }
    return [el("span", {}, e.op), parts.length > 0 && ` ${parts.join(", ")}`];
}

const LAG_DECIMALS = 4; // of a second: clocks have no higher resolution

// One part of a lag: what both robots report, the real one's minus the virtual one's.
function difference(e, name) {
    const [real, virtual] = [e[`real_${name}_s`], e[`virtual_${name}_s`]];
    return known(real) && known(virtual) ? real - virtual : null;
}

function partCell(s, e, name) {
    const both = ["real", "virtual"].map(side => `${side} ${fixed(e[`${side}_${name}_s`], 3)}`).join(", ");
    return el("span", {title: `${name}: ${both} s`}, known(s) ? signed(s, 3) : "–");
}

export const MOVE_COLUMNS = [
    {label: "#", cell: e => String(e.n), numeric: true},
    {label: "Time", cell: e => time(e.t), className: "nowrap"},
    {label: "Verdict", cell: e => verdictChip(e.verdict, e.consistent)},
    {label: "Lag, s", cell: e => (known(e.lag_s) ? (e.lag_s >= 0.5 * 10 ** -LAG_DECIMALS ? "+" : "")
        + plusMinus(e.lag_s, e.lag_uncertainty_s, "", LAG_DECIMALS) : "–"), numeric: true},
    {label: "Motion, s", title: "Part of the lag: the real robot's motion minus the virtual one's, by their own clocks",
        cell: e => partCell(difference(e, "motion"), e, "motion"), numeric: true},
    {label: "Network, s", title: "Part of the lag: how much longer the real robot's reply was on its way",
        cell: e => partCell(e.network_lag_s ?? difference(e, "transport"), e, "transport"), numeric: true},
    {label: "Move", cell: move, className: "nowrap"},
    {label: "Real lap, s", cell: e => fixed(e.real_lap_s, 3), numeric: true},
    {label: "Virtual lap, s", cell: e => fixed(e.virtual_lap_s, 3), numeric: true},
    {label: "", cell: e => remark(e), className: "muted"},
];

// Further remarks on an entry.
function remark(e) {
    const words = [];
    if (known(e.judged_lag_s)) {
        words.push(judgedText(e.lag_s, e.judged_lag_s).slice(2, -1));
    }
    if (e.timeout_side) {
        words.push(`${e.timeout_side} did not answer`);
    }
    if (e.explained_by) {
        words.push(e.explained_by === "not_explained" ? "unexpected" : `explained by ${e.explained_by}`);
    }
    for (const side of ["real", "virtual"]) {
        const status = e[`${side}_status`];
        if (status && status !== "done") {
            words.push(`${side}: ${status}`);
        }
    }
    if (e.differs) {
        words.push(`not the same: ${e.differs}`);
    }
    if (e.not_compared) {
        words.push(`not compared: ${e.not_compared} (outside values)`);
    }
    if (known(e.correction)) {
        words.push(`the simulator got the real robot's pose (it was ${e.correction_m.toFixed(3)} m and ` +
            `${e.correction_rad.toFixed(3)} rad off)`);
    }
    if (known(e.tool_gap_end_mm)) {
        words.push(`tools ${e.tool_gap_end_mm.toFixed(1)} mm apart at the end` +
            (known(e.tool_gap_max_mm) ? `, ${e.tool_gap_max_mm.toFixed(1)} mm at most on the way` : ""));
    }
    for (const side of ["real", "virtual"]) {
        const off = e[`${side}_path_error_mm`];
        if (known(off)) {
            words.push(`${side}: ${off.toFixed(2)} mm off its line`);
        }
    }
    if (e.ambiguous) {
        words.push(e.ambiguous === "command" ? "the command may have been delivered before"
            : `whether the reply (${e.ambiguous}) belongs to it is not known`);
    }
    if (known(e.interrupted_s)) {
        words.push("the daemon was away meanwhile");
    }
    return words.join("; ");
}

// ---- filters ----

const FILTERS = [...VERDICTS, INCONSISTENT].map(v => v.name);
const SIZES = ["rotation_rad", "displacement_m"];

// Verdicts are chosen by the daemon; sizes and words are looked for here. The address has all of it.
class Filter {
    constructor({verdict = "", by = "rotation_rad", from = "", to = "", text = ""}, change) {
        this.verdicts = new Set(verdict.split(",").filter(name => FILTERS.includes(name)));
        this.chips = el("div", {class: "levels", role: "group", "aria-label": "Show only these verdicts"});
        this.change = change;
        const typed = () => {
            clearTimeout(this.timer);
            this.timer = setTimeout(change, TYPING_MS);
        };
        const input = (id, value, more) => el("input", {id, value, oninput: typed, ...more});
        this.by = el("select", {id: "size-by", onchange: change}, SIZES.map(name =>
            el("option", {value: name, selected: name === by})));
        const bound = {type: "number", step: "any", min: "0", class: "short"};
        this.from = input("size-from", from, bound);
        this.to = input("size-to", to, bound);
        this.text = input("move-text", text, {type: "search", placeholder: "id, task or remark"});
        this.node = el("div", {class: "bar"}, this.chips, el("span", {class: "push"}), field("Size, by", this.by),
            field("from", this.from), field("to", this.to), field("Text", this.text));
    }

    // counts: of verdicts; sizes: their words for this kind of robot
    draw(counts, sizes) {
        for (const option of this.by.options) {
            option.textContent = sizes[option.value].join(", ");
        }
        redraw(this.chips, [...verdictsOf(counts).filter(v => counts[v.name] > 0 || this.verdicts.has(v.name)),
            INCONSISTENT].map(v => el("button", {type: "button", class: `tone-${v.tone}`, title: v.meaning,
            "data-key": v.name, "aria-pressed": String(this.verdicts.has(v.name)), onclick: () => {
                if (!this.verdicts.delete(v.name)) {
                    this.verdicts.add(v.name);
                }
                this.draw(counts, sizes);
                this.change();
            }}, symbol(v.sign, "sign"), ` ${v.name}`)));
    }

    // The filters as the address of the page has them; empty: none.
    query() {
        const sized = this.from.value !== "" || this.to.value !== "";
        return {verdict: [...this.verdicts].join(), by: sized ? this.by.value : "", from: this.from.value,
            to: this.to.value, text: this.text.value.trim()};
    }

    // Whether moves are looked at here, beyond their verdict.
    looks() {
        const {by, text} = this.query();
        return by !== "" || text !== "";
    }

    // Whether a move has one of the chosen verdicts; the daemon does the same for the list.
    hasVerdict(e) {
        return this.verdicts.size === 0 || this.verdicts.has(e.verdict)
            || (e.consistent === false && this.verdicts.has(INCONSISTENT.name));
    }

    accepts(e) {
        const {by, from, to, text} = this.query();
        const size = Math.abs(e[by] ?? 0);
        const words = [e.id, e.op, e.task, e.job, remark(e)].join(" ").toLowerCase();
        return (by === "" || (size >= Number(from) && (to === "" || size <= Number(to))))
            && words.includes(text.toLowerCase());
    }
}

// ---- the table ----

const LAB_TIME = /^\d{1,10}(\.\d{1,6})?$/; // seconds since the epoch, as the daemon reads them

const keyOf = e => e.t.toFixed(6);

export class MoveTable {
    // query: of the address of the page. onChange() must fetch and draw again. shown() is what else of the view the
    // address has.
    constructor(pair, path, query) {
        const open = LAB_TIME.test(query.move) ? Number(query.move).toFixed(6) : null;
        Object.assign(this, {pair, path, open, onChange: () => {}, shown: () => ({})});
        this.sought = open !== null; // the address names a move: its row is scrolled to, once
        this.filter = new Filter(query, () => this.changed());
        this.list = el("div", {});
        this.node = el("div", {}, this.filter.node, this.list);
    }

    writeAddress() {
        const all = {...this.filter.query(), move: this.open ?? "", ...this.shown()};
        keepQuery(pairAddress(this.pair, "lag"), Object.entries(all).filter(([, text]) => text !== ""));
    }

    changed() {
        this.writeAddress();
        this.onChange();
    }

    // Entries of the chosen verdicts, by the daemon.
    entriesAddress(limit, more = "") {
        const {verdict} = this.filter.query();
        return `${this.path}/entries?limit=${limit}${verdict ? `&verdict=${verdict}` : ""}${more}`;
    }

    // The rows, and all about the open one, which may be older than they are.
    async fetch(signal) {
        const [list, why] = await Promise.all([
            get(this.entriesAddress(this.filter.looks() ? SEARCHED : ROWS), signal),
            this.open && fetchWhy(this.path, this.open, signal)]);
        return {searched: list.entries.length, why,
            rows: list.entries.filter(e => this.filter.accepts(e)).slice(0, ROWS)};
    }

    draw({rows, searched, why}, counts, sizes) {
        const isOpen = e => keyOf(e) === this.open;
        const shown = !why?.entry || rows.some(isOpen) ? rows
            : [...rows, why.entry].sort((a, b) => b.t - a.t || b.n - a.n);
        const isSelected = e => this.filter.hasVerdict(e) && this.filter.accepts(e);
        const [number, ...others] = MOVE_COLUMNS.slice(0, -1);
        const last = {...MOVE_COLUMNS.at(-1),
            cell: e => [!isSelected(e) && el("strong", {}, "not in the selection "), remark(e)]};
        const opener = {...number, cell: e => button(String(e.n), () => {
            this.open = isOpen(e) ? null : keyOf(e);
            this.changed();
        }, {class: "pick opens", "aria-expanded": String(isOpen(e)), "aria-label": `${e.n}: why this lag`,
            "data-key": keyOf(e)})};
        const focused = document.activeElement?.dataset?.key;
        this.filter.draw(counts, sizes);
        redraw(this.list, rows.length === 0 && empty("No such move", this.filter.looks()
            ? `None of the newest ${searched} moves fits.` : "Choose another verdict, or all of them."),
        shown.length > 0 && table("Latest moves", [opener, ...others, last], shown, "",
            {key: keyOf, detail: e => (isOpen(e) && why?.entry ? drawWhy(this.path, why) : null)}));
        if (this.sought && why?.entry) {
            this.sought = false;
            this.node.querySelector(`[data-key="${this.open}"]`)?.scrollIntoView({block: "center"});
        }
        if (focused && document.activeElement?.dataset?.key !== focused) {
            this.node.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
        }
    }
}
