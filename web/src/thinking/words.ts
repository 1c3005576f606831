/** What this page says, in its language: other pages do not load it. */

import { thinking as english } from "../words/en/thinking";
import { language } from "../words/words";

export const said: typeof english =
    language === "de" ? (await import("../words/de/thinking")).thinking : english;
