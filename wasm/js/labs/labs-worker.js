/* The worker of libattn/labs. */
import { listen, post } from "#port";
import { serve } from "../worker/serve.js";
import { open } from "./points.js";

listen(serve(open, post));
