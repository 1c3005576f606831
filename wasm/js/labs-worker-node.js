/* A thread of Node for libattn/labs. */
import { parentPort } from "node:worker_threads";
import { makeAnswer } from "./labs-points.js";

const answer = makeAnswer();
parentPort.on("message", async (message) => parentPort.postMessage(await answer(message)));
