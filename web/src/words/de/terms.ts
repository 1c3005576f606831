import type * as english from "../en/terms";

export const terms: typeof english.terms = {
    error: {
        definition:
            "Wie weit die Ausgabe O von exakter Attention O′ entfernt ist, in doppelter Genauigkeit berechnet: die Wurzel der Summe aller quadrierten Differenzen, relativ zu der von O′.",
        unit: "keine: 0 ist exakt, 1 so weit daneben wie lauter Nullen",
    },
    interval: {
        definition:
            "Wo der Fehler aller Zeilen liegt, nach der Streuung der gezogenen Zeilen: so in 95 von 100 Ziehungen.",
        unit: "keine, wie beim Fehler",
    },
    recall: {
        definition:
            "Von den acht Keys, denen exakte Attention am meisten Gewicht gibt, der Anteil, der unter den acht des Verfahrens ist oder gleichauf mit ihnen; das Mittel über die Zeilen des gezeigten Kopfes, die mehr als acht Keys sehen.",
        unit: "Prozent von acht Keys: 100, wenn keiner fehlt",
    },
    dropped: {
        definition:
            "Was von den Gewichten exakter Attention auf Keys liegt, denen das Verfahren keines gibt; das Mittel über die Zeilen des gezeigten Kopfes.",
        unit: "Prozent des Gewichts einer Zeile",
    },
    time: {
        definition:
            "Wie lange ein Lauf des Kernels hier dauert, in einem Thread: der Median von Durchgängen, die sich die Verfahren reihum teilen, nachdem sie warm sind.",
        unit: "Millisekunden",
    },
    spread: {
        definition: "Der kürzeste und der längste dieser Durchgänge.",
        unit: "Millisekunden",
    },
    gflops: {
        definition:
            "Additionen und Multiplikationen, die die Formel des Verfahrens selbst braucht, durch die Zeit: Was weniger braucht, kann mit kleinerer Zahl schneller sein.",
        unit: "10⁹ Operationen je Sekunde",
    },
    kept: {
        definition:
            "Anteil der Paare aus Query und Key, die ein Gewicht bekommen. Was eine Maske oder die Zahl der Keys, die zählen, wegnimmt, ist noch dabei, da ein Plan es nicht kennt: „höchstens“ so viele.",
        unit: "Prozent von n Queries mal m Keys, alle Köpfe zusammen",
    },
    computed: {
        definition:
            "Anteil der Paare, die für die behaltenen berechnet werden: ganze Läufe von Keys, für alle Queries eines Blocks zusammen.",
        unit: "Prozent von n Queries mal m Keys, alle Köpfe zusammen",
    },
    workspace: {
        definition: "Speicher, den ein Lauf neben Eingaben und Ausgabe braucht und zurückgibt.",
        unit: "Byte, in Potenzen von 1024",
    },
    guarantee: {
        definition:
            "Was von der Näherung bewiesen ist: wie nahe sie kommt und wie wahrscheinlich, für beliebige Queries und Keys. Sie sagt nichts, wo die Schranke mehr Features braucht, als es gibt; der Fehler oben ist, was hier daraus wurde.",
    },
    form: {
        definition:
            "Wie die Operationen eines Kopfes mit n Queries, m Keys, d Spalten der Keys und dv der Values wachsen.",
        unit: "Operationen, bis auf einen Faktor",
    },
    kernel: {
        definition:
            "Welcher Code lief: die Befehle, die er nutzt, und die Kachel, die er auf einmal berechnet.",
    },
};

export const inFormulas: typeof english.inFormulas = {
    operations: "Operationen",
    time: "Zeit",
    pairs: "Paare",
};

export const chosen: typeof english.chosen = (label) =>
    `${label}: was das Verfahren für diese Eingabe gewählt hat.`;

