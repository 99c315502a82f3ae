// Verdicts: a word, a sign and a colour each, never the colour alone.

import {el, symbol} from "./ui.js";

export const VERDICTS = [
    {name: "AHEAD", sign: "▲", tone: "ahead", meaning: "the virtual robot was faster"},
    {name: "BEHIND", sign: "▼", tone: "behind", meaning: "the virtual robot was slower"},
    {name: "SYNC", sign: "●", tone: "sync", meaning: "no further apart than the lab file allows"},
    {name: "UNRESOLVED", sign: "◇", tone: "unsure", meaning: "the uncertainty hides who was first"},
    {name: "TIMEOUT", sign: "✕", tone: "bad", meaning: "one robot did not answer"},
    {name: "INCONSISTENT", sign: "≠", tone: "bad", meaning: "the robots' answers contradict each other"},
    {name: "VIRTUAL_ONLY", sign: "◐", tone: "unsure", meaning: "only the virtual robot takes part"},
    {name: "REAL_ONLY", sign: "◑", tone: "unsure", meaning: "only the real robot takes part"},
    {name: "OVERFLOW", sign: "⧖", tone: "bad", meaning: "too many commands were open"},
];

export function verdictOf(name) {
    return VERDICTS.find(v => v.name === name) ?? {name, sign: "?", tone: "unsure", meaning: ""};
}

// Those that an answer counts, also such as this page has no sign for.
export function verdictsOf(counts) {
    const known = VERDICTS.filter(v => v.name in counts);
    const names = known.map(v => v.name);
    return [...known, ...Object.keys(counts).filter(name => !names.includes(name)).map(verdictOf)];
}

export function verdictChip(name) {
    const v = verdictOf(name);
    return el("span", {class: `chip tone-${v.tone}`, title: v.meaning}, symbol(v.sign, "sign"), ` ${v.name}`);
}

const TONES = {PASS: ["sync", "✓"], MARGINAL: ["unsure", "◇"], FAIL: ["bad", "✕"]};

// PASS, MARGINAL or FAIL of a fit or a check.
export function fitChip(name) {
    const [tone, sign] = TONES[name] ?? ["unsure", "?"];
    return el("span", {class: `chip tone-${tone}`}, symbol(sign, "sign"), ` ${name}`);
}
