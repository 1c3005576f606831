/* A thread in Node: node.js starts it. */
import { parentPort, workerData } from "node:worker_threads";
import { joinTeam } from "./team.js";

const work = await joinTeam(workerData);
parentPort.postMessage("ready");
work();
