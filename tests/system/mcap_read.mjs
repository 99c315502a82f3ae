// mcap_read.mjs FILE: reads an MCAP file by its index and as a stream, with all CRCs, by @mcap/core. Prints the counts.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const { McapIndexedReader, McapStreamReader } = createRequire(`${process.env.NODE_PATH}/x.js`)("@mcap/core");
const bytes = readFileSync(process.argv[2]);
const readable = {
  size: async () => BigInt(bytes.length),
  read: async (at, n) => new Uint8Array(bytes.subarray(Number(at), Number(at + n))),
};
const indexed = await McapIndexedReader.Initialize({ readable });
const counts = { indexed: 0, streamed: 0, unordered: 0, attachments: 0, metadata: 0 };
let last = 0n;
for await (const m of indexed.readMessages()) {
  counts.unordered += m.logTime < last;
  last = m.logTime;
  counts.indexed++;
}
for await (const _ of indexed.readAttachments({ validateCrcs: true })) counts.attachments++;
for await (const _ of indexed.readMetadata()) counts.metadata++;
const stream = new McapStreamReader({ validateCrcs: true, includeChunks: false });
for (let i = 0; i < bytes.length; i += 65537) {
  stream.append(bytes.subarray(i, i + 65537));
  for (let record; (record = stream.nextRecord()); ) counts.streamed += record.type === "Message";
}
console.log(JSON.stringify({ ...counts, done: stream.done() }));
