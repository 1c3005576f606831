/** What this page says, in its language: other pages do not load it. */

import { training as english } from "../words/en/training";
import { language } from "../words/words";

export const said: typeof english =
    language === "de" ? (await import("../words/de/training")).training : english;
