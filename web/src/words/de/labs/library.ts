/** What the library says of its experiments, in German. */

import { translator } from "../translator";
import { complexity } from "./complexity";
import { constructions } from "./constructions";
import { patterns } from "./findings";
import { plain } from "./plain";
import { programs } from "./programs";
import { reasoning } from "./reasoning";
import { regression } from "./regression";
import { separation } from "./separation";
import { sparsification } from "./sparsification";

const verdicts = {
    holds: "trifft zu",
    fails: "trifft nicht zu",
    undecided: "unentschieden",
    illustration: "ohne Urteil",
};

export const ofLabs = translator(
    {
        ...{ ...plain, ...verdicts, ...complexity, ...constructions, ...reasoning },
        ...{ ...programs, ...regression, ...separation, ...sparsification },
    },
    patterns,
);
