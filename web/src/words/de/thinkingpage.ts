import type { thinking as english } from "../en/thinkingpage";

export const thinking: Record<keyof typeof english, string> = {
    description:
        "Wie kleine trainierte Transformer denken, Token für Token, und worauf ihre Attention schaut",
    documentTitle: "libattn: ein trainiertes Modell denkt",
    title: "Ein trainiertes Modell denkt",
    intro: "Kleine Transformer, die Aufgaben Schritt für Schritt lösen: was sie Token für Token sagen, worauf jeder Kopf dafür schaut und was andere Attention aus denselben Queries, Keys und Values gemacht hätte.",
    model: "Modell",
    question: "Frage",
    think: "Denken lassen",
    thought: "Gedankenkette",
    loading: "libattn wird geladen …",
    back: "Zurück",
    play: "Abspielen",
    next: "Weiter",
    tokensRead: "Gelesene Token",
    heads: "Seine Köpfe",
    headsHint:
        "Mit der Attention des Modells selbst: eine Zeile für jedes Token, das es gelesen hat, eine Spalte für jedes, auf das geschaut wird. Ein Klick zeigt den Kopf groß.",
    weight: "Gewicht",
    kept: "Was behalten werden muss",
    keptHint:
        "Byte aller Schichten und Köpfe, wenn die Token bis zur Linie gelesen sind, und wie es weiterginge. Ein Cache aus Keys und Values wächst; der Zustand linearer Attention wächst nicht, bis auf die letzten Token, die warten, bis sie hinzugefügt werden.",
    views: "Ein Kopf mit jeder Attention",
    viewsHint:
        "Dieselben Queries, Keys und Values. Fehler der Ausgabe über alle Schichten und Köpfe: gegen exaktes Softmax und gegen die Attention, mit der das Modell trainiert ist.",
    command: "Kommandozeile",
    copy: "Kopieren",
    heatmap: "Heatmap",
};
