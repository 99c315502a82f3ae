// The live event stream: /api/v1/events read through fetch(), so that the token goes in a
// header, as EventSource cannot send one. One connection for the whole page; it resumes where it
// was cut, and it is closed while the page is hidden.

import {authorized, reach} from "./api.js";

const RETRY_MS = [1000, 2000, 5000, 10000];
const SILENCE_MS = 40000; // the daemon sends a comment after 15 s without an event

// "id: 7\nevent: entry\ndata: {…}" as {id, event, data}.
function eventOf(block) {
    return Object.fromEntries(block.split("\n").map(line => line.split(/: ?(.*)/s, 2)));
}

class Stream {
    constructor() {
        this.state = "off"; // "off", "connecting", "live"; "polling": it is refused, "lost": nobody answers
        this.missed = 0;
        this.listeners = new Set(); // {types, pair, run}
        this.selection = "";
        this.lastId = null;
        this.tries = 0;
        this.abort = null;
        this.stays = false; // while the page is hidden, too
        document.addEventListener("visibilitychange", () => this.arrange());
        addEventListener("tandem-token", () => this.restart());
    }

    // run({type, data}) for events of these types; of this pair, or of all (null). After a gap and
    // after each new connection it gets {type: "refetch"}. Ends with the signal.
    listen(types, pair, run, signal) {
        const listener = {types, pair, run};
        this.listeners.add(listener);
        signal?.addEventListener("abort", () => {
            this.listeners.delete(listener);
            queueMicrotask(() => this.arrange());
        });
        queueMicrotask(() => this.arrange());
    }

    // The query for the events of all listeners.
    query() {
        const all = [...this.listeners];
        const types = [...new Set(all.flatMap(l => l.types))].sort();
        const pairs = all.some(l => l.pair === null) ? [] : [...new Set(all.map(l => l.pair))].sort();
        const parts = [`type=${types.join(",")}`];
        if (pairs.length > 0) {
            parts.push(`pair=${pairs.map(encodeURIComponent).join(",")}`);
        }
        return parts.join("&");
    }

    // Connect, reconnect or close, as the listeners and the page's visibility ask for.
    arrange() {
        const wanted = this.listeners.size > 0 && (this.stays || !document.hidden) ? this.query() : "";
        if (wanted === this.selection) {
            return;
        }
        this.selection = wanted;
        this.restart();
    }

    restart() {
        this.abort?.abort();
        this.abort = null;
        this.lastId = null;
        clearTimeout(this.timer);
        if (this.selection) {
            this.connect();
        } else {
            this.become("off");
        }
    }

    become(state) {
        if (state !== this.state) {
            this.state = state;
            dispatchEvent(new Event("tandem-stream"));
        }
    }

    async connect() {
        const abort = new AbortController();
        this.abort = abort;
        if (this.state === "off") {
            this.become("connecting");
        }
        try {
            const headers = authorized(this.lastId ? {"Last-Event-ID": this.lastId} : {});
            const response = await reach(`events?${this.selection}`, {headers, signal: abort.signal});
            const resumed = this.lastId !== null;
            this.tries = 0;
            this.become("live");
            if (!resumed) {
                this.notify("refetch", null);
            }
            await this.read(response.body.getReader(), abort);
            this.failure = "lost";
        } catch (error) {
            this.failure = error.status ? "polling" : "lost";
        }
        if (this.abort === abort) { // else it was replaced
            this.later();
        }
    }

    // Meanwhile the views poll, and the retry delay grows.
    later() {
        this.become(this.failure);
        const wait = RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)];
        this.timer = setTimeout(() => this.connect(), wait);
    }

    async read(reader, abort) {
        const decoder = new TextDecoder();
        let rest = "";
        for (;;) {
            const silent = setTimeout(() => abort.abort(), SILENCE_MS);
            const {done, value} = await reader.read().finally(() => clearTimeout(silent));
            if (done) {
                return;
            }
            const blocks = (rest + decoder.decode(value, {stream: true})).split("\n\n");
            rest = blocks.pop();
            blocks.forEach(block => this.handle(eventOf(block)));
        }
    }

    handle({id, event, data: text}) {
        this.lastId = id ?? this.lastId;
        if (!text) {
            return;
        }
        const data = JSON.parse(text);
        if (event === "missed") {
            this.missed += data.n ?? 0;
            dispatchEvent(new Event("tandem-stream"));
            this.notify("refetch", null);
            return;
        }
        for (const listener of this.listeners) {
            if (listener.types.includes(event) && (listener.pair === null || listener.pair === data.pair)) {
                listener.run({type: event, data});
            }
        }
    }

    notify(type, data) {
        for (const listener of this.listeners) {
            listener.run({type, data});
        }
    }
}

export const stream = new Stream();
