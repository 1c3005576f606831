/** The site's pages, in the order in which they name each other. */
export const pages = [
    { file: "index.html", name: "Attention, side by side" },
    { file: "story.html", name: "Attention in ten steps" },
    { file: "thinking.html", name: "A trained model thinks" },
    { file: "training.html", name: "Models learn" },
    { file: "figures.html", name: "What papers claim" },
    { file: "labs.html", name: "Run an experiment" },
];
