/* The worker of libattn/worker. */
import { listen, post } from "#port";
import { init } from "../index.js";
import { serve } from "./serve.js";
import { served } from "./served-attn.js";

listen(serve(init, post, served));
