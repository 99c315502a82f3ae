// The moves of a time for the chart of lags and its plots: one by one, or in buckets if they are too many.

import {get} from "./api.js";
import {dateTime, known, plural, plusMinus, signed, withUnit} from "./format.js";
import {judgedText} from "./pair_state.js";

const POINTS = 500; // buckets of the series
const DETAIL_MAX = 600; // moves drawn one by one
const COUNTED = 1000; // newest moves in the histogram, if there are more
const COUNTED_MS = 10000; // between two fetches of these
const LISTS_MAX = 8;

function mostly(verdicts) {
    return Object.entries(verdicts).reduce((most, entry) => (entry[1] > (most?.[1] ?? 0) ? entry : most), null)?.[0];
}

// Everything drawn at one time: one move, or those of a bucket.
export function placeOf(e) {
    const half = e.lag_uncertainty_s ?? 0;
    const bar = known(e.lag_s) ? [e.lag_s - half, e.lag_s, e.lag_s + half] : [null, null, null];
    const inconsistent = e.consistent === false;
    const forecast = known(e.lag_low_s) && known(e.lag_high_s) ? [e.lag_low_s, e.lag_high_s] : null;
    const missed = forecast && known(e.lag_s) && (e.lag_s < forecast[0] || e.lag_s > forecast[1]);
    return {t: e.t, bar, verdict: e.verdict, inconsistent, forecast, missed,
        words: `${dateTime(e.t)}  ${e.verdict}  lag ${plusMinus(e.lag_s, e.lag_uncertainty_s, "s")}`
            + judgedText(e.lag_s, e.judged_lag_s)
            + (forecast ? `  predicted ${forecast.map(s => signed(s, 3)).join(" … ")}` : "")
            + (inconsistent ? `  inconsistent${e.differs ? `: ${e.differs}` : ""}` : "")};
}

function ofBucket(b) {
    const verdicts = [...Object.entries(b.verdicts), ...b.inconsistent > 0 ? [["inconsistent", b.inconsistent]] : []]
        .map(([name, n]) => `${n} ${name}`).join(", ");
    const lags = `lag ${signed(b.min, 3)} … ${signed(b.max, 3)}, mean ${withUnit(signed(b.mean, 3), "s")}`;
    return {t: b.t, bar: [b.min, b.mean, b.max], reach: [b.min, b.max], verdict: mostly(b.verdicts),
        inconsistent: 2 * b.inconsistent > b.count,
        words: `from ${dateTime(b.t)}: ${plural(b.count, "move")}, ${verdicts}; ${lags}`};
}

// counts: objects like {SYNC: 3}
function sumVerdicts(counts) {
    const sum = {};
    for (const [name, n] of counts.flatMap(Object.entries)) {
        sum[name] = (sum[name] ?? 0) + n;
    }
    return sum;
}

const timeQuery = range => (range ? `&since=${range[0].toFixed(3)}&until=${range[1].toFixed(3)}` : "");

// The moves of a pair: one by one if they are not too many, else in buckets. fetched: the time to fetch, seen: that
// of it which is shown, both [since, until]; null: everything
export async function fetchMoves(path, fetched, seen, signal) {
    const series = await get(`${path}/series?points=${POINTS}${timeQuery(fetched)}`, signal);
    const isSeen = ({t}) => !seen || (t >= seen[0] && t <= seen[1]);
    const movesOf = buckets => buckets.reduce((sum, b) => sum + b.count, 0);
    if (movesOf(series.buckets) > DETAIL_MAX) {
        const buckets = series.buckets.filter(isSeen);
        return {path, seen, moves: movesOf(buckets), verdicts: sumVerdicts(buckets.map(b => b.verdicts)),
            places: series.buckets.map(ofBucket), complete: series.complete, bucketS: series.bucket_s};
    }
    const {entries} = await get(`${path}/entries?limit=1000${timeQuery(fetched)}`, signal);
    const shown = entries.filter(isSeen);
    return {path, seen, moves: shown.length, verdicts: sumVerdicts(shown.map(e => ({[e.verdict]: 1}))), entries: shown,
        places: entries.map(placeOf), complete: true};
}

// The newest moves of a long time one by one, not at every new move.
export class Counted {
    constructor(signal) {
        Object.assign(this, {signal, lists: new Map()});
    }

    // found: of fetchMoves(); what: the time chosen, which moves on without another choice
    async entries({path, seen, entries}, what) {
        const key = `${path} ${what}`;
        const old = this.lists.get(key);
        if (entries || (old && performance.now() - old.at < COUNTED_MS)) {
            return entries ?? old.entries;
        }
        const list = await get(`${path}/entries?limit=${COUNTED}${timeQuery(seen)}`, this.signal);
        if (this.lists.size >= LISTS_MAX) {
            this.lists.clear();
        }
        this.lists.set(key, {at: performance.now(), entries: list.entries});
        return list.entries;
    }
}
