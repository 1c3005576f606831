/** Words that programs put into a page: English ones. */

import * as folds from "./folds";
import * as input from "./input";
import * as panel from "./panel";
import { presets } from "./presets";
import { story } from "./story";
import * as terms from "./terms";

export const words = {
    ...folds,
    ...input,
    ...panel,
    ...terms,
    presets,
    story,
    /** What the library says of its backends, in this language. */
    ofLibrary: (text: string) => text,
};
