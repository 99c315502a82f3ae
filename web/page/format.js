// Numbers for people: with a unit, and no more digits than are known.

const MINUS = "−";
const NARROW = "\u202f"; // between a number and its unit

// The unit at the end of a field's name, as it is written: "linear_speed_mps" -> "m/s".
const UNITS = [
    ["_radps2", "rad/s²"], ["_mps2", "m/s²"], ["_radps", "rad/s"], ["_mps", "m/s"], ["_kgm2ps", "kg m²/s"],
    ["_kgm2", "kg m²"], ["_kgps", "kg/s"], ["_kgpm", "kg/m"], ["_kg", "kg"], ["_nm", "N m"], ["_n", "N"],
    ["_ppm", "ppm"], ["_per_s2", "1/s²"], ["_per_s", "1/s"], ["_rad", "rad"], ["_hz", "Hz"], ["_ratio", ""],
    ["_count", ""], ["_m", "m"], ["_s", "s"], ["_v", "V"],
];

function endingOf(name) {
    return UNITS.find(([ending]) => name.endsWith(ending));
}

export function unitOf(name) {
    return endingOf(name)?.[1] ?? "";
}

// "linear_speed_mps" -> "linear speed"
export function wordsOf(name) {
    const ending = endingOf(name)?.[0] ?? "";
    return name.slice(0, name.length - ending.length).replaceAll("_", " ");
}

export function withUnit(text, unit) {
    return unit ? `${text}${NARROW}${unit}` : text;
}

export function known(value) {
    return typeof value === "number" && Number.isFinite(value);
}

// Digits after the point that show an uncertainty with two figures: 0.0123 -> 3, 4.2 -> 1.
export function decimalsFor(uncertainty) {
    if (!known(uncertainty) || uncertainty <= 0) {
        return 3;
    }
    return Math.min(9, Math.max(0, 1 - Math.floor(Math.log10(uncertainty))));
}

export function fixed(value, decimals) {
    if (!known(value)) {
        return "–";
    }
    const text = Math.abs(value).toFixed(decimals);
    return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

// Rounds to this many figures, without an exponent if possible.
export function figures(value, count = 4) {
    if (!known(value)) {
        return "–";
    }
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e7 || size < 1e-5)) {
        return value.toExponential(count - 1).replace("e+", " × 10^").replace("e-", ` × 10^${MINUS}`)
            .replace("-", MINUS);
    }
    const before = size >= 1 ? Math.floor(Math.log10(size)) + 1 : size > 0 ? Math.floor(Math.log10(size)) + 1 : 1;
    return fixed(value, Math.max(0, count - before));
}

// 0.39966, 0.00035, "m/s" -> "0.39966 ± 0.00035 m/s"; the uncertainty has two figures, or both as many decimals as the
// rest of their column.
export function plusMinus(value, uncertainty, unit = "", decimals = null) {
    if (!known(value)) {
        return "–";
    }
    if (!known(uncertainty)) {
        return withUnit(decimals === null ? figures(value) : fixed(value, decimals), unit);
    }
    const n = decimals ?? decimalsFor(uncertainty);
    const text = fixed(uncertainty, n);
    // An uncertainty of zero, or too small to be written, is shown as small, not as zero.
    return withUnit(`${fixed(value, n)} ± ${Number(text) === 0 ? `< ${fixed(10 ** -n, n)}` : text}`, unit);
}

export function signed(value, decimals) {
    const text = fixed(value, decimals);
    return known(value) && value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

export function percent(ratio, decimals = 0) {
    return known(ratio) ? withUnit(fixed(ratio * 100, decimals), "%") : "–";
}

function signedPercent(ratio, decimals = 1) {
    return known(ratio) ? withUnit(signed(ratio * 100, decimals), "%") : "–";
}

// "+1.2 %" from one value to another; delays are near zero, where a ratio means nothing: "+0.003 s".
export function changeText(from, to, unit = "") {
    if (unit === "s") {
        return known(from) && known(to) ? withUnit(signed(to - from, 4), unit) : "–";
    }
    return known(from) && known(to) && from !== 0 ? signedPercent(to / from - 1) : "–";
}

export function count(n) {
    return known(n) ? n.toLocaleString("en").replaceAll(",", NARROW) : "–";
}

export function plural(n, one, many = `${one}s`) {
    return `${count(n)} ${n === 1 ? one : many}`;
}

// A phrase of the daemon as a sentence.
export function sentence(phrase) {
    return `${phrase[0].toUpperCase()}${phrase.slice(1)}.`;
}

// Lab time, seconds since the epoch.
export function time(seconds) {
    return known(seconds) ? new Date(seconds * 1000).toLocaleTimeString("en-GB") : "–";
}

// The end is year 2286. Beyond the range of Date nothing can be formatted.
export function isLabTime(seconds) {
    return known(seconds) && seconds > 0 && seconds < 1e10;
}

export function dateTime(seconds) {
    if (!known(seconds)) {
        return "–";
    }
    const date = new Date(seconds * 1000);
    const day = new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, 10);
    return `${day} ${date.toLocaleTimeString("en-GB")}`;
}

// 75 -> "1 min 15 s"
export function duration(seconds) {
    if (!known(seconds)) {
        return "–";
    }
    const s = Math.round(seconds);
    const units = [[86400, "d"], [3600, "h"], [60, "min"]];
    const first = units.findIndex(([size]) => s >= size);
    if (first < 0) {
        return withUnit(seconds < 10 ? fixed(seconds, 1) : String(s), "s");
    }
    const [size, name] = units[first];
    const rest = s % size;
    const [below, small] = units[first + 1] ?? [1, "s"];
    const part = Math.floor(rest / below);
    return withUnit(String(Math.floor(s / size)), name) + (part ? ` ${withUnit(String(part), small)}` : "");
}

export function ago(seconds, now) {
    const past = now - seconds;
    return past < 5 ? "just now" : `${duration(past < 10 ? 10 * Math.round(past / 10) : past)} ago`;
}

// Lab time now, in seconds: the daemon's clock, which the browser's need not agree with.
let offset = 0;

export function setLabTime(seconds) {
    offset = seconds - Date.now() / 1000;
}

export function labNow() {
    return Date.now() / 1000 + offset;
}
