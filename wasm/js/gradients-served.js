/* The worker of libattn/gradients/worker in a browser. */
import { init } from "./gradients.js";
import { serve } from "./serve.js";
import { served } from "./served-attn.js";

const receive = serve(init, (message, transfer) => postMessage(message, transfer), served);
addEventListener("message", ({ data }) => receive(data));
