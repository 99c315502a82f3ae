// The frame: header, theme, token, and the choice of the view.

import {get, lab, token} from "./api.js";
import {duration, setLabTime} from "./format.js";
import {listenToKeys} from "./keys.js";
import {notifyButton} from "./notify.js";
import {follow, parse, teamAddress} from "./router.js";
import {stream} from "./stream.js";
import {askToken} from "./token.js";
import {button, el, failure, marked, redraw, say, show, symbol} from "./ui.js";
import {watch} from "./watch.js";

// Views are loaded on demand. A view is a module with `title` (a text, or a
// function of the route) and mount(root, {route, signal}).
const VIEWS = {
    overview: () => import("./view_overview.js"),
    pair: () => import("./view_pair.js"),
    offline: () => import("./view_offline.js"),
    team: () => import("./view_team.js"),
};

const TEAMS_SHOWN = 3; // the overview has all

const content = document.getElementById("content");
let leaving = new AbortController();

// ---- theme ----

const THEMES = {auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark"};

function theme() {
    return localStorage.getItem("tandem-theme") ?? "auto";
}

function applyTheme() {
    const name = theme();
    if (name === "auto") {
        delete document.documentElement.dataset.theme;
    } else {
        document.documentElement.dataset.theme = name;
    }
    dispatchEvent(new Event("tandem-theme"));
}

function themeButton() {
    const label = () => [symbol(THEMES[theme()].slice(0, 1)), THEMES[theme()].slice(1)];
    const button = el("button", {type: "button", class: "quiet", title: "Colours: as the system has them, light, dark",
        onclick: () => {
            const names = Object.keys(THEMES);
            localStorage.setItem("tandem-theme", names[(names.indexOf(theme()) + 1) % names.length]);
            applyTheme();
            show(button, label());
        }}, label());
    return button;
}

// ---- header ----

const STREAM_WORDS = {
    live: ["●", "live", "sync"],
    connecting: ["◌", "connecting", "unsure"],
    polling: ["◇", "every 2 s", "unsure"],
    lost: ["✕", "reconnecting", "bad"],
    off: ["", "", "unsure"],
};

function streamSign() {
    const node = el("span", {class: "stream-state", title: "How this page receives events"});
    const draw = () => {
        const [sign, word, tone] = STREAM_WORDS[stream.state];
        show(node, word && marked(sign, tone, `${word}`),
            stream.missed > 0 && ` (${stream.missed} missed)`);
    };
    addEventListener("tandem-stream", draw);
    draw();
    return node;
}

function tokenButton() {
    const button = el("button", {type: "button", class: "quiet", onclick: () => askToken()});
    const draw = () => show(button, lab.writing === false ? "Read only"
        : token() ? [symbol("✓"), " Token given"] : "Token …");
    addEventListener("tandem-token", draw);
    addEventListener("tandem-writing", draw);
    addEventListener("tandem-ask-token", () => askToken());
    draw();
    return button;
}

// Which program this is, and what else it serves.
function drawFoot({version, lab: name}) {
    redraw(document.getElementById("foot"), `Tandem ${version} · `,
        el("span", {title: "Name of the lab"}, name), " · ",
        el("a", {href: "page/glossary.md"}, "Glossary"), " · ",
        el("a", {href: "api/v1/openapi.json", title: "What programs ask the daemon, over HTTP"}, "API"), " · ",
        el("a", {href: "metrics", title: "Counters for Prometheus"}, "Metrics"), " · ",
        button("Keys", async () => (await import("./help.js")).openKeys(), {class: "quiet", "aria-keyshortcuts": "?"}));
}

function drawStatus(node, status) {
    setLabTime(status.t);
    drawFoot(status);
    if (lab.writing !== status.writing) {
        lab.writing = status.writing;
        dispatchEvent(new Event("tandem-writing"));
    }
    const ill = Object.entries(status.parts).filter(([, part]) => !part.ok);
    show(node, el("strong", {}, status.lab), " ",
        ill.length === 0 ? el("span", {class: "muted"}, `up ${duration(status.uptime_s)}`)
            : el("span", {class: "tone-bad"}, symbol("✕", "sign"),
                ` ${ill.map(([name, part]) => part.text || name).join("; ")}`));
    node.title = ill.length === 0 ? "Broker, journal and store are well" : "";
}

function drawHeader() {
    const status = el("div", {class: "lab-state"});
    const nav = el("nav", {"aria-label": "Main", class: "main-nav"},
        el("a", {href: "#/", "data-views": "overview pair"}, "Pairs"),
        VIEWS.offline && el("a", {href: "#/offline", "data-views": "offline"}, "Offline"));
    show(document.getElementById("top"),
        el("a", {class: "brand", href: "#/"}, el("img", {src: "page/icon.svg", alt: "", width: 26, height: 26}),
            "Tandem"),
        status,
        nav, el("div", {class: "tools"}, streamSign(), tokenButton(), notifyButton(), themeButton()));
    watch(new AbortController().signal, "status", {everyMs: 10000}, data => drawStatus(status, data),
        error => show(status, marked("✕", "bad", `${error.title}`)));
    get("teams").then(data => {
        for (const {id} of data.teams.slice(0, TEAMS_SHOWN)) {
            const link = el("a", {href: teamAddress(id), "data-team": id},
                data.teams.length === 1 ? "Team" : `Team ${id}`);
            link.toggleAttribute("aria-current", isCurrent(link, parse(location.hash)));
            nav.insertBefore(link, nav.lastElementChild);
        }
    }, () => {}); // the overview shows the error
}

// ---- views ----

function isCurrent(link, route) {
    return route.view === "team" ? link.dataset.team === route.team
        : (link.dataset.views ?? "").split(" ").includes(route.view);
}

const toOverview = () => el("p", {}, el("a", {href: "#/"}, "To the overview"));

async function showView(route) {
    leaving.abort();
    const here = leaving = new AbortController();
    const load = VIEWS[route.view];
    if (!load) {
        show(content, failure({title: "There is no such view", detail: "The overview has links to all there is."}),
            toOverview());
        return;
    }
    try {
        const view = await load();
        if (here.signal.aborted) {
            return;
        }
        const title = typeof view.title === "function" ? view.title(route) : view.title;
        document.title = `${title} · Tandem`;
        for (const link of document.querySelectorAll(".main-nav a")) {
            link.toggleAttribute("aria-current", isCurrent(link, route));
        }
        say(title);
        await view.mount(content, {route, signal: here.signal});
    } catch (error) {
        if (!here.signal.aborted) {
            show(content, failure(error, error.status === 404 ? null : () => showView(route)), toOverview());
        }
    }
}

applyTheme();
listenToKeys();
drawHeader();
follow(showView);
