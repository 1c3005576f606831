/* The worker of libattn/worker in a browser. */
import { init } from "./index.js";
import { serve } from "./serve.js";

const answer = serve(init, (message, transfer) => postMessage(message, transfer));
addEventListener("message", ({ data }) => answer(data));
