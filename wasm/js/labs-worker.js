/* A browser's worker for libattn/labs. */
import { open } from "./labs-points.js";
import { serve } from "./serve.js";

const receive = serve(open, (message, transfer) => postMessage(message, transfer));
addEventListener("message", ({ data }) => receive(data));
