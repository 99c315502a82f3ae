// Keys of the whole page. None of them works in a field, in a dialog, or together with Ctrl, Alt or Meta.

const ACTIONS = {
    "?": async () => (await import("./help.js")).openKeys(),
    "/": () => document.querySelector("main input[type=search]")?.focus(),
    o: () => {
        location.hash = "#/";
    },
    a: () => document.querySelector(".answers-button")?.click(),
    h: () => [...document.querySelectorAll("main .panel .help")]
        .find(node => node.getBoundingClientRect().bottom > 0)?.click(),
};

function isTyped(node) {
    return node.closest("input, select, textarea, dialog") !== null;
}

export function listenToKeys() {
    addEventListener("keydown", event => {
        if (event.ctrlKey || event.altKey || event.metaKey || isTyped(event.target)
            || document.querySelector("dialog[open]")) {
            return;
        }
        const tab = /^[1-9]$/.test(event.key) && document.querySelectorAll(".tabs a")[Number(event.key) - 1];
        const action = tab ? () => tab.click() : ACTIONS[event.key];
        if (action) {
            event.preventDefault();
            action();
        }
    });
}
