// One uploaded recording: the progress of its job, then the result.

import {Problem, get, send, token} from "./api.js";
import {count, dateTime, percent} from "./format.js";
import {downloadLink} from "./download.js";
import {drawFit} from "./fit_report.js";
import {sumOf} from "./pair_state.js";
import {drawAlarms} from "./tab_alarms.js";
import {drawLaps, drawValues} from "./tab_calibration.js";
import {placeOf} from "./lag_data.js";
import {MOVE_COLUMNS} from "./move_table.js";
import {LagChart} from "./tab_lag.js";
import {el, empty, facts, failure, places, say, section, show, table} from "./ui.js";
import {legend} from "./chart.js";
import {VERDICTS} from "./verdicts.js";

const ASK_MS = 300;
const ROWS = 100; // moves in the table
const TOLERANCE_S = 0.05; // of a pair that is not in the lab any more

// ---- a replay ----

function verdictAt(lag, tolerance) {
    return Math.abs(lag) <= tolerance ? "SYNC" : lag > 0 ? "AHEAD" : "BEHIND";
}

// The series of the whole recording; where an entry is at hand, with its verdict and error bar.
function seriesOf(pair, tolerance) {
    const at = new Map(pair.entries.map(e => [e.t, e]));
    return pair.lag.map(([t, lag]) => placeOf(at.get(t) ?? {t, lag_s: lag, verdict: verdictAt(lag, tolerance)}));
}

function nothingFound(result) {
    const {journal} = result;
    return empty("No pair of this lab is in it", journal.unknown_pair > 0
        ? `${count(journal.unknown_pair)} messages are of pairs that this daemon's lab file does not have: `
            + "it has to name them."
        : "No command and no reply below the lab's prefix was found.");
}

async function drawPair(root, result, id, signal) {
    const pair = result.pairs[id];
    const tolerance = await get(`pairs/${encodeURIComponent(id)}`, signal).then(p => p.sync_tolerance_s,
        () => TOLERANCE_S);
    const total = sumOf(pair.counts);
    const [plot, values, laps, alarms] = places(4);
    const moves = [...pair.entries].reverse();
    show(root, section("Verdicts", facts([["Moves", count(total)],
        ...Object.entries(pair.counts).filter(([, n]) => n > 0)
            .map(([name, n]) => [name, `${count(n)}, ${percent(n / total)}`]),
        ["Inconsistent", count(pair.consistency.false)],
        ["Alarms", count(sumOf(pair.alarm_counts))]])),
    section("Lag over time", pair.lag.length > 0 ? [plot, legend(VERDICTS.slice(0,
        4).map(v => [v.sign, v.tone, `${v.name}: ${v.meaning}`])),
        total > pair.entries.length
            && el("p", {class: "muted"},
            `Of each of ${count(pair.lag.length / 2)} stretches the least and the greatest lag: no peak is left out.`)]
        : empty("No lag", "No command was answered by both robots.")),
    section("Travel times", values), section("Laps against the fit", laps),
    section(total > ROWS ? `The last ${ROWS} moves` : "Moves",
        table("Moves, newest first", MOVE_COLUMNS, moves.slice(0, ROWS))),
    section("Alarms", alarms));
    if (pair.travel_time.real || pair.travel_time.virtual) {
        drawValues(values, pair.travel_time);
        drawLaps(laps, pair.travel_time, moves);
    } else {
        show(values, el("p", {class: "muted"}, "No moves that could be fitted."));
        laps.parentElement.hidden = true;
    }
    drawAlarms(alarms, [...pair.alarms].reverse(), false);
    if (pair.lag.length > 0) {
        await new LagChart(plot, signal).draw(seriesOf(pair, tolerance), tolerance, 0);
    }
}

