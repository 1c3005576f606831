/** What this page says, in its language: other pages do not load it. */

import { labs as english } from "../words/en/labs";
import { language } from "../words/words";

export const said: typeof english =
    language === "de" ? (await import("../words/de/labs")).labs : english;
