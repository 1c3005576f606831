/** The page of figures, which computes nothing: it is kept for the next visit, as all are. */

import "../shell/trusted"; // first: what follows starts a worker
import { keep } from "../shell/keep";
import { takeAlong } from "../shell/language";

takeAlong();
keep();
