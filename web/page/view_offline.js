// Recordings: dropped on the page, run through the daemon's own code, and shown like a live pair.

import {Problem, authorized, get, getPairs, lab, problemOf, setToken, token} from "./api.js";
import {dateTime, withUnit} from "./format.js";
import {MODELS} from "./models.js";
import {runJob} from "./offline_job.js";
import {button, el, empty, failure, helpButton, section, show, symbol, table} from "./ui.js";
import {askToken, useToken} from "./token.js";

export const title = "Offline";

const LOOK_BYTES = 8e6; // a table of this length needs no token
const KINDS = {journal: "a journal", moves: "a table of moves", motion: "a table of motion"};

function megabytes(bytes) {
    return withUnit((bytes / 1e6).toFixed(bytes < 1e6 ? 2 : 1), "MB");
}

// ---- uploading a recording, and its kind ----

const SNIFFED_BYTES = 65536;

// "journal", "moves" (a table that can be replayed) or "motion" (a table that a model is fitted to), and whether a
// table names the pair of its moves. Judged by the beginning of the file.
async function sniff(file) {
    const text = await file.slice(0, SNIFFED_BYTES).text();
    if (text.trimStart().startsWith("{")) {
        return {kind: "journal", columns: [], hasPair: true};
    }
    const lines = text.split(/\r?\n/).filter(line => line.trim());
    const data = lines.find(line => !line.startsWith("#")) ?? "";
    const remark = lines.find(line => line.startsWith("#")) ?? "";
    const header = /^[\s"]*[-+.\d]/.test(data) ? remark.replace(/^#\s*/, "") : data;
    const columns = header.split(",").map(
        name => name.trim().replace(/^"|"$/g, "").split(/\s/)[0].replace(/\[(\w+)\]/, "_$1"));
    const has = (...names) => names.every(name => columns.includes(name));
    const moves = has("real_lap_s") || has("virtual_lap_s") || has("lap1_s", "lap2_s", "state");
    return {kind: moves ? "moves" : "motion", columns, hasPair: columns.includes("pair")};
}

// Must the token come with it? The daemon looks at a table for its own page, which says so.
function needsToken(kind, bytes) {
    return !token() && (kind === "journal" || bytes > LOOK_BYTES);
}

function headersOf(mediaType) {
    return token() ? authorized({"Content-Type": mediaType})
        : {"Content-Type": mediaType, "Tandem-Page": "look"};
}

// POST with progress, which fetch() does not report: onProgress(share of the bytes that are sent).
function upload(address, file, mediaType, onProgress, signal) {
    return new Promise((done, fail) => {
        const request = new XMLHttpRequest();
        request.open("POST", `api/v1/${address}`);
        for (const [name, value] of Object.entries(headersOf(mediaType))) {
            request.setRequestHeader(name, value);
        }
        request.upload.addEventListener("progress",
            event => onProgress(event.total > 0 ? event.loaded / event.total : 0));
        request.addEventListener("load", async () => {
            const response = new Response(request.responseText, {status: request.status});
            if (request.status === 202) {
                done(await response.json());
            } else {
                fail(await problemOf(response));
            }
        });
        request.addEventListener("error", () => fail(new Problem(0, "The recording did not arrive",
            "It may be larger than http.upload_mb of the lab file allows, or still be written to (copy it first); or " +
            "too many recordings are there already, or the daemon has stopped.", "")));
        signal.addEventListener("abort", () => request.abort());
        request.send(file);
    });
}

// ---- actions on a file ----

const TOKEN_WORDS = "A journal, or a table above 8 MB, needs the token that the lab file names (http.token_file). "
    + "It is kept until this tab is closed, and goes to this daemon only.";

// Asks for the token if the file needs it. Throws if it was not given.
async function demandToken(kind, file) {
    if (needsToken(kind, file.size)) {
        await askToken(`${file.name} is ${kind === "journal" ? "a journal" : "a table above 8 MB"}. ${TOKEN_WORDS}`);
    }
    if (needsToken(kind, file.size)) {
        throw new Problem(0, "The token is missing", `Nothing was uploaded. ${TOKEN_WORDS}`);
    }
}

function option(value, label, selected) {
    return el("option", {value, selected: selected || null}, label);
}

function labelled(id, label, field, hint) {
    return el("div", {class: "field"}, el("label", {for: id}, label), field, hint && el("small", {}, hint));
}

// A space in a name is %20: the daemon reads a plus as a plus.
const written = parameters => parameters.toString().replaceAll("+", "%20");

class JobRequest {
    constructor(root, file, about, pairs, own, signal) {
        const models = MODELS.concat(own.map(m => ({...m, data: "motion"}))); // own: those of the lab file
        Object.assign(this, {root, file, about, pairs, models, signal});
        const replays = about.kind !== "motion";
        const first = MODELS.find(m => m.data === about.kind);
        this.action = el("select", {id: "action", onchange: () => this.adapt()},
            about.kind !== "motion" && option("replay", "Replay: lag, verdicts, calibration, alarms", replays),
            models.map(m => option(m.name, `Fit ${m.name}: ${m.words}`, !replays && m === first)));
        this.pair = el("select", {id: "pair"}, option("", about.hasPair ? "all that are in it" : "the lab's only one"),
            pairs.map(p => option(p.id, p.id, !about.hasPair && pairs.length > 1 && p === pairs[0])));
        this.side = el("select", {id: "side"}, option("real", "real"), option("virtual", "virtual"));
        this.columns = el("input", {id: "columns", type: "text", autocomplete: "off", spellcheck: "false",
            placeholder: "tau_u=Tu,u=u_meas"});
        this.heldOut = el("input", {id: "held-out", type: "file", accept: ".csv,.txt,.jsonl"});
        this.send = el("button", {type: "submit", class: "primary"}, "Upload and run");
        this.bar = el("progress", {max: "1", value: 0, hidden: true, "aria-label": "Uploaded"});
        this.said = el("div", {"aria-live": "polite"});
        this.pairField = labelled("pair", "Pair", this.pair);
        this.sideField = labelled("side", "Robot", this.side);
        const found = about.columns.length > 0 ? `; in it: ${about.columns.join(", ")}` : "";
        this.columnsField = labelled("columns", "Columns", this.columns,
            `role=column, …, where the names differ from the model's${found}`);
        this.heldOutField = labelled("held-out", "Held-out recording", this.heldOut,
            "optional: takes no part in the fit, which has to predict it");
        const form = el("form", {class: "panel job-request", onsubmit: event => {
            event.preventDefault();
            this.run();
        }}, el("h2", {}, file.name, el("small", {}, ` ${megabytes(file.size)}, ${KINDS[about.kind]}`)),
        el("div", {class: "fields"}, labelled("action", "What to do", this.action), this.pairField, this.sideField,
            this.columnsField, this.heldOutField),
        el("div", {class: "bar"}, this.send, this.bar), this.said);
        form.querySelector("h2").after(helpButton(form, "A job"));
        show(root, form);
        this.adapt();
    }

    adapt() {
        const replays = this.action.value === "replay";
        const table = this.about.kind !== "journal";
        this.pairField.hidden = !replays && table;
        const model = this.models.find(m => m.name === this.action.value);
        this.sideField.hidden = replays || (table && model.data !== "moves");
        this.columnsField.hidden = replays || !table;
        this.heldOutField.hidden = replays;
    }

    address() {
        const parameters = new URLSearchParams({name: this.file.name.slice(0, 99)});
        const add = (name, field) => !field.hidden && field.querySelector("select, input").value.trim() &&
            parameters.set(name, field.querySelector("select, input").value.trim());
        add("pair", this.pairField);
        if (this.action.value === "replay") {
            return `replay?${written(parameters)}`;
        }
        parameters.set("model", this.action.value);
        parameters.set("curves", "true");
        if (this.heldOutFile()) {
            parameters.set("held_out_name", this.heldOutFile().name.slice(0, 99));
            parameters.set("held_out_bytes", this.heldOutFile().size);
        }
        add("side", this.sideField);
        add("columns", this.columnsField);
        return `identify?${written(parameters)}`;
    }

    heldOutFile() {
        return this.heldOutField.hidden ? null : this.heldOut.files[0];
    }

    async run() {
        const body = new Blob([this.file, this.heldOutFile()].filter(Boolean));
        this.send.disabled = true;
        show(this.said);
        try {
            await demandToken(this.about.kind, {name: this.file.name, size: body.size});
            this.bar.hidden = false;
            const media = this.about.kind === "journal" ? "application/jsonl" : "text/csv";
            const job = await upload(this.address(), body, media, share => {
                this.bar.value = share;
            }, this.signal);
            location.hash = `#/offline/${job.id}`;
        } catch (refusal) {
            // A refusal is easily lost during a long upload, so that the token is checked when nothing is in transit.
            const error = refusal.status === 0 && token()
                ? await useToken(token()).then(() => refusal, better => better) : refusal;
            show(this.said, failure(error));
            this.send.disabled = false;
            this.bar.hidden = true;
            if (token() && (error.status === 401 || error.title === "Wrong token")) {
                setToken("");
                await askToken("The daemon refused the token. Give another one, then upload the file again.");
            }
        }
    }
}

// ---- choosing a file ----

// The choice of a file. Without the token that is a short table; it is asked for before a journal is chosen.
function choices(input, signal) {
    const line = el("div", {class: "bar"});
    const label = el("label", {for: "recording"});
    const draw = () => {
        show(label, token() ? "or choose a file:" : "or choose a CSV of up to 8 MB:");
        input.accept = token() ? ".jsonl,.ndjson,.json,.csv,.txt" : ".csv,.txt";
        show(line, label, input, !token() && (lab.writing === false
            ? el("span", {class: "muted"}, "A journal or a longer table needs a token, and this lab names none.")
            : button("Give the token and choose a journal or a longer table …", async () => {
                await askToken(TOKEN_WORDS);
                if (token()) {
                    input.click();
                }
            })));
    };
    addEventListener("tandem-token", draw, {signal});
    addEventListener("tandem-writing", draw, {signal});
    draw();
    return line;
}

function dropZone(chooseFile, signal) {
    const input = el("input", {type: "file", id: "recording",
        onchange: () => input.files[0] && chooseFile(input.files[0])});
    const zone = el("div", {class: "drop", ondragover: event => {
        event.preventDefault();
        zone.classList.add("over");
    }, ondragleave: () => zone.classList.remove("over"), ondrop: event => {
        event.preventDefault();
        zone.classList.remove("over");
        if (event.dataTransfer.files[0]) {
            chooseFile(event.dataTransfer.files[0]);
        }
    }}, el("p", {class: "empty-title"}, symbol("⤓"), " Drop a recording here"),
    el("p", {class: "muted"}, "A journal of Tandem, or what ", el("code", {}, "mosquitto_sub -F %J"),
        " printed; entries or a smart logger's table as CSV; or a CSV of efforts and velocities to fit a model to."),
    choices(input, signal));
    return zone;
}

const STATES = {done: ["✓", "sync"], failed: ["✕", "bad"], cancelled: ["◇", "unsure"], running: ["◌", "accent"],
    queued: ["◌", "unsure"]};

function earlier(jobs) {
    if (jobs.length === 0) {
        return empty("None yet", "The last 32 are kept for an hour.");
    }
    const sign = j => symbol(STATES[j.state][0], `sign tone-${STATES[j.state][1]}`);
    return table("Recordings uploaded before", [
        {label: "Uploaded", cell: j => el("a", {href: `#/offline/${j.id}`}, dateTime(j.queued_t)), className: "nowrap"},
        {label: "File", cell: j => j.file ?? "", className: "nowrap"},
        {label: "What", cell: j => (j.model === "replay" ? "replay" : `fit of ${j.model}`)},
        {label: "State", cell: j => el("span", {class: "nowrap"}, sign(j), ` ${j.state}`)},
        {label: "", cell: j => j.error?.text ?? "", className: "muted"},
    ], jobs);
}

async function mountEntry(root, signal) {
    const form = el("div", {});
    const list = el("div", {}, el("p", {class: "wait"}, "Loading …"));
    const pairs = getPairs("", signal);
    const status = get("status", signal);
    const chooseFile = async file => {
        try {
            const about = await sniff(file);
            await demandToken(about.kind, file);
            new JobRequest(form, file, about, (await pairs).pairs, (await status).models, signal);
            form.querySelector("select").focus();
        } catch (error) {
            show(form, failure(error, () => chooseFile(file)));
        }
    };
    show(root, el("h1", {}, "Offline"), el("p", {class: "muted lead"}, "A recording, run through the daemon's code: " +
        "nothing of it reaches the robots, the journal or the database."),
        dropZone(chooseFile, signal), form, section("Uploaded before", list));
    try {
        const {jobs} = await get("identify", signal);
        show(list, earlier(jobs.filter(j => j.kind === "upload")));
        await pairs;
    } catch (error) {
        if (!signal.aborted) {
            show(list, failure(error));
        }
    }
}

export async function mount(root, {route, signal}) {
    if (route.job) {
        await runJob(root, route, signal);
    } else {
        await mountEntry(root, signal);
    }
}
