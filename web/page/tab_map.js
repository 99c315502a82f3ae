// Poses and tracks of both robots, seen from above, now or up to ten minutes ago; and those of the pair's team.

import {get} from "./api.js";
import {legend} from "./chart.js";
import {duration, known, labNow, plural, time} from "./format.js";
import {LiveMap} from "./live_map.js";
import {MapView} from "./map_view.js";
import {pairAddress, setQuery} from "./router.js";
import {el, empty, facts, failure, field, muted, redraw, section, show, waiting} from "./ui.js";
import {aligned, apart, place, rayEnds, until} from "./tracks.js";
import {watch} from "./watch.js";

const EVERY_MS = 1000;
const PAST_S = 600; // tracks cover it
const TEAM_MAX = 12; // robots on one map
const TRACKS = ["reported", "real", "virtual"];

function words(reported, real, virtual) {
    return facts([["Real robot, x, y, heading", place(reported ?? real)],
        reported && ["The same, aligned", real ? place(real) : "no pose since"],
        ["Virtual robot", place(virtual)],
        real && virtual && [reported ? "Apart, aligned" : "Apart", ...apart(real, virtual)],
        reported && virtual && ["Apart, as reported", ...apart(reported, virtual)]]);
}

function signs({reported, map}, hasRays, isTeam, hasSweeps) {
    const real = ["real robot, solid, aligned: turned and moved to where the virtual one stood",
        "real robot, faint, at its reported pose"];
    return legend([["➤", "real", reported.length > 0 ? real[0] : "real robot, solid"],
        ...(reported.length > 0 ? [["➤", "reported", real[1]]] : []),
        ["➤", "virtual", "virtual robot, dashed"],
        ...(hasRays ? [["•", "bad", "ends of the real lidar's rays"], ["○", "virtual", "of the virtual one's"]] : []),
        ...(map ? [["■", "obstacle", "obstacles and walls; dashed: not on the robot's map"]] : []),
        ...(hasSweeps ? [["▦", "obstacle", "map of the sweeps: grey occupied, faint free"],
            ["➤", "located", "outlined: where that map has the robots"]] : []),
        ...(isTeam ? [["A", "real", "names: robots of the team"]] : [])]);
}

// The robots of one pair until that time. name: of the robot in its team, else "".
function robotsOf(data, at, name) {
    const labelled = data.real.length > 0 ? "real" : "virtual";
    return TRACKS.map(side => ({side, track: at === null ? data[side] : until(data[side], at),
        label: side === labelled ? name : "", name: `${name ? `${name}: ` : ""}${
            side === "reported" ? "real robot at its reported pose" : `${side} robot`}`}));
}

class MapTab {
    constructor(root, pair, path, query, signal) {
        Object.assign(this, {pair, path, mates: {}, others: [], live: new LiveMap(pair)});
        const [message, drawing] = [el("div", {}, waiting()), el("div", {})];
        const back = labNow() - Number(query.t); // the address has the lab time that is shown
        this.slider = el("input", {type: "range", id: "map-time", min: String(-PAST_S), max: "0", step: "1",
            value: back > 0 && back <= PAST_S ? String(-Math.round(back)) : "0", oninput: () => this.draw(),
            onchange: () => this.writeAddress()});
        this.said = el("output", {for: "map-time"});
        this.withTeam = el("input", {type: "checkbox", id: "map-team", checked: query.team === "1", onchange: () => {
            this.writeAddress();
            this.refetch();
        }});
        this.teamField = el("span", {hidden: true}, this.withTeam, " ", el("label", {for: "map-team"}, "its team"));
        this.foot = el("div", {});
        this.signs = el("div", {});
        this.panel = el("div", {hidden: true}, section("From above, in metres", this.signs, drawing,
            el("div", {class: "bar map-time"}, field("Time", this.slider), this.said, this.teamField), this.foot));
        this.message = message;
        show(root, message, this.panel);
        this.view = new MapView(drawing, signal);
        this.view.place = query.at ?? "";
        this.view.onMoved = () => this.writeAddress();
    }

