import type { gallery as english } from "../en/gallery";
import { ofLabs } from "./labs/library";

export const gallery: typeof english = {
    counts: (all, holds, fails, undecided) =>
        `Von ${all} Behauptungen treffen bei diesen Größen ${holds} zu und ${fails} nicht; bei ${undecided} entscheiden die Zahlen nichts.`,
    run: "Selbst ausführen",
    takesHours: "Das dauert Stunden: Die Kommandozeile geht weiter, wo sie angehalten wurde.",
    measured: (host, tier) =>
        `Diese Zeiten sind von ${host}, mit Kernels für ${tier}: Eine andere Maschine braucht andere.`,
    howMade: "Wie sie entstand",
    ofLabs,
};
