// robot.mjs - a robot on two wheels, its physics by MuJoCo, as one side of a Tandem pair (docs/protocol.md).
//   npm install && node robot.mjs --pair r1 --side virtual
//   node robot.mjs --pair r1 --side real --payload 0.6 --motor 0.8     what the simulator does not know of the real one
//   node robot.mjs --moves 400 >moves.csv        no broker, no waiting: tables for tandem identify
//   node robot.mjs --record 600 >motion.csv
import load from "mujoco-js";
import mqtt from "mqtt";

const defaults = {
  pair: "r1", side: "real", host: "127.0.0.1", port: 1883, prefix: "tandem/v1", mode: "observe",
  turn: 2, drive: 0.4, rate: 100, telemetry: 1, seed: 1, moves: 0, record: 0,
  // hidden physics: kg, 1, 1, N m a wheel, m (torque over load of a tyre that turns on the spot); noise of telemetry, s
  // of its clock
  payload: 0, motor: 1, grip: 1, stiction: 0, scrub: 0, noise_u: 0, noise_w: 0, clock: 0,
};
const options = {...defaults};
for (let k = 2; k < process.argv.length; k += 2) {
  const name = process.argv[k].replace(/^--/, "").replaceAll("-", "_"), value = process.argv[k + 1];
  const right = name in defaults && value !== undefined && (typeof defaults[name] === "string" || Number.isFinite(Number(value)));
  if (!right) {
    console.error(`robot.mjs: ${process.argv[k]} ${value ?? ""}: known are, each with a value: ${Object.keys(defaults).map(n => "--" + n).join(" ")}`);
    process.exit(2);
  }
  options[name] = typeof defaults[name] === "string" ? value : Number(value);
}

// ---- The body: a platform on two driven wheels and two castors without friction
const R = 0.033, TRACK = 0.16, MASS = 1.2, WHEEL = 0.05, INERTIA = 0.006, SERVO = 0.004, DAMPING = 0.0002, STEP_S = 0.002;
const COAST_S = 0.17; // rolling time after a stop, times its speed, as its maker measured it
const {payload, motor, grip, stiction, scrub} = options;
const wheel = (name, y) => `<body name="${name}" pos="0 ${y} 0"><joint name="${name}" type="hinge" axis="0 1 0" damping="${DAMPING}" frictionloss="${stiction}"/>
  <geom type="ellipsoid" solref="0.004 1" solimp="0.99 0.999 0.001" size="${R} 0.008 ${R}" mass="${WHEEL}" condim="${scrub > 0 ? 4 : 3}" friction="${grip} ${scrub} 0" priority="1"/></body>`;
const castor = x => `<geom type="sphere" size="0.01" pos="${x} 0 ${0.01 - R}" condim="1" mass="0"/>`;
const xml = `<mujoco><option timestep="${STEP_S}" integrator="implicitfast" cone="elliptic" impratio="20" noslip_iterations="5" tolerance="1e-12"/><worldbody><geom type="plane" size="0 0 1" condim="1"/>
 <body name="base" pos="0 0 ${R}"><freejoint/><inertial pos="0 0 0" mass="${MASS}" diaginertia="0.004 0.004 ${INERTIA}"/>${castor(0.07)}${castor(-0.07)}
  <body pos="0.04 0 0.02"><inertial pos="0 0 0" mass="${Math.max(payload, 1e-9)}" diaginertia="${Array(3).fill(Math.max(payload * 6e-4, 1e-12)).join(" ")}"/></body>
  ${wheel("left", TRACK / 2)}${wheel("right", -TRACK / 2)}</body></worldbody>
 <actuator>${["left", "right"].map(n => `<velocity joint="${n}" kv="${SERVO * motor}" forcerange="-0.3 0.3"/>`).join("")}</actuator></mujoco>`;
const mujoco = await load();
mujoco.FS.writeFile("/robot.xml", xml);
const model = mujoco.MjModel.loadFromXML("/robot.xml"), data = new mujoco.MjData(model);

function body() { // its true motion, as cameras would see it
  const q = data.qpos, v = data.qvel, psi = Math.atan2(2 * (q[3] * q[6] + q[4] * q[5]), 1 - 2 * (q[5] ** 2 + q[6] ** 2));
  return {x: q[0], y: q[1], psi, u: v[0] * Math.cos(psi) + v[1] * Math.sin(psi), w: v[5]};
}
let effort = [0, 0]; // ahead m/s, turn rad/s, requested from the wheels' servos from the last period on
function ask(u, w) {
  effort = [u, w];
  data.ctrl.set([(u - w * TRACK / 2) / R, (u + w * TRACK / 2) / R]);
}

