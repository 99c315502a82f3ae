// Help where one looks: a dialog for each panel, with two sentences, the document, and the panel's charts and tables
// as files. One row a panel.

import {saveBars, saveChart, saveTable} from "./export.js";
import {ask, button, el, failure, show} from "./ui.js";

// title of the panel, or its beginning: [what it shows and what follows from it, its document]
const HELP = {
    "Lag over time": [
        "Each mark is a move: the real robot's time minus the virtual robot's. Above the SYNC band the "
        + "virtual robot was faster, below it was slower.", "entry.md"],
    "Spread of lags": [
        "How often each lag came in the time shown, and how lags go with the size of the move. A lag that grows with "
        + "the size is a wrong speed, a constant one a delay.", "entry.md"],
    "Lag, last hour": [
        "Each mark is a move: the real robot's time minus the virtual robot's. The tab Lag has all moves, and"
        + " why one was late.", "entry.md"],
    "Next move": [
        "The expected times of a move, with intervals that hold 95 % of such moves. The twin can be trusted "
        + "for a move if the whole interval of the lag is within your bound.", "forecast.md"],
    "Latest moves": [
        "The newest moves with verdict, lag and times; a number opens why that move was late. Filters are "
        + "kept in the address, so that the view can be sent.", "entry.md"],
    "Travel times": [
        "Delay and speeds of both robots, fitted to their moves, with 95 % intervals. If the two differ by "
        + "more than the intervals, promote a set under Parameters.", "travel_time.md"],
    "Calibration": [
        "Delay and speeds of both robots, fitted to their moves, with 95 % intervals. The verdict PASS says "
        + "that another recording would agree.", "travel_time.md"],
    "Laps against the fit": [
        "Measured times against size of the move, with the fitted law and the band that holds 95 % of the "
        + "moves. Marks outside of it are moves that the law does not explain.", "travel_time.md"],
    "Calibration over time": [
        "The fitted values over time, with drifts and promoted sets. A step shows when a robot changed.", "trust.md"],
    "Fits over time": [
        "The fitted values over time, with drifts and promoted sets. A step shows when a robot changed.", "trust.md"],
    "Parameter sets": [
        "The set of parameters in use, the candidate, and the checks that it passed. Promote a candidate to "
        + "give the simulator the real robot's values; Roll back undoes it.", "parameters.md"],
    "Real robot": [
        "What the fits of the real robot rest on, and the newest of them. Fit now does not wait for more samples.",
        "online.md"],
    "Virtual robot": [
        "What the fits of the virtual robot rest on, and the newest of them. Both robots should have the same "
        + "parameters if the simulator is right.", "online.md"],
    "State machine": [
        "A state machine as it was drawn, with its present state and the last arc. Its guards and actions are at the "
        + "arcs; the document explains how they are written.", "efsm.md"],
    "A job": [
        "The file is sent to the daemon, which replays it or fits a model to it. A held-out recording takes no part in "
        + "the fit; how well it is predicted shows whether the model holds.", "identification.md"],
    "History": [
        "Each set that was proposed, promoted, rolled back or refused, and by whom. A simulator acknowledges "
        + "the sets that it has applied.", "parameters.md"],
    "Parameters": [
        "The fitted parameters with their 95 % intervals and the verdict of the fit. The reasons and advice "
        + "say what to do if it is not PASS.", "identification.md"],
    "Measured against model": [
        "Measured velocities, and those that the fitted model computes from the same efforts. Where the two "
        + "part, the model lacks something.", "online.md"],
    "Parts of the recording": [
        "The recording is cut in parts, and each part is fitted alone. Parts that differ by more than chance "
        + "show that the robot or its world changed.", "trust.md"],
    "What was tried": [
        "The models and methods that were compared, and how well each predicts. The simplest one that "
        + "predicts as well as the others is chosen.", "identification.md"],
    "How far to trust": [
        "The verdict, its reasons, and the checks behind them. PASS says that another recording of the same "
        + "robot would agree.", "trust.md"],
    "The recording": [
        "What the recording holds: its length, its rate, and how much each input moved. An input that did not"
        + " move cannot tell its parameter.", "identification.md"],
    "Mission under way": [
        "What the robot does now: the mission, its command to the robot, and the plans to which it will return; of a "
        + "vessel, how far it is from its course. The map shows the planned path and what was driven.", "mission.md"],
    "Missions": [
        "What waits, runs and is over, newest first, with the reason of each that failed or was refused. "
        + "Cancel drops one that waits and halts the robot of one that runs.", "mission.md"],
    "How it goes": [
        "How closely the virtual robot follows the real one, and for which share of the time. The target is "
        + "set in the lab file.", "following.md"],
    "Velocities": [
        "Velocities of both robots, and their difference. A constant difference is a wrong parameter, a "
        + "growing one a robot at its limit.", "following.md"],
    "Distance of the virtual robot": [
        "How far the virtual robot is from the real one over the last minutes, by the times at which "
        + "their poses arrived.", "following.md"],
    "Errors over the window": [
        "Errors of position and velocity over the last seconds. The controller is good if they stay within "
        + "the bounds of the lab file.", "following.md"],
    "Efforts": [
        "The efforts that the controller sends to the virtual robot. An effort at its limit cannot correct "
        + "any more.", "following.md"],
    "Models": [
        "The models of motion that the controller uses for both robots. They come from the dynamics of the "
        + "lab file, or from the fit while the robots run.", "following.md"],
    "From above": [
        "Both robots where they report to be, with their tracks and the map. A growing distance is an error "
        + "of odometry, or of the simulator.", "pair.md"],
    "Tools from above": [
        "The tools of both arms, seen from above. The tab Arm has the links and joints.", "arm_pair.md"],
    "Real and virtual arm": [
        "Both arms over each other, from three sides. The distance of the tools is what a different length or"
        + " friction costs.", "arm_pair.md"],
    "Health": [
        "Whether robots, daemon, broker, journal and database are well. An alarm here concerns the lab, not "
        + "the motion.", "alarm.md"],
    "Latest transitions": [
        "The newest transitions of the state machine that is drawn. The lit state is the present one.", "efsm.md"],
    "Alarms": [
        "Everything odd that Tandem has seen, with its code and the command concerned. The document says for "
        + "each code when it is raised.", "alarm.md"],
    "Verdicts": [
        "How many moves of the recording were AHEAD, BEHIND, in SYNC, or not comparable. A live daemon counts"
        + " the same.", "entry.md"],
    "The last ": [
        "The last moves of the recording with verdict, lag and times. The file of the document has all of "
        + "them.", "entry.md"],
    "Moves": [
        "The moves of the recording with verdict, lag and times. The file of the document has all of them.",
        "entry.md"],
    "Uploaded before": [
        "Recordings that were uploaded since the daemon started, and their results. They are forgotten when "
        + "it stops.", "http.md"],
    "The team": [
        "The state of the team as a whole, and what it has done. An alarm names the robot that others wait "
        + "for.", "teams.md"],
    "Robots": [
        "Each robot of the team: its step, what it holds, and what it waits for. Reset, skip and abort need "
        + "the token.", "teams.md"],
    "Places and tools": [
        "What the robots share, who holds it, and who waits. Release frees what a failed robot still holds.",
        "teams.md"],
    "Over time": [
        "What each robot did, and what was predicted when the team began. A bar outside of its whisker took "
        + "longer than nine of ten runs would.", "teams.md"],
    "Plan": [
        "Start times of the tasks under plan of the lab file, by the durations measured so far. A lane below the "
        + "robots shows which tasks need one place at the same time: one of them will wait.", "teams.md"],
    "How long it takes": [
        "Predicted and measured durations of the team's parts. Nine of ten should be within their interval.",
        "teams.md"],
    "Jobs": [
        "Jobs that were given to the team, with their robot and state. A waiting job needs a robot that can "
        + "do it.", "teams.md"],
    "Machines": [
        "The state machines of the team: robots, tasks, places and tools. The lit state is the present one.",
        "efsm.md"],
};