    writeAddress() {
        const back = -Number(this.slider.value);
        setQuery({at: this.view.place, t: back > 0 ? (labNow() - back).toFixed(0) : "",
            team: this.withTeam.checked ? "1" : ""}, pairAddress(this.pair, "map"));
    }

    // The pair's own tracks, and those of its team if asked for.
    async fetch(signal) {
        const others = Object.values(this.mates).filter(id => id !== this.pair).slice(0, TEAM_MAX);
        const all = await Promise.all([this.pair, ...(this.withTeam.checked ? others : [])].map(id =>
            get(`pairs/${encodeURIComponent(id)}/trajectory`, signal)));
        if (known(all[0].sweeps)) {
            await this.live.fetch(signal);
        }
        return all;
    }

    // The team with this pair, if any: {robot: pair}.
    async findTeam(signal) {
        const {teams} = await get("teams", signal);
        for (const {id} of teams) {
            const {pairs} = await get(`teams/${encodeURIComponent(id)}`, signal);
            if (Object.values(pairs).includes(this.pair)) {
                this.mates = pairs;
                this.teamField.hidden = Object.keys(pairs).length < 2;
                if (this.withTeam.checked) {
                    this.refetch();
                }
            }
        }
    }

    update(all) {
        const [data] = all;
        const none = data.real.length + data.virtual.length === 0 && all.length === 1 && !data.map && !data.sweeps;
        this.panel.hidden = none;
        show(this.message, none && empty("No pose yet",
            "The tracks come from the robots' telemetry, as soon as it has a pose [x, y, yaw]:",
            `mosquitto_pub -t tandem/v1/${this.pair}/real/telemetry -m '{"pose":[0,0,0],"nu":[0.1,0,0]}'`));
        this.all = all.map(aligned);
        this.draw();
    }

    draw() {
        if (this.panel.hidden || !this.all) {
            return;
        }
        const back = -Number(this.slider.value);
        const at = back === 0 ? null : labNow() - back;
        const [data] = this.all;
        const names = Object.fromEntries(Object.entries(this.mates).map(([robot, pair]) => [pair, robot]));
        const robots = this.all.map(one => robotsOf(one, at, this.all.length > 1 ? names[one.pair] ?? one.pair : ""));
        const sweeps = ["real", "virtual"].map(side => ({side, points: rayEnds(data.rays[side], at ?? labNow())}));
        const [reported, real, virtual] = robots[0].map(robot => robot.track.at(-1));
        show(this.said, back === 0 ? "now" : `${duration(back)} ago, ${time(at)}`);
        this.slider.setAttribute("aria-valuetext", this.said.textContent);
        const live = this.live.data && this.live;
        const located = live && at === null ? live.robots({real: reported ?? real, virtual}) : [];
        redraw(this.signs, signs(data, sweeps.some(({points}) => points.length > 0), this.all.length > 1, live));
        const [realPoses, virtualPoses] = [data.real, data.virtual].map(track => plural(track.length, "pose"));
        this.view.draw({map: data.map, layer: live?.layer(), robots: [...robots.flat(), ...located], sweeps,
            label: `Seen from above: ${realPoses} of the real robot, ${virtualPoses} of the virtual one${
                data.map ? ", and the map of their world" : ""}${live ? ", and the map of their sweeps" : ""}`});
        redraw(this.foot, words(reported, real, virtual), live && live.words(), !data.map && !live && muted(
            "Walls and obstacles are drawn when the pair's ", el("code", {}, "map:"), " in the lab file names a map."));
    }
}

export function mount(root, {pair, path, route, signal}) {
    const tab = new MapTab(root, pair, path, route.query, signal);
    tab.refetch = watch(signal, s => tab.fetch(s), {pair, everyMs: EVERY_MS}, all => tab.update(all),
        error => show(tab.message, failure(error)));
    tab.findTeam(signal).catch(() => {}); // a pair without a team has no box to tick
}
