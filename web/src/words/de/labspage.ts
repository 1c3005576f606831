import type { labs as english } from "../en/labspage";

export const labs: Record<keyof typeof english, string> = {
    description:
        "Was Arbeiten über Attention behaupten, als Experimente im eigenen Browser ausgeführt",
    documentTitle: "libattn-Labor: die Experimente der Arbeiten",
    title: "libattn-Labor",
    intro: "Was Arbeiten über Attention behaupten, als Experimente in dieser Seite ausgeführt.",
    experiment: "Experiment",
    panel: "Abbildung",
    run: "Ausführen",
    stop: "Anhalten",
    defaults: "Standardwerte",
    seed: "Seed",
    seedHelp: "aus ihm kommen alle Zufallszahlen: Derselbe Seed gibt dieselben Zahlen",
    parameters: "Parameter",
    figure: "Abbildung",
    claim: "Behauptung",
    where: "Wo",
    criterion: "Beurteilt nach",
    ours: "Über die Arbeit hinaus",
    recorded:
        "Grau: der mitgelieferte Lauf mit den Einstellungen der Abbildung. Ausführen zeichnet den eigenen darüber.",
    done: "Erledigte Arbeit",
    verdict: "Urteil",
    sure: "Wie sicher",
    found: "Gefunden",
    table: "Tabelle",
    command: "Kommandozeile",
    copy: "Kopieren",
};