const documentAddress = file => `page/${file}`;

// [words, document] of a panel by its title; the longest beginning that fits counts. Undefined: none.
export function helpOf(title) {
    const fits = Object.keys(HELP).filter(begin => title.startsWith(begin));
    return HELP[fits.sort((a, b) => b.length - a.length)[0]];
}

// Files of what the panel shows: [label, action].
function exportsOf(panel, title) {
    const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    const drawings = [...panel.querySelectorAll(".chart, svg[role=img]:not(.intervals)")]
        .filter(node => node.clientWidth > 0);
    const bars = [...panel.querySelectorAll("svg.intervals")].filter(node => node.clientWidth > 0);
    const tables = [...panel.querySelectorAll("table")];
    const numbered = (list, k) => (list.length > 1 ? ` ${k + 1}` : "");
    const place = (list, k) => (list.length > 1 ? `-${k + 1}` : "");
    return [
        ...drawings.flatMap((node, k) => ["svg", "png"].map(kind => [`Chart${numbered(drawings, k)} as ${
            kind.toUpperCase()}`, () => saveChart(node, `${name}${place(drawings, k)}`, kind)])),
        ...(bars.length > 0 ? ["svg", "png"] : []).map(kind => [`Intervals as ${kind.toUpperCase()}`,
            () => saveBars(bars, `${name}-intervals`, kind)]),
        ...tables.map((node, k) => [`Table${numbered(tables, k)} as CSV`,
            () => saveTable(node, `${name}${place(tables, k)}`)]),
    ];
}

export function openHelp(panel, title) {
    const [words, file] = helpOf(title) ?? ["", "glossary.md"];
    const notice = el("div", {});
    const files = exportsOf(panel, title).map(([label, save]) => button(label, async () => {
        try {
            show(notice);
            await save();
        } catch (error) {
            show(notice, failure(error));
        }
    }));
    return ask(title, [words && el("p", {}, words),
        el("p", {}, el("a", {href: documentAddress(file), target: "_blank"}, `Document: ${file}`)),
        files.length > 0 && el("div", {class: "bar"}, files), notice], []);
}

const KEYS = [
    ["?", "this list"],
    ["/", "the field that filters"],
    ["o", "all pairs"],
    ["1 … 9", "a tab of the pair"],
    ["a", "five answers about the pair"],
    ["← →", "from tab to tab, with the focus on one"],
    ["h", "help for the first panel that is seen"],
    ["Esc", "closes a dialog"],
];

export function openKeys() {
    return ask("Keys", [el("dl", {class: "keys"}, KEYS.map(([key, words]) =>
        el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, words))))], []);
}
