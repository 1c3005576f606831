/** Words that programs put into a page: German ones. */

import type { Words } from "../words";
import * as folds from "./folds";
import * as input from "./input";
import { ofLibrary } from "./library";
import * as panel from "./panel";
import { presets } from "./presets";
import { story } from "./story";
import * as terms from "./terms";

export const words: Words = { ...folds, ...input, ...panel, ...terms, presets, story, ofLibrary };
