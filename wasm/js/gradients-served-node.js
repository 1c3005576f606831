/* The worker of libattn/gradients/worker in Node. */
import { parentPort } from "node:worker_threads";
import { init } from "./gradients-node.js";
import { serve } from "./serve.js";
import { served } from "./served-attn.js";

const post = (message, transfer) => parentPort.postMessage(message, transfer);
parentPort.on("message", serve(init, post, served));
