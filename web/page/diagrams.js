// Diagrams of Tandem's state machines, as Graphviz drew them when the daemon was built.

import {el} from "./ui.js";

let loading = null;

// name in lower case -> {name, purpose, states, picture}
async function fetchAll() {
    const response = await fetch("page/machines.html");
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const all = new Map();
    for (const picture of page.querySelectorAll("svg")) {
        const name = picture.querySelector("title").textContent;
        const purpose = picture.querySelector("a")?.getAttribute("xlink:title") ?? "";
        const states = [...picture.querySelectorAll(".node[id^='" + name + ".']")]
            .map(node => node.id.slice(name.length + 1));
        all.set(name.toLowerCase(), {name, purpose, states, picture: clean(picture)});
    }
    return all;
}

// Without titles, which would pop up as "s3->s4", and without ids that other diagrams have too.
function clean(picture) {
    for (const node of picture.querySelectorAll("title")) {
        node.remove();
    }
    for (const node of picture.querySelectorAll("[id]")) {
        if (!node.id.includes(".")) {
            node.removeAttribute("id");
        }
    }
    for (const link of picture.querySelectorAll("a")) {
        link.replaceWith(...link.childNodes);
    }
    return picture;
}

// null: Tandem has no machine of this name.
export async function diagramOf(name) {
    loading ??= fetchAll().catch(error => {
        loading = null;
        throw error;
    });
    return (await loading).get(name.toLowerCase()) ?? null;
}

// The diagram as nodes of this page, and how to light its states.
export function drawing(diagram) {
    const picture = document.importNode(diagram.picture, true);
    picture.setAttribute("role", "img");
    const frame = el("div", {class: "diagram", tabindex: "0", role: "region",
        "aria-label": `Diagram of ${diagram.name}, can be scrolled`}, picture);
    const nodes = new Map(diagram.states.map(state => [state,
        picture.querySelector(`[id="${diagram.name}.${state}"]`)]));
    let shown = "";
    // now, recent: sets of names of states
    const light = (now, recent) => {
        for (const [state, node] of nodes) {
            node.classList.toggle("now", now.has(state));
            node.classList.toggle("recent", !now.has(state) && recent.has(state));
        }
        const words = `State machine ${diagram.name}, now in ${[...now].join(", ") || "no state"}`;
        if (words !== shown) {
            picture.setAttribute("aria-label", words);
            shown = words;
        }
        return [...now].map(state => nodes.get(state)).find(Boolean);
    };
    return {frame, picture, light};
}
