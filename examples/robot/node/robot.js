#!/usr/bin/env node
// A robot on Tandem's protocol: robot.js PAIR SIDE [HOST [PORT]]; npm install mqtt. Your parts are step(), goal and
// pose.
const mqtt = require('mqtt');

const [pair, side, host = '127.0.0.1', port = '1883'] = process.argv.slice(2);
const base = `tandem/v1/${pair}`;
const boot = Math.random().toString(16).slice(2, 10);
const topic = `${base}/${side}/`;
const now = () => (performance.timeOrigin + performance.now()) / 1000; // finer than Date.now()
const state = {goal: [0, 0], pose: [0, 0, 0], job: null, seq: 0, last: now()};

const client = mqtt.connect({host, port: Number(port), clientId: `${pair}-${side}`, clean: false, keepalive: 10,
    will: {topic: topic + 'connection', payload: '{"state":"offline"}', qos: 1, retain: true}});
const publish = (word, body, qos = 1, retain = false) =>
    client.publish(topic + word, JSON.stringify(body), {qos, retain});

function reply(command, status, tStart) {
    const [x, y, psi] = state.pose;
    publish('reply', {id: command.id, t_start: tStart, t: now(), status, values: {x_m: x, y_m: y, psi_rad: psi}});
}

// Turn at 1 rad/s, then drive at 0.2 m/s; both 0 at the goal.
function step(dt) {
    const towards = (left, speed) => Math.sign(left) * Math.min(Math.abs(left) / dt, speed);
    const w = towards(state.goal[0], 1.0);
    const v = w === 0 ? towards(state.goal[1], 0.2) : 0;
    state.goal = [state.goal[0] - w * dt, state.goal[1] - v * dt];
    let [x, y, psi] = state.pose;
    psi = Math.atan2(Math.sin(psi + w * dt), Math.cos(psi + w * dt)); // wrapped
    state.pose = [x + v * dt * Math.cos(psi), y + v * dt * Math.sin(psi), psi];
    return [v, w];
}

client.on('connect', () => {
    client.subscribe({[base + '/command']: {qos: 1}, [topic + 'probe']: {qos: 0}});
    publish('connection', {state: 'online', boot, version: '1.0'}, 1, true);
});
client.on('message', (name, payload) => {
    const t = now();
    const body = JSON.parse(payload);
    if (name.endsWith('/probe')) {
        publish('echo', {probe: body.probe, t_received: t, t: now()});
    } else if (body.op === 'go' && !state.job) {
        state.job = {command: body, t};
        state.goal = [body.rotation_rad || 0, body.displacement_m || 0];
    } else if (body.op === 'halt') {
        const halted = state.job;
        state.job = null;
        state.goal = [0, 0];
        if (halted) reply(halted.command, 'halted', halted.t);
        reply(body, halted ? 'done' : 'ignored', t);
    } else if (body.op !== 'go' || (body.id ?? 0) !== state.job.command.id) { // else it came again, and is in progress
        reply(body, body.op === 'go' ? 'ignored' : 'error', t);
    }
});
setInterval(() => {
    for (; now() >= state.last + 0.01; state.last += 0.01) { // a sample every fifth step, with its own time
        const nu = step(0.01);
        if (state.job && nu[0] === 0 && nu[1] === 0) {
            const {command, t} = state.job;
            state.job = null;
            reply(command, 'done', t);
        }
        if (++state.seq % 5 === 0)
            publish('telemetry', {t: state.last, seq: state.seq / 5, boot, nu, pose: state.pose}, 0);
    }
}, 5);
