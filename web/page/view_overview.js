// All pairs of the lab, those in trouble first.

import {getAll} from "./api.js";
import {plural} from "./format.js";
import {pairAddress} from "./router.js";
import {el, failure, show} from "./ui.js";
import {watch} from "./watch.js";

export const title = "Overview";

export function mount(root, context) {
    const list = el("div", {}, el("p", {class: "wait"}, "Loading …"));
    show(root, el("h1", {}, "Pairs"), list);
    watch(context.signal, signal => getAll("pairs?limit=1000", "pairs", signal), {types: ["entry", "alarm"]},
        pairs => show(list, pairs.map(pair => el("p", {}, el("a", {href: pairAddress(pair.id)}, pair.id), " ", plural(pair.entries, "entry", "entries")))),
        error => show(list, failure(error)));
}
