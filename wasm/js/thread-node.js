/* A thread in Node: node.js starts it. */
import { parentPort, workerData } from "node:worker_threads";
import { joinPool } from "./pool.js";

const work = await joinPool(workerData);
parentPort.postMessage("ready");
work();
