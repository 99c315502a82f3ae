// One pair: its name, how it is, and the tabs.

import {pairAddress} from "./router.js";
import {el, failure, show} from "./ui.js";
import {TABS} from "./tabs.js";

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

function tabList(route) {
    return el("nav", {class: "tabs", "aria-label": `Views of ${route.pair}`, onkeydown: arrows},
        TABS.map(tab => el("a", {href: pairAddress(route.pair, tab.id),
            "aria-current": tab.id === route.tab ? "page" : null}, tab.label)));
}

export async function mount(root, context) {
    const {route, signal} = context;
    const body = el("div", {class: "tab"}, el("p", {class: "wait"}, "Loading …"));
    show(root, el("div", {class: "pair-head"}, el("h1", {}, route.pair)), tabList(route), body);
    const tab = TABS.find(t => t.id === route.tab);
    if (!tab) {
        show(body, failure({title: "No such view", detail: `Of a pair there are: ${TABS.map(t => t.label).join(", ")}.`}));
        return;
    }
    const module = await tab.load();
    if (!signal.aborted) {
        show(body);
        await module.mount(body, {...context, pair: route.pair});
    }
}
