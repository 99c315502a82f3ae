// One pair: its name, its state, and the tabs.

import {Problem, get, hasPair} from "./api.js";
import {count, known, labNow} from "./format.js";
import {LEVELS, fidelity, judge, lagText, lastVerdict, sideState, trustLine, verdictBar} from "./pair_state.js";
import {pairAddress} from "./router.js";
import {button, el, failure, marked, redraw, say, show, waiting} from "./ui.js";
import {watch} from "./watch.js";

// A tab is one module with mount(root, context) and one row here.
//
// of(pair): does the pair have this tab? Absent: every pair has it.
// context: {pair: its id, path: its address below api/v1/, route: where we are, signal: aborted when the tab is left}

const TABS = [
    {id: "overview", label: "Overview", load: () => import("./tab_overview.js")},
    {id: "lag", label: "Lag", load: () => import("./tab_lag.js")},
    {id: "calibration", label: "Calibration", load: () => import("./tab_calibration.js")},
    {id: "parameters", label: "Parameters", load: () => import("./tab_parameters.js")},
    {id: "dynamics", label: "Dynamics", load: () => import("./tab_dynamics.js")},
    {id: "following", label: "Following", load: () => import("./tab_following.js")},
    {id: "map", label: "Map", load: () => import("./tab_map.js"), of: pair => !pair.arm},
    {id: "mission", label: "Mission", load: () => import("./tab_mission.js"),
        of: pair => pair.mode === "link" && !pair.arm},
    {id: "arm", label: "Arm", load: () => import("./tab_arm.js"), of: pair => Boolean(pair.arm)},
    {id: "machines", label: "Machines", load: () => import("./tab_machines.js")},
    {id: "alarms", label: "Alarms", load: () => import("./tab_alarms.js")},
];

export const title = route => `${route.pair} – ${TABS.find(t => t.id === route.tab)?.label ?? ""}`;

// Left and right arrows go from tab to tab, as in any list of tabs.
function arrows(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    const tabs = [...event.currentTarget.querySelectorAll("a")];
    const at = tabs.indexOf(document.activeElement);
    if (step && at >= 0) {
        tabs[(at + step + tabs.length) % tabs.length].focus();
        event.preventDefault();
    }
}

// pair: undefined while it is loading: then tabs that few pairs have are hidden.
function tabList(route, pair) {
    const has = tab => !tab.of || tab.id === route.tab || tab.of(pair ?? {});
    return el("nav", {class: "tabs", "aria-label": `Views of ${route.pair}`, onkeydown: arrows},
        TABS.filter(has).map(tab => el("a", {href: pairAddress(route.pair, tab.id),
            "aria-current": tab.id === route.tab ? "page" : null}, tab.label)));
}

// The pair at a glance, above the tabs.
function drawState(root, pair, fits) {
    const now = labNow();
    const [level, reason] = judge(pair, now);
    const {sign, tone, label} = LEVELS[level];
    const [mark, markTone, figure, words] = pair.following ? fidelity(pair.following) : [];
    redraw(root, marked(sign, tone, `${reason || label}`),
        pair.last_verdict && el("span", {}, lastVerdict(pair),
            known(pair.last_lag_s) && [el("span", {class: "muted"}, " last lag "), lagText(pair)]),
        pair.values_omitted > 0 && el("span", {class: "muted"},
            `${count(pair.values_omitted)} values of replies were not compared`),
        pair.following && marked(mark, markTone, `${figure} `, el("span", {class: "muted"}, words)),
        sideState("real", pair.real, now), sideState("virtual", pair.virtual, now),
        pair.entries > 0 && verdictBar(pair.recent_verdicts), trustLine(pair, now, fits));
}

// Screen readers announce changes.
function speaker() {
    let said;
    return pair => {
        const words = `${pair.last_verdict}${pair.last_consistent === false ? ", inconsistent" : ""}`;
        if (said !== undefined && words !== said) {
            say(`${pair.id}: ${words}`);
        }
        said = words;
    };
}

// notice: a node for errors
export function answersButton(pair, path, notice, signal) {
    return button("Five answers", async () => {
        try {
            show(notice);
            const {openAnswers} = await import("./answers.js");
            await openAnswers(pair, path, signal);
        } catch (error) {
            show(notice, failure(error));
        }
    }, {class: "answers-button", title: "Is this twin good, and what to do next", "aria-keyshortcuts": "a"});
}

const seenPairs = new Set(); // those that were shown before

// Throws words about an address that names no pair, or no tab.
async function checkRoute({pair, tab}, signal) {
    if (!TABS.some(t => t.id === tab)) {
        throw new Problem(404, "There is no such tab",
            `A pair has no tab '${tab}', but ${TABS.map(t => t.label).join(", ")}.`);
    }
    if (!seenPairs.has(pair) && !await hasPair(pair, signal)) {
        throw new Problem(404, "There is no such pair", `The lab has no pair '${pair}'. The overview lists its pairs.`);
    }
    seenPairs.add(pair);
}

export async function mount(root, context) {
    const {route, signal} = context;
    await checkRoute(route, signal);
    const path = `pairs/${encodeURIComponent(route.pair)}`;
    const state = el("div", {class: "pair-state"});
    const body = el("div", {class: "tab"}, waiting());
    const tabs = tabList(route);
    let form = ""; // what of the pair decides about its tabs
    const notice = el("div", {});
    const answers = answersButton(route.pair, path, notice, signal);
    show(root, el("div", {class: "pair-head"}, el("h1", {}, route.pair), answers, state), notice, tabs, body);
    root.querySelector(".tabs [aria-current]")?.scrollIntoView({inline: "center", block: "nearest"});
    const announce = speaker();
    watch(signal, s => Promise.all([get(path, s), get(`${path}/travel-time`, s)]),
        {pair: route.pair, types: ["entry", "alarm"]}, ([pair, fits]) => {
        drawState(state, pair, fits);
        const now = `${pair.mode} ${pair.arm ?? ""}`;
        if (now !== form) {
            form = now;
            redraw(tabs, [...tabList(route, pair).children]);
        }
        announce(pair);
    }, error => show(state, marked("✕", "bad", `${error.title}`)));
    const module = await TABS.find(t => t.id === route.tab).load();
    if (!signal.aborted) {
        show(body);
        await module.mount(body, {...context, pair: route.pair, path});
    }
}
