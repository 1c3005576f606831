import type { gallery as english } from "../en/gallery";
import { ofLabs } from "./labs/library";

export const gallery: typeof english = {
    counts: (holds, fails, undecided, shown) =>
        `${holds + fails + undecided} Aussagen der Arbeiten sind geprüft, jede innerhalb ihrer eigenen Voraussetzungen: ${holds} ${holds === 1 ? "trifft" : "treffen"} zu, ${fails} nicht, ${undecided} ${undecided === 1 ? "ist" : "sind"} unentschieden. ${shown} Abbildungen sind gezeichnet wie in den Arbeiten, ohne Urteil.`,
    ownCounts: (holds, fails, undecided) =>
        `Von ${holds + fails + undecided} eigenen Behauptungen der Bibliothek ${holds === 1 ? "trifft" : "treffen"} ${holds} zu, ${fails} nicht, ${undecided} ${undecided === 1 ? "ist" : "sind"} unentschieden.`,
    claims: "Alle Aussagen, je ein Kästchen",
    show: "Zeigen",
    all: "alle",
    own: "Eigene Behauptung der Bibliothek:",
    beyond: "Über die Arbeit hinaus:",
    run: "Selbst ausführen",
    takesHours: "Das dauert Stunden: Die Kommandozeile geht weiter, wo sie angehalten wurde.",
    measured: (host, tier) =>
        `Diese Zeiten sind von ${host}, mit Kernels für ${tier}: Eine andere Maschine braucht andere.`,
    howMade: "Wie sie entstand",
    ofLabs,
};
