/* The worker of libattn-labs. */
import { listen, post } from "../../../js/platform/port.js";
import { serve } from "../../../js/worker/serve.js";
import { open } from "./points.js";

listen(serve(open, post));
