/** Words of pages' own HTML, by page: they are put in when it is built. */

import { figures } from "./figurespage";
import { labs } from "./labspage";
import { page as index } from "./page";
import { story } from "./storypage";
import { thinking } from "./thinkingpage";
import { training } from "./trainingpage";

export const pages = { index, story, thinking, training, figures, labs };
