// Makes sparkplug_in.jsonl: messages of an edge node with one device, in the bytes of Sparkplug's own encoder.
//    npm install sparkplug-payload && node sparkplug_in.js >sparkplug_in.jsonl
const { encodePayload } = require("sparkplug-payload").get("spBv1.0");

const t0 = 1795149880000;
const say = (kind, ms, seq, ...metrics) => {
  const device = kind[0] === "D" ? "/arm-real" : "";
  const payload = { timestamp: t0 + ms, ...(seq === null ? {} : { seq }), metrics };
  console.log(JSON.stringify({ topic: `spBv1.0/lab/${kind}/cell1${device}`, hex: Buffer.from(encodePayload(payload)).toString("hex") }));
};
const at = (ms, alias, type, value, name) => ({ ...(name && { name }), alias, timestamp: t0 + ms, type, value });
const bdSeq = { name: "bdSeq", type: "UInt64", value: 0 };

say("NBIRTH", 0, 0, bdSeq, { name: "Node Control/Rebirth", type: "Boolean", value: false });
say("DBIRTH", 5, 1, at(5, 1, "Double", 0.25, "Pose/x"), at(5, 2, "Float", -1.5, "Pose/y"),
  at(5, 3, "String", "IDLE", "Reply/status"), at(5, 4, "Int32", -1, "Reply/id"));
say("DDATA", 100, 2, at(100, 1, "Double", 0.5), at(100, 2, "Float", 2.25));
say("DDATA", 900, 3, at(900, 4, "Int32", 17), at(900, 3, "String", "COMPLETE"));
say("DDATA", 1200, 5, at(1200, 1, "Double", 0.75)); // seq 4 is missing
say("DDATA", 1300, 6, at(1300, 9, "Double", 1)); // not announced by a birth
say("DDEATH", 2000, 7);
say("NDEATH", 2500, null, bdSeq);
