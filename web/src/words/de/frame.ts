import type { frame as english } from "../en/frame";

export const frame: typeof english = {
    language: "Deutsch",
    navigation: "Seiten",
    menu: "Menü",
    skip: "Zum Inhalt springen",
    pages: {
        index: "Vergleichen",
        story: "Lernen",
        thinking: "Denken",
        training: "Trainieren",
        figures: "Ergebnisse",
        labs: "Ausführen",
    },
    groups: { models: "Modelle", papers: "Arbeiten" },
    inEnglish: (name) => `${name} (englisch)`,
    needsScript:
        "Alles wird im Browser berechnet: Dafür braucht es JavaScript, und das ist ausgeschaltet.",
    notStarted: (command) =>
        `Die Seite ist nicht gestartet. Von der Festplatte geöffnet kann sie es nicht: Browser laden ihre Teile nur von einem Webserver, etwa ${command} oder jedem anderen für Dateien in einem Ordner.`,
    nothingLeaves: "Alles wird in dieser Seite berechnet; nichts verlässt sie.",
    licences: "Lizenzen der Bestandteile",
};