// ---- L0: turn, then drive straight on, by the wheels' encoders; a generator that is run once a period
const own = {angular_speed_radps: options.turn, linear_speed_mps: options.drive, t0_s: 0, ta_s: 0, tr_s: 0}, now = {...own};
const wheels = () => [data.qpos[7] * R, data.qpos[8] * R], ahead = ([left, right]) => (left + right) / 2, turned = ([left, right]) => (right - left) / TRACK;
const still = () => Math.abs(data.qvel[6]) + Math.abs(data.qvel[7]) < 0.4;
function* wait(seconds) {
  const until = data.time + seconds - 1e-9;
  for (ask(0, 0); data.time < until; ask(0, 0)) yield;
}
function* travel(read, goal, ask_for) { // until only coasting remains, then to rest; read: distance or turn
  const began = wheels(), left = () => goal - read(wheels().map((way, k) => way - began[k]));
  while (left() * Math.sign(goal) > COAST_S * Math.abs(read([data.qvel[6] * R, data.qvel[7] * R]))) { ask(...ask_for()); yield; }
  do { ask(0, 0); yield; } while (!still());
}
function* go(rotation, way) {
  if (rotation) {
    yield* wait(now.ta_s);
    yield* travel(turned, rotation, () => [0, Math.sign(rotation) * now.angular_speed_radps]);
  }
  if (way) {
    yield* wait(now.tr_s);
    const course = turned(wheels());
    yield* travel(ahead, way, () => [Math.sign(way) * now.linear_speed_mps, 3 * (course - turned(wheels()))]);
  }
}
let job = null, pushed = null, ended = 0; // the command in progress; the newest effort from outside, and its time
const queue = [];
function period() {
  if (!job && queue.length && !(queue[0].arrived > clock())) job = {command: queue[0], run: null, began: clock(), due: data.time + now.t0_s - 1e-9};
  if (!job) return ask(...(pushed && data.time - pushed.at < 0.5 ? pushed.tau : [0, 0]));
  const {command} = job;
  if (!job.run && data.time >= job.due) job.run = go(command.rotation_rad ?? 0, command.displacement_m ?? 0);
  if (!job.run) ask(0, 0);
  else if (job.run.next().done) finish("done");
  else if (data.time - job.due > 60) finish("error", "not there after 60 s");
}
function finish(status, detail) {
  const {x, y, psi} = body(), {began} = job;
  ask(0, 0);
  ended = data.time;
  job = null;
  answer(queue.shift(), {status, detail, t_start: began, values: {x_m: x, y_m: y, psi_rad: psi}});
}

// ---- Parameters from Tandem: travel times belong to L0, dynamics to the physics. Both change its start values.
const nominal = {kv: SERVO * motor, damping: DAMPING, inertia: INERTIA, ahead: 0};
function physics({forward_inertia_s: t1, turn_inertia_s: t2, centrifugal_sm: t3, forward_drag_ratio: t4, coupling_spm: t5, turn_drag_ratio: t6}) { // docs/model/velocity_dynamics.md, (6)
  const p = {...nominal}, mass = MASS + 2 * WHEEL, J = 0.4 * WHEEL * R * R, per = 2 * R * R / TRACK ** 2, can = {};
  if (can.forward_inertia_s = t1 > 0) p.kv = (mass * R * R / 2 + J) / t1;
  if (can.forward_drag_ratio = t4 >= 1) p.damping = (t4 - 1) * p.kv;
  if (can.coupling_spm = Math.abs(t5) < 1) p.ahead = t5 * p.kv / per / MASS; // the platform's mass ahead of the axle
  const around = (t2 * p.kv - J) / per - 2 * WHEEL * (TRACK ** 2 / 4 + (R * R + 0.008 ** 2) / 5) - MASS * p.ahead ** 2;
  if (can.turn_inertia_s = around > 0.0045) p.inertia = around; // less no such body has
  can.turn_drag_ratio = Math.abs(t6 / t4 - 1) < 0.01; // one damping gives both, one place of the mass both of the next
  can.centrifugal_sm = Math.abs(t3 - t5 * TRACK ** 2 / 4) < 1e-3;
  model.actuator_gainprm.forEach((_, k, all) => { if (k % 10 === 0) all[k] = p.kv; });
  model.actuator_biasprm.forEach((_, k, all) => { if (k % 10 === 2) all[k] = -p.kv; });
  model.dof_damping.set([p.damping, p.damping], 6);
  model.body_inertia[3 + 2] = p.inertia;
  model.body_ipos[3] = p.ahead;
  model.body_sameframe[1] = 0; // or MuJoCo still assumes the mass in the middle
  mujoco.mj_setConst(model, data);
  return can;
}
function apply({version, values = {}, adjust = {}}) {
  const refused = [], applied = [], relative = Object.keys(adjust).length > 0, can = physics(values);
  Object.assign(now, own);
  for (const name of Object.keys(values)) {
    if (name in own) now[name] = Math.max(name.endsWith("_s") ? 0 : 1e-3, name in adjust ? own[name] * (adjust[name].factor ?? 1) + (adjust[name].add ?? 0) : values[name]);
    if (name in own || can[name]) applied.push(name);
    else refused.push({name, reason: name in can ? "this body has no such value together with the others" : "nothing of this body"});
  }
  publish("parameters/ack", {version, applied, refused, form: relative ? "relative" : "absolute"}, 1);
}
function place(m) { // the real robot's pose; a robot at work does not apply it
  const names = ["x_m", "y_m", "psi_rad"], half = m.psi_rad / 2;
  if (!job) data.qpos.set([m.x_m, m.y_m, data.qpos[2], Math.cos(half), 0, 0, Math.sin(half)]);
  publish("pose/ack", {correction: m.correction, applied: job ? [] : names, refused: job ? names.map(name => ({name, reason: "at work"})) : []}, 1);
}

