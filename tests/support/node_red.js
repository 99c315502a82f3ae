// node_red.js FLOW URL: runs a Node-RED flow on messages, as far as our flow needs Node-RED. On stdin MQTT messages,
// one {"topic": …, "payload": text} a line; inject nodes fire once before. Requests over HTTP go to the host of URL.
// Prints {"debug": [[name, payload]…], "status": [[name, text]…]}.
"use strict";
const fs = require("fs");

const nodes = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const base = new URL(process.argv[3]);
const byId = new Map(nodes.map(node => [node.id, node]));
const said = {debug: [], status: []};

function topicMatches(pattern, topic) {
    const wanted = pattern.split("/");
    const got = topic.split("/");
    return wanted.length === got.length && wanted.every((word, k) => word === "+" || word === got[k]);
}

async function send(node, output, msg) {
    for (const id of node.wires[output]) {
        await receive(byId.get(id), structuredClone(msg));
    }
}

function rulesThatHold(node, value) {
    const holds = {
        eq: rule => value === rule.v,
        regex: rule => new RegExp(rule.v, rule.case ? "i" : "").test(value),
    };
    const found = node.rules.map((rule, k) => k).filter(k => node.rules[k].t !== "else" && holds[node.rules[k].t](node.rules[k]));
    const others = node.rules.findIndex(rule => rule.t === "else");
    if (found.length === 0) {
        return others < 0 ? [] : [others];
    }
    return node.checkall === "true" ? found : found.slice(0, 1);
}

const kinds = {
    "json": async (node, msg) => send(node, 0, {...msg, payload: JSON.parse(msg.payload)}),
    "function": async (node, msg) => {
        const self = {status: status => said.status.push([node.name, status.text])};
        const results = [new Function("msg", "node", node.func)(msg, self)].flat();
        for (const [output, result] of results.entries()) {
            if (result) {
                await send(node, output, result);
            }
        }
    },
    "switch": async (node, msg) => {
        for (const output of rulesThatHold(node, msg[node.property])) {
            await send(node, output, msg);
        }
    },
    "http request": async (node, msg) => {
        const url = new URL(node.url);
        url.host = base.host;
        const answer = await fetch(url, {method: node.method});
        await send(node, 0, {...msg, statusCode: answer.status, payload: await answer.json()});
    },
    "debug": async (node, msg) => said.debug.push([node.name, msg[node.complete]]),
};

async function receive(node, msg) {
    if (!kinds[node.type]) {
        throw new Error(`${node.id}: nothing is known of nodes of type '${node.type}'`);
    }
    await kinds[node.type](node, msg);
}

async function main() {
    for (const node of nodes.filter(candidate => candidate.type === "inject")) {
        await send(node, 0, {});
    }
    for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
        const msg = JSON.parse(line);
        for (const node of nodes.filter(candidate => candidate.type === "mqtt in" && topicMatches(candidate.topic, msg.topic))) {
            await send(node, 0, msg);
        }
    }
    console.log(JSON.stringify(said));
}

main().catch(error => {
    console.error(error);
    process.exitCode = 1;
});
