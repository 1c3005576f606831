/* A thread of Node for libattn/labs. */
import { parentPort } from "node:worker_threads";
import { open } from "./labs-points.js";
import { serve } from "./serve.js";

const post = (message, transfer) => parentPort.postMessage(message, transfer);
parentPort.on("message", serve(open, post));