async function drawReplay(root, result, route, signal) {
    const ids = Object.keys(result.pairs);
    const body = el("div", {});
    const {journal} = result;
    const odd = [["malformed", "not understood"], ["torn", "cut at the end"], ["other", "of other topics"],
        ["unknown_pair", "of pairs that are not in this lab"],
        ["redelivered", "delivered twice"], ["ambiguous", "may have been delivered twice"],
        ["forgotten_early", "forgotten early, not known if delivered again"],
        ["out_of_order", "out of order"]].filter(([key]) => journal[key] > 0);
    const choice = el("select", {id: "pair", onchange: () => drawPair(body, result, choice.value, signal)},
        ids.map(id => el("option", {value: id}, id)));
    show(root, el("p", {class: "muted"}, `${count(journal.lines)} messages${odd.map(([key,
        words]) => `, ${count(journal[key])} ${words}`).join("")}.`),
        ids.length > 1 && el("div", {class: "bar"}, el("label", {for: "pair"}, "Pair"), choice), body);
    if (ids.length === 0) {
        show(body, nothingFound(result));
    } else {
        await drawPair(body, result, ids.includes(route.query.pair) ? route.query.pair : ids[0], signal);
    }
}

// ---- the job ----

function head(job) {
    const notice = el("div", {role: "status"});
    return [el("h1", {}, job.model === "replay" ? "A recording, replayed" : `A recording, fitted with ${job.model}`),
        el("p", {class: "bar"}, el("a", {href: "#/offline"}, "Another recording"),
            job.file && el("strong", {}, job.file),
            el("span", {class: "muted"}, `uploaded ${dateTime(job.queued_t)}`),
            job.result && downloadLink("Result as JSON", `replay/${job.id}`, `tandem-${job.id}.json`, notice,
                {class: "push"})), notice];
}

function running(job) {
    const words = job.state === "queued" ? "Waits for its turn" : `${job.stage ?? "Running"}, ${percent(job.progress)}`;
    const cancel = el("button", {type: "button", disabled: job.cancelling, onclick: () => {
        cancel.disabled = true;
        send("DELETE", `replay/${job.id}`).catch(error => show(said, failure(error)));
    }}, job.cancelling ? "Being cancelled" : "Cancel");
    const said = el("div", {});
    return [head(job), el("section", {class: "panel"}, el("div", {class: "bar"},
        el("progress", {max: "1", value: job.progress, "aria-label": "Progress"}),
        el("span", {}, words), token() && el("span", {class: "push"}, cancel)), said)];
}

function errorOf(error) {
    const place = [error.where, error.line, error.column].filter(part => part).join(":");
    return failure({title: "The recording could not be read", detail: `${place}: ${error.text}`});
}

async function ended(root, job, route, signal) {
    const body = el("div", {});
    show(root, head(job), body);
    say(`The job is ${job.state}`);
    if (job.state === "failed") {
        show(body, errorOf(job.error));
    } else if (job.state === "cancelled") {
        show(body, empty("Cancelled", "Upload the recording again to run it to its end."));
    } else if (job.model === "replay") {
        await drawReplay(body, job.result, route, signal);
    } else {
        drawFit(body, job.result, signal);
    }
}

export async function runJob(root, route, signal) {
    let shown = "";
    show(root, el("p", {class: "wait"}, "Loading …"));
    // The browser logs each answer 404 as an error, so that the list is asked first.
    if (!(await get("identify", signal)).jobs.some(({id}) => id === route.job)) {
        throw new Problem(404, "There is no such recording",
            "The last 32 are kept for an hour, and until the daemon ends. Upload it again.");
    }
    while (!signal.aborted) {
        const job = await get(`replay/${encodeURIComponent(route.job)}`, signal);
        if (job.ended_t !== null) {
            await ended(root, job, route, signal);
            return;
        }
        const now = `${job.state} ${job.stage} ${job.progress.toFixed(2)} ${job.cancelling}`;
        if (now !== shown && !root.contains(document.activeElement?.closest("button"))) {
            show(root, running(job));
            shown = now;
        }
        await new Promise(done => setTimeout(done, ASK_MS));
    }
}
