// What was odd: the pair's alarms, by type.

import {get} from "./api.js";
import {count, dateTime} from "./format.js";
import {wordsOfAlarm} from "./pair_state.js";
import {el, empty, failure, redraw, section, show, symbol, table, waiting} from "./ui.js";
import {watch} from "./watch.js";

const LIMIT = 200;

export function drawAlarms(root, alarms, filtered) {
    if (alarms.length === 0) {
        redraw(root, filtered ? empty("No alarm of this type", "Choose another type, or all of them.")
            : empty("No alarms",
                "Nothing odd has been seen of this pair. Here would stand timeouts, robots that restart " +
                "or go offline, clock jumps, drifts of a robot's speed, …"));
        return;
    }
    redraw(root, table("Alarms, newest first", [
        {label: "Time", cell: a => dateTime(a.t), className: "nowrap"},
        {label: "Type", cell: a => el("span", {class: "nowrap"}, symbol("⚠", "sign tone-bad"),
            ` ${wordsOfAlarm(a.type)}`)},
        {label: "Robot", cell: a => a.side ?? ""},
        {label: "Detail", cell: a => a.detail ?? ""},
    ], alarms));
}

export function mount(root, {pair, path, signal}) {
    const body = el("div", {}, waiting());
    const choice = el("select", {id: "alarm-type"}, el("option", {value: ""}, "all types"));
    show(root, section("Alarms", el("div", {class: "bar"}, el("label", {for: "alarm-type"}, "Type"), choice), body));
    const refresh = watch(signal, async s => {
        const [summary, list] = await Promise.all([get(path, s),
            get(`${path}/alarms?limit=${LIMIT}${choice.value ? `&type=${choice.value}` : ""}`, s)]);
        return {counts: summary.alarm_counts, alarms: list.alarms};
    }, {pair, types: ["alarm"]}, ({counts, alarms}) => {
        const wanted = choice.value;
        show(choice, el("option", {value: ""}, "all types"), Object.entries(counts)
            .filter(([type, n]) => n > 0 || type === wanted)
            .map(([type, n]) => el("option", {value: type}, `${wordsOfAlarm(type)} (${count(n)})`)));
        choice.value = wanted;
        drawAlarms(body, alarms, wanted !== "");
    }, error => show(body, failure(error)));
    choice.addEventListener("change", refresh);
}
