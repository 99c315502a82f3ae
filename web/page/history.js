// The history of a pair's fits: a parameter of either robot over time, with intervals and verdicts.

import {chart, colour, legend} from "./chart.js";
import {dateTime, known, labNow, plural, plusMinus, unitOf} from "./format.js";
import {setQuery} from "./router.js";
import {el, empty, field, places, redraw, show} from "./ui.js";
import {isTooFew} from "./verdicts.js";

export const FITS = 1000; // newest ones, of all models of a pair

const SIDES = ["real", "virtual"];
const TONES = {PASS: "sync", MARGINAL: "unsure", FAIL: "bad"};

function choice(id, options, chosen, onchange) {
    return el("select", {id, onchange}, Object.entries(options).map(([value, words]) =>
        el("option", {value, selected: value === chosen}, words)));
}

export class History {
    // terms: {name: words} of the parameters; term: the first one shown; query: of the address, which may name others
    constructor(root, terms, term, signal, query = {}) {
        const given = {stored: [], between: [], now: {}, changes: [], drifts: []};
        Object.assign(this, {terms, term: query.term in terms ? query.term : term, wanted: query.term, given,
            side: query.side === "virtual" ? "virtual" : "real"});
        const [message, plot, spread] = places(3);
        const choose = name => event => {
            this[name] = event.target.value;
            setQuery({term: this.term, side: this.side === "virtual" ? "virtual" : ""});
            this.draw(this.given);
        };
        Object.assign(this, {message, plot, spread});
        this.choice = choice("term", terms, this.term, choose("term"));
        this.box = el("div", {}, el("div", {class: "bar"}, field("Parameter", this.choice),
            field("Robot", choice("side", {real: "real", virtual: "virtual"}, this.side, choose("side")))),
        legend([["●", "sync", "PASS"], ["●", "unsure", "MARGINAL"], ["●", "bad", "FAIL"],
            ["▒", "unsure", "95 % interval"]]), plot, spread);
        show(root, message, this.box);
        this.chart = chart(plot, {label: "How fits went", height: "17rem", options: () => this.options(), signal});
    }

    // Replaces the parameters, because the fitted model is known only later. The first one shown was fitted.
    offer(terms, fits) {
        const names = Object.keys(terms);
        if (names.join() !== Object.keys(this.terms).join()) {
            this.terms = terms;
            this.term = names.find(name => name === this.wanted)
                ?? names.find(name => fits.some(fit => known(fit?.values[name]))) ?? names[0];
            redraw(this.choice, Object.entries(terms).map(([value, words]) =>
                el("option", {value, selected: value === this.term}, words)));
        }
    }

    // The stored fits, and the present one if it is newer.
    fits() {
        const {stored, now} = this.given;
        const mine = stored.filter(fit => fit.side === this.side).sort((a, b) => a.t - b.t);
        const last = mine.at(-1);
        const fresh = now[this.side];
        if (fresh && (!last || JSON.stringify(fresh.values) !== JSON.stringify(last.values))) {
            mine.push({t: labNow(), ...fresh, samples: fresh.n});
        }
        return mine.filter(fit => known(fit.values[this.term]));
    }

    rows() {
        return this.shown.map(fit => {
            const [low, high] = fit.ci95[this.term] ?? [];
            const value = fit.values[this.term];
            return [new Date(fit.t * 1000), known(low) && known(high) ? [low, value, high] : [value, value, value]];
        });
    }