export const columns: typeof english.columns = {
    dot: {
        text: "q·k",
        definition: "Das Produkt von Query und Key: wie weit sie in dieselbe Richtung zeigen.",
        unit: "keine",
    },
    logit: {
        text: "Logit",
        definition:
            "Das Produkt mal der Skala, wie dieses Verfahren es hat: exakt, oder nach dem, was es aus Query und Key macht. Es folgt aus dem Gewicht und dem Log-Sum-Exp der Zeile.",
        unit: "keine: eins mehr ist das e-fache Gewicht",
    },
    exponential: {
        text: "exp",
        definition:
            "Die Exponentialfunktion des Logits abzüglich des größten der Zeile, damit keine überläuft.",
        unit: "keine: 1 beim größten Logit",
    },
    product: {
        text: "φ(q)·φ(k)",
        definition:
            "Was für die Exponentialfunktion steht: das Produkt der Features von Query und Key, dessen Summe über alle Keys einmal für alle Queries gebildet werden kann.",
        unit: "keine",
    },
    weight: {
        text: "Gewicht",
        definition:
            "Der Teil vom Value des Keys, den die Query nimmt: was davor steht, durch seine Summe.",
        unit: "keine: 1 ist alles, und die einer Zeile summieren sich zu 1",
    },
};

export const rowError: typeof english.rowError = {
    definition:
        "Wie weit diese Zeile der Ausgabe, ihre Gewichte mal die Values, von der exakter Attention entfernt ist: die Wurzel der Summe der Quadrate, relativ zur exakten Zeile. Diese Produkte sind in doppelter Genauigkeit, die eines Laufs nicht, sodass sein Fehler, unter dem Bild, abweichen kann, wo beide vom Runden kommen.",
    unit: "keine",
};

export const sentences: typeof english.sentences = {
    worst: {
        definition:
            "Die Zeile der Ausgabe, die am weitesten von der exakter Attention entfernt ist, relativ zu ihrer eigenen Größe, unter den verglichenen: Ein Klick zeigt ihre Schritte.",
    },
    rows: {
        definition:
            "Wie weit Zeilen der Ausgabe von denen exakter Attention entfernt sind, jede relativ zu ihrer eigenen Größe: der Median und der größte Wert des gezeigten Kopfes, oder die Zeile unter dem Zeiger.",
    },
    cell: {
        definition:
            "Eine Query, ein Key, und wie viel die Query vom Value des Keys nimmt, oder um wie viel das von der Referenz abweicht: die Zelle unter dem Zeiger, oder die größte.",
        unit: "keine: 1 ist alles in einer Zeile",
    },
    shares: {
        definition:
            "Von allem, was gezeigt ist, der Größe nach, was dort liegt, wo Query und Key denselben Platz haben, und was auf dem Key liegt, der am meisten hat.",
        unit: "Prozent aller Gewichte oder Differenzen im Bild",
    },
};

export const tried: typeof english.tried = {
    flops: {
        definition:
            "Additionen und Multiplikationen, die die Formel des Verfahrens selbst braucht.",
        unit: "Operationen eines Laufs",
    },
    best: {
        definition:
            "Keine andere Einstellung, die versucht wurde, ist bei Kosten oder Fehler besser, ohne beim anderen schlechter zu sein.",
    },
};

export const streamed: typeof english.streamed = {
    keeps: {
        definition:
            "Was das Verfahren von den Token behalten muss, die gekommen sind, um das nächste zu beantworten: ihre Keys und Values, einen Zustand, oder beides.",
        unit: "Byte, in Potenzen von 1024",
    },
    state: {
        definition: "Der Teil des Behaltenen, dessen Größe sich nicht ändert, wenn Token kommen.",
        unit: "Byte, in Potenzen von 1024",
    },
    held: {
        definition:
            "Token, deren Keys und Values so behalten sind, wie sie kamen: alle, oder die, die noch nicht im Zustand sind.",
        unit: "Token",
    },
    error: {
        definition:
            "Wie weit die Antwort auf das letzte Token von der exakter Attention entfernt ist: die Wurzel der Summe der Quadrate, relativ zur exakten Antwort.",
    },
};
