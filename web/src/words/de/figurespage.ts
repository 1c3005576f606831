import type { figures as english } from "../en/figurespage";

export const figures: Record<keyof typeof english, string> = {
    description: "Was Arbeiten über Attention behaupten und was herauskam, als es ausgeführt wurde",
    documentTitle: "libattn-Labor: was Arbeiten behaupten",
    title: "Was Arbeiten behaupten",
    intro: "Die Experimente aus vier Arbeiten über Attention, jedes von dieser Bibliothek ausgeführt, mit dem Seed und dem Kommando, die daneben stehen: was behauptet wird, was herauskam, und ob das eine aus dem anderen folgt. Die Abbildungen sind englisch beschriftet.",
    runsHere: "„Selbst ausführen“ berechnet eine Abbildung im eigenen Browser neu.",
    nothingLeaves: "Nichts verlässt ihn.",
};
