/* The worker of libattn/worker in Node. */
import { parentPort } from "node:worker_threads";
import { init } from "./node.js";
import { serve } from "./serve.js";

parentPort.on(
    "message",
    serve(init, (message, transfer) => parentPort.postMessage(message, transfer)),
);
