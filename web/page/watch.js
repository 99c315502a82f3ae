// Keeps a shown resource up to date: fetches it at once, after events that concern it, and
// periodically.

import {get} from "./api.js";
import {stream} from "./stream.js";

const GAP_MS = 400; // not more often, whatever happens
const POLL_MS = 2000; // while there is no stream
const CALM_MS = 15000; // with a stream: for changes that make no event
const SETTLE_MS = 1500; // the store may lag behind the event by this

// fetcher: an address below /api/v1/, or a function of the signal that returns a promise.
// options: {pair, types: events after which to fetch again, everyMs: longest interval}
// run(data) and fail(error) draw. Ends with the signal. Returns a function that fetches now.
export function watch(signal, fetcher, options, run, fail) {
    const fetchIt = typeof fetcher === "string" ? s => get(fetcher, s) : fetcher;
    const {pair = null, types = [], everyMs} = options;
    let timer = 0;
    let busy = false;
    let again = false;
    let last = 0;
    let durationMs = 0;
    let unchanged = true; // nothing happened since the last fetch began
    let shown;

    const schedule = ms => {
        clearTimeout(timer);
        if (!signal.aborted) {
            timer = setTimeout(refresh, ms);
        }
    };
    const pause = () => everyMs ?? (stream.state === "live" && types.length > 0 ? CALM_MS : POLL_MS);

    async function refresh() {
        if (busy) {
            again = true;
            return;
        }
        busy = true;
        again = false;
        const calm = unchanged;
        unchanged = true;
        last = performance.now();
        try {
            const data = await fetchIt(signal);
            if (!signal.aborted && data !== shown) {
                shown = data;
                run(data);
            }
        } catch (error) {
            if (!signal.aborted) {
                shown = undefined;
                fail(error);
            }
        }
        busy = false;
        durationMs = performance.now() - last;
        // Large labs cost more: never spend more than a fifth of the time on it.
        const wait = again ? GAP_MS : !calm ? SETTLE_MS : document.hidden ? CALM_MS : pause();
        schedule(Math.max(wait, 4 * durationMs));
    }

    if (types.length > 0) {
        stream.listen(types, pair, () => {
            const wait = Math.max(GAP_MS, 4 * durationMs) - (performance.now() - last);
            unchanged = false;
            if (busy) {
                again = true;
            } else {
                schedule(Math.max(0, wait));
            }
        }, signal);
    }
    signal.addEventListener("abort", () => clearTimeout(timer));
    refresh();
    return refresh;
}
