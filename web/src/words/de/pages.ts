import type { pages as english } from "../en/pages";
import { figures } from "./figurespage";
import { labs } from "./labspage";
import { page as index } from "./page";
import { story } from "./storypage";
import { thinking } from "./thinkingpage";
import { training } from "./trainingpage";

type Pages = typeof english;

export const pages: { [Page in keyof Pages]: Record<keyof Pages[Page], string> } = {
    index,
    story,
    thinking,
    training,
    figures,
    labs,
};