// ---- Offline, as fast as possible
let seed = options.seed;
const random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
function advance(each) { // one period; each: a callback between the efforts and their effect
  period();
  each?.();
  for (let k = Math.round(1 / options.rate / STEP_S); k > 0; k--) mujoco.mj_step(model, data);
}
if (options.moves) {
  console.log("rotation_rad,displacement_m,lap_s");
  for (let n = 0; n < options.moves; n++) {
    const began = data.time, turn = n % 3 !== 1 && (random() < 0.5 ? -1 : 1) * (1.5 + random()), way = n % 3 !== 0 && 0.5 + 0.3 * random();
    queue.push({rotation_rad: Number(turn), displacement_m: Number(way)});
    while (queue.length) advance();
    console.log([Number(turn), Number(way), ended - began].join());
    for (let k = 0; k < 20; k++) advance();
  }
} else if (options.record) {
  console.log("t_s,v_mps,w_radps,v_cmd_mps,w_cmd_radps");
  for (let next = 0, at = 0; data.time < options.record;) {
    if (data.time >= next) { pushed = {tau: [0.9 * random() - 0.3, 4 * random() - 2], at: 0}; next = data.time + 0.3 + 1.2 * random(); }
    pushed.at = at = data.time;
    advance(() => { const m = body(); console.log([at, m.u + options.noise_u * gauss(), m.w + options.noise_w * gauss(), ...effort].join()); });
  }
} else live();

// ---- MQTT. Every stamp is the simulation's own time on the robot's clock: that of the sample, not of its sending.
// sim_t shows a simulation that falls behind: its laps then say nothing about its parameters.
function wall() { return Date.now() / 1000 + options.clock; }
function clock() { return Number((live.origin + data.time).toFixed(6)); }
function publish(name, payload, qos = 0, retain = false) { live.client?.publish(`${options.prefix}/${options.pair}/${options.side}/${name}`, JSON.stringify(payload), {qos, retain}); }
function answer(command, rest) { publish("reply", {id: command.id, t: live.client && clock(), sim_t: data.time, ...rest}, 1); }
function receive(name, m) {
  if (name === "probe") publish("echo", {probe: m.probe, sent: m.sent, t_received: wall(), t: wall()}, 1);
  else if (name === "control") pushed = {tau: [m.tau[0], m.tau.at(-1)], at: data.time};
  else if (name === "parameters") apply(m);
  else if (name === "pose") place(m);
  else if (m.op === "halt") {
    const idle = queue.length === 0, waited = queue.splice(job ? 1 : 0);
    if (job) finish("halted");
    waited.forEach(command => answer(command, {status: "halted"}));
    answer(m, {status: idle ? "ignored" : "done"});
  } else if (m.op !== "go") answer(m, {status: "error", detail: `${m.op} is nothing that this robot can`});
  else if (queue.length >= 16) answer(m, {status: "error", detail: "16 commands wait already"});
  else queue.push({...m, arrived: wall()}); // which it does not begin before, though its simulation may be behind
}
function live() {
  const stem = `${options.prefix}/${options.pair}`, boot = Math.floor(Date.now() / 1000).toString(36), topic = name => `${stem}/${options.side}/${name}`;
  live.origin = wall();
  live.client = mqtt.connect({host: options.host, port: options.port, protocolVersion: 5, clientId: `${options.prefix.replaceAll("/", ".")}.mujoco-${options.pair}-${options.side}`,
    will: {topic: topic("connection"), payload: '{"state":"offline"}', qos: 1, retain: true}});
  live.client.on("connect", () => {
    live.client.subscribe([options.mode === "link" ? topic("command") : `${stem}/command`, ...["probe", "control", "parameters", "pose"].map(topic)], {qos: 1});
    publish("connection", {state: "online", boot, version: "1.0", t: clock()}, 1, true);
  });
  live.client.on("message", (from, bytes) => receive(from.slice(from.lastIndexOf("/") + 1), JSON.parse(bytes)));
  let seq = 0;
  setInterval(() => {
    if (wall() - clock() > 2) live.origin = wall() - data.time; // a process that was held up continues from there
    while (clock() < wall()) {
      advance(() => {
        const {x, y, psi, u, w} = body();
        if (options.telemetry) publish("telemetry", {t: clock(), sim_t: data.time, seq: seq++, boot, nu: [u + options.noise_u * gauss(), 0, w + options.noise_w * gauss()], tau: [effort[0], 0, effort[1]], pose: [x, y, psi]});
      });
    }
  }, 4);
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => { publish("connection", {state: "offline"}, 1, true); live.client.end(!live.client.connected, () => process.exit(0)); });
  }
}
