// Diagrams of state machines: Tandem's own, made by Graphviz when the daemon was built, and those of the lab file's
// `machines`, in their own layout.

import {authorized, reach} from "./api.js";
import {button, el, symbol} from "./ui.js";

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

// The diagram of a lab's machine; null: no machine of this name.
async function fetchDrawn(name) {
    const response = await reach(`machines/${encodeURIComponent(name)}`, {headers: authorized()}).catch(error => {
        if (error.status === 404 || error.status === 400) {
            return null;
        }
        throw error;
    });
    if (!response) {
        return null;
    }
    const picture = new DOMParser().parseFromString(await response.text(), "image/svg+xml").documentElement;
    const [, , width, height] = picture.getAttribute("viewBox").split(" ");
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    picture.classList.add("drawn");
    const states = [...new Set([...picture.querySelectorAll(".state")].map(node => node.id.slice(name.length + 1)))];
    return {name, purpose: "", states, picture};
}

// The diagram of a machine; null: none of this name for which fits(diagram) is true.
export async function diagramOf(name, fits = () => true) {
    loading ??= fetchAll().catch(error => {
        loading = null;
        throw error;
    });
    const own = (await loading).get(name.toLowerCase());
    const found = own && fits(own) ? own : await fetchDrawn(name);
    return found && fits(found) ? found : null;
}

const ZOOM = 1.3; // a step
const ZOOM_MOST = 6;

// Buttons for a drawing: closer, further away, all of it. The frame scrolls, also by arrow keys when it has the focus.
export function zoomTools({frame, picture}) {
    const fit = () => {
        frame.classList.remove("zoomed");
        frame.classList.add("fit");
        picture.style.width = "";
    };
    const scale = factor => {
        const shown = picture.getBoundingClientRect().width;
        const width = Math.min(ZOOM_MOST * frame.clientWidth, shown * factor);
        const [x, y] = [frame.scrollLeft + frame.clientWidth / 2, frame.scrollTop + frame.clientHeight / 2];
        frame.classList.remove("fit");
        frame.classList.add("zoomed");
        picture.style.width = `${width}px`;
        frame.scrollTo(x * width / shown - frame.clientWidth / 2, y * width / shown - frame.clientHeight / 2);
    };
    const tool = (sign, label, run) => button(symbol(sign), run, {class: "quiet", "aria-label": label, title: label});
    fit();
    return el("div", {class: "chart-tools", role: "group", "aria-label": "Size of the drawing"},
        tool("+", "Closer", () => scale(ZOOM)), tool("−", "Further away", () => scale(1 / ZOOM)),
        tool("⤢", "All of it", fit));
}

// The diagram as nodes of this page, with a function that highlights its states.
export function drawing(diagram) {
    const picture = document.importNode(diagram.picture, true);
    picture.setAttribute("role", "img");
    const frame = el("div", {class: "diagram", tabindex: "0", role: "region",
        "aria-label": `Diagram of ${diagram.name}, can be scrolled`}, picture);
    // A state that is drawn twice is highlighted twice.
    const nodes = new Map(diagram.states.map(state => [state,
        [...picture.querySelectorAll(`[id="${CSS.escape(`${diagram.name}.${state}`)}"]`)]]));
    const arcs = [...picture.querySelectorAll(".edge[id]")].map(edge => [[edge.id.split(".").pop()], edge]).concat(
        [...picture.querySelectorAll("[data-arcs]")].map(edge => [edge.dataset.arcs.split(" "), edge]));
    let shown = "";
    // now, recent: sets of names of states; last: numbers of arcs
    const light = (now, recent, last = new Set()) => {
        for (const [numbers, edge] of arcs) {
            edge.classList.toggle("last", numbers.some(n => n !== "" && last.has(Number(n))));
        }
        for (const [state, places] of nodes) {
            for (const node of places) {
                node.classList.toggle("now", now.has(state));
                node.classList.toggle("recent", !now.has(state) && recent.has(state));
            }
        }
        const words = `State machine ${diagram.name}, now in ${[...now].join(", ") || "no state"}`;
        if (words !== shown) {
            picture.setAttribute("aria-label", words);
            shown = words;
        }
        return [...now].map(state => nodes.get(state)?.[0]).find(Boolean);
    };
    return {frame, picture, light};
}
