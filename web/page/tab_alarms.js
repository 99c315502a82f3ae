// The pair's alarms, by type.

import {get} from "./api.js";
import {downloadLink} from "./download.js";
import {count, dateTime, plural} from "./format.js";
import {isGoodNews, wordsOfAlarm} from "./pair_state.js";
import {keepQuery, pairAddress} from "./router.js";
import {append, button, el, empty, failure, muted, redraw, section, show, symbol, table, waiting} from "./ui.js";
import {watch} from "./watch.js";

const PAGE = 50;
const MOST = 1000; // of one answer

export function drawAlarms(root, alarms, filtered) {
    if (alarms.length === 0) {
        redraw(root, filtered ? empty("No alarm of this type", "Choose another type, or all of them.")
            : empty("No alarms",
                "No alarm of this pair so far. Timeouts are listed here, robots that restart " +
                "or go offline, clock jumps, drifts of a robot's speed, …"));
        return;
    }
    redraw(root, table("Alarms, newest first", [
        {label: "Time", cell: a => dateTime(a.t), className: "nowrap"},
        {label: "Type", cell: a => el("span", {class: "nowrap"}, isGoodNews(a) ? symbol("✓", "sign tone-sync")
            : symbol("⚠", "sign tone-bad"),
            ` ${wordsOfAlarm(a.type)}`)},
        {label: "Code", cell: a => a.code ?? ""},
        {label: "Robot", cell: a => a.side ?? ""},
        {label: "Command", cell: a => a.id ?? "", className: "nowrap"},
        {label: "Detail", cell: a => [a.detail ?? "", a.suppressed > 0 && el("small", {},
            ` ${plural(a.suppressed, "more", "more")} like it before, which were only counted`)], className: "prose"},
    ], alarms));
}

export function mount(root, {pair, path, route, signal}) {
    const body = el("div", {}, waiting());
    const more = el("div", {class: "actions"});
    const notice = el("div", {role: "status"});
    let limit = PAGE;
    const choice = el("select", {id: "alarm-type"}, el("option", {value: ""}, "all types"));
    const asked = route.query.type ?? "";
    if (/^[a-z_]+$/.test(asked)) {
        append(choice, el("option", {value: asked, selected: true}, wordsOfAlarm(asked)));
    }
    show(root, section("Alarms", el("div", {class: "bar"}, el("label", {for: "alarm-type"}, "Type"), choice,
        el("span", {class: "push"}),
        downloadLink("Table as CSV", `${path}/alarms?format=csv&limit=${MOST}`, `${pair}-alarms.csv`, notice)),
    notice, body, more));
    const refresh = watch(signal, async s => {
        const [summary, list] = await Promise.all([get(path, s),
            get(`${path}/alarms?limit=${limit}${choice.value ? `&type=${choice.value}` : ""}`, s)]);
        return {counts: summary.alarm_counts, alarms: list.alarms, older: list.next_cursor !== null};
    }, {pair, types: ["alarm"]}, ({counts, alarms, older}) => {
        const wanted = choice.value;
        show(choice, el("option", {value: ""}, "all types"), Object.entries(counts)
            .filter(([type, n]) => n > 0 || type === wanted)
            .map(([type, n]) => el("option", {value: type}, `${wordsOfAlarm(type)} (${count(n)})`)));
        choice.value = wanted;
        drawAlarms(body, alarms, wanted !== "");
        show(more, older && limit < MOST && button("Show older ones", () => {
            limit = Math.min(2 * limit, MOST);
            refresh();
        }), older && limit >= MOST && muted(`Older ones than these ${count(MOST)} are had over HTTP, by their pages.`));
    }, error => show(body, failure(error)));
    choice.addEventListener("change", () => {
        keepQuery(pairAddress(pair, "alarms"), choice.value ? {type: choice.value} : {});
        refresh();
    });
}
