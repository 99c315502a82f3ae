// The map that a pair's robots make of their sweeps: its picture, where they are on it, and how far off they are.

import {get, getBlob} from "./api.js";
import {fixed, known, plural, withUnit} from "./format.js";
import {degrees} from "./tracks.js";
import {facts} from "./ui.js";

const SIDES = ["real", "virtual"];

// The policy of the page lets no other addresses of pictures in.
function dataAddress(blob) {
    return new Promise((resolve, reject) => {
        const reader = new FileReader();
        reader.addEventListener("load", () => resolve(reader.result));
        reader.addEventListener("error", () => reject(reader.error));
        reader.readAsDataURL(blob);
    });
}

export class LiveMap {
    constructor(pair) {
        Object.assign(this, {address: `pairs/${encodeURIComponent(pair)}/map`, data: null, picture: null, hash: null});
    }

    // The picture is fetched again when a cell has changed.
    async fetch(signal) {
        const data = await get(`${this.address}.json`, signal);
        if (data.cells_hash !== this.hash) {
            this.picture = await dataAddress(await getBlob(`${this.address}.png`));
            this.hash = data.cells_hash;
        }
        this.data = data;
    }

    // For MapView: the picture, its place in metres, and the part of it of which something is known.
    layer() {
        const {cell_m: cell, origin_m: [x, y], width, height, known_m: part} = this.data;
        return {href: this.picture, x, y, width: width * cell, height: height * cell, part};
    }

    // A pose [t, x, y, yaw] that a robot states, as it is on the map; null: not known.
    locate(side, point) {
        const {stated, pose} = this.data.robots[side];
        if (!point || !known(pose[0])) {
            return null;
        }
        const [t, x, y, yaw] = point;
        const turn = pose[2] - stated[2];
        const [c, s, dx, dy] = [Math.cos(turn), Math.sin(turn), x - stated[0], y - stated[1]];
        return [t, pose[0] + c * dx - s * dy, pose[1] + s * dx + c * dy, yaw + turn];
    }

    // points: the newest pose that each side states; without one it is where the last sweep had it.
    robots(points) {
        const marks = SIDES.map(side => {
            const point = this.locate(side, points[side] ?? [0, ...this.data.robots[side].stated]);
            return {side: `${side} located`, label: "", name: `${side} robot, on the map of the sweeps`,
                track: point ? [point] : []};
        });
        return marks.filter(({track}) => track.length > 0);
    }

    words() {
        const {robots, sweeps, apart_m: gap, apart_rad: turn} = this.data;
        const off = (metres, rad) =>
            known(metres) ? [withUnit(fixed(metres, 3), "m"), `, ${degrees(rad)}`] : ["not known"];
        const used = ({matched, refused, early}) => {
            const bad = Object.values(refused).reduce((a, b) => a + b, early);
            const unmatched = Object.values(matched).reduce((a, b) => a + b, 0) - matched.matched;
            return `${plural(matched.matched, "sweep")} matched, ${unmatched} not, ${bad} refused or skipped`;
        };
        return facts([["Map of the sweeps", plural(sweeps, "sweep")],
            ...SIDES.flatMap(side => [
                [`Drift of the ${side} robot`, ...off(robots[side].drift_m, robots[side].drift_rad)],
                [`Its sweeps, ${side}`, used(robots[side])]]),
            ["Apart on the map", ...off(gap, turn)]]);
    }
}
