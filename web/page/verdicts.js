// Verdicts: a word, a sign and a colour each, never the colour alone.

import {el, symbol} from "./ui.js";

export const VERDICTS = [
    {name: "AHEAD", sign: "▲", tone: "ahead", meaning: "the virtual robot was faster"},
    {name: "BEHIND", sign: "▼", tone: "behind", meaning: "the virtual robot was slower"},
    {name: "SYNC", sign: "●", tone: "sync", meaning: "no further apart than the lab file allows"},
    {name: "UNRESOLVED", sign: "◇", tone: "unsure", meaning: "late messages hide who was first"},
    {name: "TIMEOUT", sign: "✕", tone: "bad", meaning: "one robot did not answer"},
    {name: "VIRTUAL_ONLY", sign: "◐", tone: "unsure", meaning: "only the virtual robot takes part"},
    {name: "REAL_ONLY", sign: "◑", tone: "unsure", meaning: "only the real robot takes part"},
    {name: "OVERFLOW", sign: "⊘", tone: "bad", meaning: "too many commands were open"},
    {name: "HALTED", sign: "◼", tone: "unsure", meaning: "a halt came before it was sent"},
];

export function verdictOf(name) {
    return VERDICTS.find(v => v.name === name) ?? {name, sign: "?", tone: "unsure", meaning: ""};
}

// The verdicts that an answer counts, including those without a sign here.
export function verdictsOf(counts) {
    const known = VERDICTS.filter(v => v.name in counts);
    const names = known.map(v => v.name);
    return [...known, ...Object.keys(counts).filter(name => !names.includes(name)).map(verdictOf)];
}

// Consistency of the two replies to a command. It is no verdict, but lists can be filtered by it.
export const INCONSISTENT = {name: "INCONSISTENT", sign: "≠", tone: "bad",
    meaning: "the robots' answers contradict each other"};

function chip({name, sign, tone, meaning}) {
    return el("span", {class: `chip tone-${tone}`, title: meaning}, symbol(sign, "sign"), ` ${name}`);
}

// consistent: false gives a second chip, true and null (not both were there) do not. past: no robot is there that
// could confirm it now.
export function verdictChip(name, consistent, past = false) {
    const verdict = verdictOf(name);
    return [chip(past ? {...verdict, name: `was ${name}`, tone: "unsure"} : verdict),
        consistent === false && [" ", chip(INCONSISTENT)]];
}

const TONES = {PASS: ["sync", "✓"], MARGINAL: ["unsure", "◇"], FAIL: ["bad", "✕"]};

// Nothing went wrong: there is too little to fit yet.
export function isTooFew(fit) {
    return fit.verdict === "FAIL" && (fit.n === 0 || (fit.reason_codes ?? []).includes("too_few"));
}

// [sign, tone] of PASS, MARGINAL, FAIL, or of none of them.
export function fitSign(name) {
    const [tone, sign] = TONES[name] ?? ["unsure", "?"];
    return [sign, tone];
}

// PASS, MARGINAL or FAIL of a fit or a check.
export function fitChip(name, tooFew = false) {
    const [tone, sign] = tooFew ? ["unsure", "…"] : TONES[name] ?? ["unsure", "?"];
    return el("span", {class: `chip tone-${tone}`}, symbol(sign, "sign"), ` ${tooFew ? "too few data" : name}`);
}
