// Vehicles and a master of VDA 5050 by vda-5050-lib, an independent library: node vda_fleet.js PORT ORDERS. amr-real,
// amr-virtual get the same orders; amr-m gets orders that Tandem passes on to its twin amr-m-sim; amr-l and amr-l-sim
// get none: they are for link mode. Prints a JSON line for each node that the master saw traversed, then "done", and
// ends with its standard input.
const { AgvController, VirtualAgvAdapter, MasterController, BlockingType, createUuid } = require("vda-5050-lib");
const port = process.argv[2], orders = +process.argv[3], url = "mqtt://127.0.0.1:" + port, version = "2.0.0";
const say = record => console.log(JSON.stringify(record));
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));
const vehicle = (serial, speed) => new AgvController({ manufacturer: "acme", serialNumber: serial },
    { interfaceName: "uagv", transport: { brokerUrl: url }, vdaVersion: version },
    { agvAdapterType: VirtualAgvAdapter, publishVisualizationInterval: 500 },
    { initialPosition: { mapId: "lab", x: 0, y: 0, theta: 0, lastNodeId: "n0" }, tickRate: 50, vehicleSpeed: speed,
      vehicleSpeedDistribution: () => [speed, speed] });
const round = [0, 1, 2, 3, 4, 0];

function order(k) {
    // Vehicles end an edge at a tick of 20 ms: with equal edges that would be the same part of a tick each time.
    const size = 1 + 0.037 * k, corners = [[0, 0], [1, 0], [1, 2.5], [-1, 2.5], [-1, 0]].map(at => at.map(m => m * size));
    // Each vehicle gets action ids of its own.
    const wait = () => k % 2 ? [{ actionType: "noop", actionId: createUuid(), blockingType: BlockingType.Hard,
                                  actionParameters: [{ key: "duration", value: 0.3 }] }] : [];
    const nodes = round.map((corner, i) => ({ nodeId: "n" + corner, sequenceId: 2 * i, released: true, actions: i === 2 ? wait() : [],
        nodePosition: { x: corners[corner][0], y: corners[corner][1], mapId: "lab", allowedDeviationXy: 0.3 } }));
    const edges = round.slice(1).map((corner, i) => ({ edgeId: "e" + i, sequenceId: 2 * i + 1, released: true,
        startNodeId: "n" + round[i], endNodeId: "n" + corner, actions: [] }));
    return { orderId: "o" + k, orderUpdateId: 0, nodes, edges };
}

const drive = (master, serial, k) => new Promise(resolve => master.assignOrder({ manufacturer: "acme", serialNumber: serial }, order(k), {
    onOrderProcessed: fault => { if (fault) say({ fault, serial, order: "o" + k }); resolve(); },
    onNodeTraversed: node => say({ serial, order: "o" + k, at: node.sequenceId }),
}));

(async () => {
    const fleet = [["amr-real", 1.6], ["amr-virtual", 2.0], ["amr-m", 2.0], ["amr-m-sim", 2.0], ["amr-l", 1.6], ["amr-l-sim", 2.0]]
        .map(([serial, speed]) => vehicle(serial, speed));
    for (const v of fleet) await v.start();
    const master = new MasterController({ interfaceName: "uagv", transport: { brokerUrl: url }, vdaVersion: version },
        { targetAgvs: { manufacturer: "acme" } });
    await master.start();
    await sleep(1000);
    for (let k = 0; k < orders; k++) {
        const both = ["amr-real", "amr-virtual"].map(serial => drive(master, serial, k));
        await Promise.all(k < 2 ? [...both, drive(master, "amr-m", k)] : both);
    }
    console.log("done");
    process.stdin.resume();
    process.stdin.on("end", () => process.exit(0));
})().catch(fault => { console.error(fault); process.exit(1); });
