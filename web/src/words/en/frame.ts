/** Words that stand around every page, which are put in when it is built. */

export const frame = {
    language: "English",
    navigation: "Pages",
    menu: "Menu",
    skip: "Skip to the content",
    pages: {
        index: "Compare",
        story: "Learn",
        thinking: "Think",
        training: "Train",
        figures: "Results",
        labs: "Run",
    },
    /** Of pages that stand together. */
    groups: { models: "Models", papers: "Papers" },
    /** Of a page that there is in English alone. */
    inEnglish: (name: string) => name,
    needsScript: "All is computed in your browser: that needs JavaScript, which is switched off.",
    notStarted: (command: string) =>
        `The page has not started. Opened from a disk it cannot: browsers load its parts from a web server alone, such as ${command} or any other, for files in a folder.`,
    nothingLeaves: "Everything is computed in this page; nothing leaves it.",
    licences: "Licences of what is in it",
};
