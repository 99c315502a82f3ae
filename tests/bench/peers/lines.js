// lines.js FILE: reads each line as JSON and adds up what its payload holds, as a replay must at least (bench_replay).
'use strict';
const lines = require('readline').createInterface({ input: require('fs').createReadStream(process.argv[2]) });
let members = 0;
lines.on('line', (line) => {
    members += Object.keys(JSON.parse(line).payload).length;
});
lines.on('close', () => console.log(members));
