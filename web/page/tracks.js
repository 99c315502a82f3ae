// Poses and tracks of a pair's robots as a map shows them, at a time.

import {el} from "./ui.js";
import {fixed, time, withUnit} from "./format.js";

const SAME = 0.005; // metres and radians: frames that differ by less are the same
const RAYS_S = 30; // older points of a lidar are not shown

// The real robot's poses in the virtual one's frame, as following compares them; the reported ones are in `reported`.
export function aligned(data) {
    const frame = data.aligned;
    if (!frame || Math.hypot(frame.x_m, frame.y_m) + Math.abs(frame.yaw_rad) < SAME) {
        return {...data, reported: []};
    }
    const [c, s] = [Math.cos(frame.yaw_rad), Math.sin(frame.yaw_rad)];
    const stood = data.real.findLastIndex(([t]) => t < frame.since_t); // and still does at the next point
    const real = data.real.slice(Math.max(stood, 0)).map(([t, x, y, yaw]) =>
        [t, c * x - s * y + frame.x_m, s * x + c * y + frame.y_m, yaw + frame.yaw_rad]);
    return {...data, real, reported: data.real};
}

// A track until a time, which ends between two poses if the robot moved then.
export function until(track, t) {
    const k = track.findLastIndex(point => point[0] <= t);
    const [a, b] = [track[k], track[k + 1]];
    if (!a || !b || b[0] - a[0] > 2) {
        return track.slice(0, k + 1);
    }
    const part = (t - a[0]) / (b[0] - a[0]);
    const turn = Math.atan2(Math.sin(b[3] - a[3]), Math.cos(b[3] - a[3]));
    return [...track.slice(0, k + 1),
        [t, a[1] + part * (b[1] - a[1]), a[2] + part * (b[2] - a[2]), a[3] + part * turn]];
}

// The ends of a lidar's rays: [[x, y]] of [[t, angle_rad, range_m, x_m, y_m, yaw_rad]] of the last seconds before t.
export function rayEnds(rays, t) {
    return rays.filter(ray => ray[0] <= t && ray[0] > t - RAYS_S).map(([, angle, range, x, y, yaw]) =>
        [x + range * Math.cos(yaw + angle), y + range * Math.sin(yaw + angle)]);
}

export function degrees(rad) {
    const turned = Math.atan2(Math.sin(rad), Math.cos(rad));
    return `${fixed(turned * 180 / Math.PI, 0)}°`;
}

export function place(point) {
    return point ? [`${withUnit(`${fixed(point[1], 2)}, ${fixed(point[2], 2)}`, "m")}, ${degrees(point[3])}`,
        el("small", {class: "nowrap"}, ` at ${time(point[0])}`)] : "no pose received";
}

export function apart(real, virtual) {
    return real && virtual ? [withUnit(fixed(Math.hypot(real[1] - virtual[1], real[2] - virtual[2]), 2), "m"),
        `, ${degrees(virtual[3] - real[3])}`] : ["not known"];
}
