// pairs.js PORT FILTER FILE: the minimum of a pair's daemon, with Node, mqtt.js and better-sqlite3 (npm): laps from
// commands and their replies, an entry a move in SQLite and on the broker, telemetry counted (bench_ingest). It has no
// journal and no calibration; messages of the last tenth of a second are lost with the process. SIGTERM: prints the
// number of its messages.
'use strict';
const [port, filter, file] = process.argv.slice(2);
const store = new (require('better-sqlite3'))(file);
store.pragma('journal_mode = WAL');
store.exec('CREATE TABLE IF NOT EXISTS entry (pair TEXT, id TEXT, t REAL, real_lap_s REAL, virtual_lap_s REAL, verdict TEXT)');
const insert = store.prepare('INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)');
const client = require('mqtt').connect(`mqtt://127.0.0.1:${port}`, { clientId: 'node-pairs', protocolVersion: 5 });
const open = new Map();
let entries = [];
let count = 0;
let members = 0;

const commit = store.transaction((rows) => rows.forEach((row) => insert.run(row)));
setInterval(() => {
    if (entries.length > 0) commit(entries);
    entries = [];
}, 100);

function closeMove(pair, move) {
    const lag = move.real - move.virtual;
    const verdict = Math.abs(lag) <= 0.05 ? 'SYNC' : lag > 0 ? 'AHEAD' : 'BEHIND';
    const row = [pair, move.id, move.t, move.real, move.virtual, verdict];
    entries.push(row);
    client.publish(`tandem/v1/${pair}/entry`, JSON.stringify(row));
}

client.on('message', (topic, payload, packet) => {
    const [, , pair, side, what] = topic.split('/');
    if (side === 'entry' || packet.retain) return;
    const message = JSON.parse(payload);
    const now = performance.now() / 1000;
    count += 1;
    if (what === 'telemetry') {
        members += Object.keys(message).length;
    } else if (side === 'command') {
        open.set(pair, { id: message.id, t: now });
    } else if (what === 'reply') {
        const move = open.get(pair);
        if (!move || move.id !== message.id) return;
        move[side] = now - move.t;
        if (move.real !== undefined && move.virtual !== undefined) {
            open.delete(pair);
            closeMove(pair, move);
        }
    }
});
client.on('connect', () => client.subscribe(filter, { qos: 0 }, () => console.log('ready')));
process.on('SIGTERM', () => {
    commit(entries);
    process.stdout.write(`${count}\n`, () => process.exit(members < 0 ? 1 : 0));
});
