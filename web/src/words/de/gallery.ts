import type { gallery as english } from "../en/gallery";
import { ofLabs } from "./labs/library";

export const gallery: typeof english = {
    counts: (holds, fails, undecided, shown) =>
        `Von ${holds + fails + undecided} Aussagen der Arbeiten, jede innerhalb ihrer eigenen Voraussetzungen geprüft, treffen ${holds} zu und ${fails} nicht; bei ${undecided} entscheiden die Zahlen nichts. ${shown} Abbildungen stehen so da, wie die Arbeiten sie zeichnen, ohne Urteil.`,
    ownCounts: (holds, fails, undecided) =>
        `Von ${holds + fails + undecided} eigenen Behauptungen der Bibliothek treffen ${holds} zu und ${fails} nicht, ${undecided} bleiben offen.`,
    own: "Eigene Behauptung der Bibliothek:",
    beyond: "Über die Arbeit hinaus:",
    run: "Selbst ausführen",
    takesHours: "Das dauert Stunden: Die Kommandozeile geht weiter, wo sie angehalten wurde.",
    measured: (host, tier) =>
        `Diese Zeiten sind von ${host}, mit Kernels für ${tier}: Eine andere Maschine braucht andere.`,
    howMade: "Wie sie entstand",
    ofLabs,
};
