// How far the virtual robot's place is from the real one's, over the last minutes that the daemon has.

import {chart, colour} from "./chart.js";
import {figures, withUnit} from "./format.js";
import {muted, show} from "./ui.js";

// The real robot's places in the virtual one's frame. aligned: {since_t, x_m, y_m, yaw_rad} of …/trajectory, or null.
function placesOf(real, aligned) {
    if (!aligned) {
        return real;
    }
    const [c, s] = [Math.cos(aligned.yaw_rad), Math.sin(aligned.yaw_rad)];
    return real.filter(([t]) => t >= aligned.since_t).map(([t, x, y]) =>
        [t, c * x - s * y + aligned.x_m, s * x + c * y + aligned.y_m]);
}

// [[t, metres]]: at each place of the real robot, the virtual one's between its neighbours at that time. Trails hold
// places only while a robot moves. isArm: the third number is a height, not a heading.
export function errorsOf({real, virtual, aligned}, isArm) {
    const dimensions = isArm ? [1, 2, 3] : [1, 2];
    const rows = [];
    let k = 0;
    for (const point of placesOf(real, aligned)) {
        while (k + 1 < virtual.length && virtual[k + 1][0] <= point[0]) {
            k++;
        }
        const [before, after] = [virtual[k], virtual[k + 1]];
        if (before && after && before[0] <= point[0]) {
            const share = (point[0] - before[0]) / (after[0] - before[0]);
            rows.push([point[0], Math.hypot(...dimensions.map(i =>
                point[i] - before[i] - share * (after[i] - before[i])))]);
        }
    }
    return rows;
}

export class PositionError {
    constructor(root, isArm, signal) {
        this.isArm = isArm;
        this.root = root;
        this.words = muted();
        this.box = document.createElement("div");
        show(root, this.words, this.box);
        this.chart = chart(this.box, {label: "distance of the virtual robot from the real one", height: "9rem", signal,
            tools: false, options: () => ({labels: ["time", "distance"], colors: [colour("behind")], includeZero: true,
                axes: {y: {axisLabelWidth: 62, pixelsPerLabel: 22}}, xAxisHeight: 18, yRangePad: 8, ylabel: "m"})});
    }

    draw(trajectory) {
        const rows = errorsOf(trajectory, this.isArm);
        this.box.hidden = rows.length < 2;
        if (rows.length < 2) {
            show(this.words, "It is shown here as soon as both robots have moved and report their poses.");
            return;
        }
        const squares = rows.reduce((sum, [, d]) => sum + d * d, 0);
        const most = Math.max(...rows.map(([, d]) => d));
        show(this.words, `Root mean square ${withUnit(figures(100 * Math.sqrt(squares / rows.length), 3), "cm")}, `
            + `at most ${withUnit(figures(100 * most, 3), "cm")}, while the real robot moved. Poses count when they `
            + "arrive: 10 ms of delay at 1 m/s look like 1 cm.");
        this.chart.draw(rows.map(([t, d]) => [new Date(t * 1000), d]));
    }
}
