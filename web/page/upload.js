// A recording on its way to the daemon, and what it is.

import {Problem, authorized, problemOf, send} from "./api.js";

const SNIFFED_BYTES = 65536;

// "journal", "moves" (a table that can be replayed) or "motion" (a table that a model is fitted
// to), and whether a table says whose moves it has. By its beginning.
export async function sniff(file) {
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

// May recordings be uploaded with this token? While a long one is on its way, a refusal is easily
// lost: then it is asked for again with nothing on its way. There is no job 1.
export async function mayUpload() {
    await send("DELETE", "replay/1").catch(error => {
        if (error.status !== 404) {
            throw error;
        }
    });
}

// POST with progress, which fetch() does not tell: told(share of the bytes that are gone).
export function upload(address, file, mediaType, told, signal) {
    return new Promise((done, fail) => {
        const request = new XMLHttpRequest();
        request.open("POST", `api/v1/${address}`);
        for (const [name, value] of Object.entries(authorized({"Content-Type": mediaType}))) {
            request.setRequestHeader(name, value);
        }
        request.upload.addEventListener("progress", event => told(event.total > 0 ? event.loaded / event.total : 0));
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