    options() {
        const unit = unitOf(this.term);
        return {
            labels: ["time", this.terms[this.term]], customBars: true, colors: [colour("accent")], drawPoints: true,
            pointSize: 3.5, ylabel: unit ? `${this.terms[this.term]}, ${unit}` : this.terms[this.term],
            axes: {y: {axisLabelWidth: 62}}, fillAlpha: 0.2, xRangePad: 14, yRangePad: 14,
            drawPointCallback: (graph, name, context, x, y, tone, size, row) => {
                context.beginPath();
                const fit = this.shown[row];
                context.fillStyle = colour(!fit || isTooFew(fit) ? "unsure" : TONES[fit.verdict] ?? "unsure");
                context.arc(x, y, size, 0, 2 * Math.PI);
                context.fill();
            },
            underlayCallback: (context, area, graph) => this.marks(context, area, graph),
            highlightCallback: (_event, _x, _points, row) => this.note(this.shown[row]),
            unhighlightCallback: () => this.chart.note(""),
        };
    }

    note(fit) {
        const [low, high] = fit.ci95[this.term] ?? [];
        const error = known(low) && known(high) ? (high - low) / 2 : NaN;
        const moves = fit.model && fit.model !== "travel_time" ? plural(fit.samples, "sample")
            : plural(fit.samples, "move");
        this.chart.note(`${dateTime(fit.t)}  ${plusMinus(fit.values[this.term], error, unitOf(this.term))} (95 %), `
            + `${fit.verdict}, ${moves}${fit.reasons?.length > 0 ? `: ${fit.reasons[0]}` : ""}`);
    }

    // Drifts found by the filter, and sets that went into force.
    marks(context, area, graph) {
        const {changes, drifts} = this.given;
        const lines = [
            ...drifts.map(a => [a.t, "bad", "drift"]),
            ...changes.filter(c => ["promoted", "rolled_back"].includes(c.action)).map(c => [c.t, "sync",
                `set ${c.version}`]),
        ];
        context.font = "600 11px system-ui, sans-serif";
        for (const [t, tone, word] of lines) {
            const x = Math.round(graph.toDomXCoord(t * 1000)) + 0.5;
            if (x >= area.x && x <= area.x + area.w) {
                context.fillStyle = colour(tone);
                context.fillRect(x, area.y, 1.5, area.h);
                context.fillText(word, x + 4, area.y + 12);
            }
        }
    }

    // Says how fits of different data differ, and where the next one is expected.
    differences() {
        const found = this.given.between.find(group => group.side === this.side)?.numbers[this.term];
        if (!found) {
            return null;
        }
        const unit = unitOf(this.term);
        const [low, high] = found.another_as_fitted;
        return el("p", {class: "muted"}, `${plural(found.n, "fit")} of different data: mean `
            + `${plusMinus(found.value, (found.ci95[1] - found.ci95[0]) / 2, unit)}, next fit `
            + `${plusMinus((low + high) / 2, (high - low) / 2, unit)} (95 %), `
            + (known(found.odd) ? `fit ${found.odd} is odd.` : "none is odd."));
    }

    // given: {stored: records of …/fits, between: how they differ, now: {real, virtual} as they are fitted now,
    // changes, drifts}
    draw(given) {
        this.given = given;
        this.shown = this.fits();
        const any = SIDES.some(side => given.now[side] || given.stored.some(fit => fit.side === side));
        this.box.hidden = !any;
        this.plot.hidden = this.shown.length === 0;
        show(this.message, any ? this.shown.length === 0 && el("p", {class: "muted"},
            `No fit of the ${this.side} robot has this one yet.`)
            : empty("No history yet",
                "Fits of both robots will be shown here with their 95 % intervals, promoted or not."));
        show(this.spread, this.differences());
        if (this.shown.length > 0) {
            const rows = this.rows();
            const alone = rows.length === 1; // in the middle of a minute; with the second one all of them again
            const at = Number(rows[0][0]);
            this.chart.draw(rows, {...this.options(), ...(alone ? {dateWindow: [at - 30e3, at + 30e3]}
                : this.alone ? {dateWindow: null} : {})});
            this.alone = alone;
        }
        const fits = plural(this.shown.length, "fit");
        this.chart.describe(`${this.terms[this.term]} of the ${this.side} robot in ${fits}, with `
            + `95 % intervals and ${plural(given.drifts.length, "drift mark")}.`);
    }
}
