// lines.js FILE: reads each line as JSON and sums its payload, the minimum work of a replay (bench_replay).
'use strict';
const lines = require('readline').createInterface({ input: require('fs').createReadStream(process.argv[2]) });
let members = 0;
lines.on('line', (line) => {
    members += Object.keys(JSON.parse(line).payload).length;
});
lines.on('close', () => console.log(members));
