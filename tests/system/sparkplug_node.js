// An edge node with two devices, by Eclipse Tahu's own client: arms that go on DCMD, and report by exception.
//    node sparkplug_node.js PORT   reads words from the standard input: pose, gap, leave DEVICE; prints events
const { newClient } = require("sparkplug-client");

const speeds = { "arm-real": 0.5, "arm-sim": 0.25 }; // m/s
const ids = { "Pose/x": 1, "Pose/y": 2, "Reply/id": 3, "Reply/status": 4 };
const types = { "Pose/x": "Double", "Pose/y": "Float", "Reply/id": "String", "Reply/status": "String" };
const state = Object.fromEntries(Object.keys(speeds).map((d) =>
  [d, { "Pose/x": 0, "Pose/y": -1.5, "Reply/id": "", "Reply/status": "IDLE" }]));
const say = (...words) => console.log(words.join(" "));
const metric = (device, name, named) => ({ ...(named && { name }), alias: ids[name] + 10 * Object.keys(speeds).indexOf(device),
  timestamp: Date.now(), type: types[name], value: state[device][name] });

const client = newClient({ serverUrl: `tcp://127.0.0.1:${process.argv[2]}`, username: "", password: "", groupId: "lab",
  edgeNode: "cell1", clientId: "cell1", version: "spBv1.0" });
const tell = (device, ...names) =>
  client.publishDeviceData(device, { timestamp: Date.now(), metrics: names.map((n) => metric(device, n, false)) });

const bear = () => {
  client.publishNodeBirth({ timestamp: Date.now(), metrics: [{ name: "Node Control/Rebirth", type: "Boolean", value: false }] });
  for (const device of Object.keys(speeds))
    client.publishDeviceBirth(device, { timestamp: Date.now(), metrics: Object.keys(ids).map((n) => metric(device, n, true)) });
  say("born");
};
client.on("birth", bear);
client.on("ncmd", (payload) => {
  if (payload.metrics.some((m) => m.name === "Node Control/Rebirth" && m.value)) {
    say("rebirth");
    bear();
  }
});
client.on("dcmd", (device, payload) => {
  const asked = Object.fromEntries(payload.metrics.map((m) => [m.name, m.value]));
  say("dcmd", device, JSON.stringify(asked));
  setTimeout(() => {
    state[device]["Pose/x"] += asked["Go/metres"];
    state[device]["Reply/id"] = asked["Go/id"];
    state[device]["Reply/status"] = "COMPLETE";
    tell(device, "Pose/x", "Reply/status", "Reply/id");
  }, 1000 * asked["Go/metres"] / speeds[device]);
});
client.on("error", (error) => say("error", error));

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [word, device] = line.split(" ");
  if (word === "gap") client.seq++; // a message that never came
  if (word === "leave") client.publishDeviceDeath(device, { timestamp: Date.now(), metrics: [] });
  if (word === "gap" || word === "pose") {
    state["arm-real"]["Pose/y"] += 0.25;
    tell("arm-real", "Pose/y");
  }
});
