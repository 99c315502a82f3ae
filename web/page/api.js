// Requests to the daemon: conditional for tagged answers, with the token if one is set.
// The token lives as long as the browser's tab and goes nowhere but to this daemon.

const TOKEN = "tandem-token";
const REMEMBERED_MAX = 64;
const remembered = new Map(); // address -> {etag, data}

// An error: a problem document of the daemon, or no answer at all.
export class Problem extends Error {
    constructor(status, title, detail, type) {
        super(detail);
        Object.assign(this, {status, title, detail, type});
    }
}

// Facts about the lab from the daemon. writing is false if the lab file names no token.
export const lab = {writing: null};

export function token() {
    return sessionStorage.getItem(TOKEN) ?? "";
}

export function setToken(text) {
    if (text) {
        sessionStorage.setItem(TOKEN, text);
    } else {
        sessionStorage.removeItem(TOKEN);
    }
    dispatchEvent(new Event("tandem-token"));
}

// Headers that carry the token, if there is one.
export function authorized(headers = {}) {
    return token() ? {...headers, Authorization: `Bearer ${token()}`} : headers;
}

export async function problemOf(response) {
    const body = await response.json().catch(() => ({}));
    return new Problem(response.status, body.title ?? `HTTP ${response.status}`,
        body.detail ?? "The daemon gave no reason.", body.type ?? "");
}

// Accepts an answer 2xx, or 304 for a cached one.
export async function reach(address, options) {
    let response = null;
    try {
        response = await fetch(`api/v1/${address}`, {cache: "no-store", credentials: "omit", ...options});
    } catch (error) {
        if (error.name === "AbortError") {
            throw error;
        }
        throw new Problem(0, "The daemon does not answer",
            "Is 'tandem serve' still running, and is this machine still connected to it?", "");
    }
    if (!response.ok && response.status !== 304) {
        throw await problemOf(response);
    }
    return response;
}

// GET /api/v1/… as JSON. The same object as last time when nothing has changed.
export async function get(address, signal) {
    const old = remembered.get(address);
    const headers = authorized(old ? {"If-None-Match": old.etag} : {});
    const response = await reach(address, {headers, signal});
    if (response.status === 304) {
        return old.data;
    }
    const data = await response.json();
    const etag = response.headers.get("ETag");
    if (etag) {
        remembered.delete(address); // then it is the newest
        remembered.set(address, {etag, data});
        if (remembered.size > REMEMBERED_MAX) {
            remembered.delete(remembered.keys().next().value);
        }
    }
    return data;
}

// GET /api/v1/… as a file. A plain link could not carry the token.
export async function getBlob(address) {
    return (await reach(address, {headers: authorized()})).blob();
}

const PAIRS_PAGES_MAX = 10; // of 1000: as much as a page can hold, and fetch every few seconds

// Counts since the start of the journal are half of a summary, and no list shows them.
function withoutCounts({verdicts, consistency, alarm_counts, ...pair}) {
    return pair;
}

// The pairs of the lab with this part in their names ("": all), in pages: onPage(pairs, left) for each, so that the
// page stays fluid. pairs: all of them; cut: there are more matches; left: number of other pairs of the lab.
export async function getPairs(part, signal, onPage = () => {}) {
    const address = `pairs?limit=1000${part ? `&name=${encodeURIComponent(part)}` : ""}`;
    const pairs = [];
    let page = null;
    for (let k = 0; k < PAIRS_PAGES_MAX && (!page || page.next_cursor); k++) {
        page = await get(page ? `${address}&cursor=${encodeURIComponent(page.next_cursor)}` : address, signal);
        const some = page.pairs.map(withoutCounts);
        pairs.push(...some);
        onPage(some, page.pair_count - pairs.length);
    }
    return {pairs, cut: page.next_cursor !== null, left: page.pair_count - pairs.length};
}

const PAIR_ID = /^[A-Za-z0-9_-]{1,31}$/;

// Whether the lab has this pair. The list is asked, because the browser logs each answer 404 as an error.
export async function hasPair(id, signal) {
    const address = `pairs?limit=50&name=${encodeURIComponent(id)}`;
    for (let cursor = ""; PAIR_ID.test(id) && cursor !== null;) {
        const page = await get(cursor ? `${address}&cursor=${encodeURIComponent(cursor)}` : address, signal);
        if (page.pairs.some(pair => pair.id === id)) {
            return true;
        }
        cursor = page.next_cursor;
    }
    return false;
}

// POST, PUT, DELETE. body: an object becomes JSON, a Blob or a text goes as it is.
export async function send(method, address, body, mediaType) {
    const plain = body === undefined || body instanceof Blob || typeof body === "string";
    const headers = authorized(body === undefined ? {} : {"Content-Type": mediaType ?? "application/json"});
    const response = await reach(address, {method, headers, body: plain ? body : JSON.stringify(body)});
    return response.json().catch(() => null);
}
