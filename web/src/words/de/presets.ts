import type { presets as english } from "../en/presets";

export const presets: typeof english = {
    trained: "Trainierte Köpfe",
    made: "Von Hand gebaut",
    broken: "Zum Scheitern",
    featured: {
        "lis-softmax": "Schlägt nach",
        "text-softmax": "Liest Englisch",
        "arithmetic-softmax": "Rechnet",
        needle: "Sucht die Nadel",
    },
    unknown: (id) => `Der Link verlangt das Beispiel „${id}“, das es nicht gibt.`,
    myText: "Mein Text …",
    myArrays: "Meine Q, K, V …",
    headlines: {
        trained: "Ein trainiertes Modell schlägt nach. Drei Abkürzungen ahmen es nach.",
        made: "Ein von Hand gebauter Kopf tut eines. Drei Abkürzungen ahmen ihn nach.",
        broken: "Eine Eingabe, an der etwas scheitert: woran und warum.",
        own: "Exakte Attention und drei Abkürzungen, auf eigener Eingabe.",
    },
    text: "Untrainierte Vektoren: Wörter passen meist zu sich selbst.",
    files: "Eigene Queries, Keys und Values. Sie bleiben auf diesem Rechner.",
    of: {
        subsequence: {
            name: "Teilfolge",
            why: "Um die längste steigende Folge in „17 80 23 45 …“ zu finden, liest dieser Kopf ihre Zahlen noch einmal der Reihe nach: die Linie kräftiger Felder.",
        },
        language: {
            name: "Englisch, voriges Token",
            why: "Ein kleines Sprachmodell liest einen Satz: Dieser Kopf gibt das meiste Gewicht dem Token davor, und ohne ihn sagt das Modell viel schlechter voraus.",
        },
        arithmetic: {
            name: "Rechnen",
            why: "Um 3 + 4 * 2 (modulo 5) Schritt für Schritt auszurechnen, schaut dieser Kopf auf ein Rechenzeichen nach dem anderen: die kräftigen Spalten.",
        },
        subsequenceLinear: {
            name: "Teilfolge, linear",
            why: "Die längste steigende Teilfolge von sechs Zahlen, mit linearer Attention gelernt, deren Fehler gegen Softmax hier kein Scheitern ist: Mit diesen Gewichten beantwortet sie 98 von 100 Fragen richtig.",
        },
        subsequenceSparse: {
            name: "Teilfolge, sparse",
            why: "Die längste steigende Teilfolge von sechs Zahlen, mit dünner (sparse) Attention gelernt: Sie beantwortet 99 von 100 Fragen richtig, ohne die Keys, die ihr Muster auslässt.",
        },
        previous: {
            name: "Voriges Token",
            why: "Jede Query ist der Code des Platzes vor ihrem eigenen, jeder Key der Code seines Platzes, sodass alles Gewicht auf dem Token davor liegt: Ein Band von Keys genügt, und elu+1 verteilt das Gewicht auf alle.",
        },
        induction: {
            name: "Induktion",
            why: "Jede Query ist der Code ihres Tokens, jeder Key der des Tokens davor: Das Gewicht liegt auf dem, was einem Token folgte, als es schon einmal da stand, und so sagt die zweite Hälfte des Textes sich selbst voraus.",
        },
        copy: {
            name: "Kopieren",
            why: "16 Plätze fragen 16 Token eines nach dem anderen ab, mit orthogonalen Keys, von denen es nicht mehr als Spalten gibt: Auch lineare Attention mit relu kopiert, auf vier Stellen.",
        },
        sink: {
            name: "Sink",
            why: "Alle Queries teilen eine Richtung mit dem ersten Key: Ein Kopf, der nichts zu sagen hat, legt sein Gewicht dorthin, und was den ersten Key auslässt, ändert jede Zeile.",
        },
        needle: {
            name: "Nadel im Heuhaufen",
            why: "Einen von 128 Keys fragt die letzte Query ab, und er liegt weder in der Nähe noch an einem globalen Platz: Sparse sieht ihn nie und antwortet mit Heu.",
        },
        saturated: {
            name: "Voller Zustand",
            why: "64 Token sind zu kopieren, mit Keys aus 16 Spalten, mehr als orthogonal sein können: Der Zustand von Linear mit 16 Zeilen vermischt, was er hält, und die Kopie misslingt, während Softmax alle Keys behält.",
        },
        identical: {
            name: "Gleiche Keys",
            why: "Alle Keys sind gleich, sodass die Antwort das Mittel aller Values ist, was eine Query auch fragt: Linear und Sketch sind ausnahmsweise exakt, und Sparse hat das Mittel der wenigen, die es behält.",
        },
        outliers: {
            name: "Ausreißer-Kanäle",
            why: "Eine von 64 Spalten ist dreißigmal so groß wie die anderen und für alle Keys gleich: Softmax ändert sich nicht, da sie zu allen Logits einer Zeile dasselbe addiert, aber ein Sketch irrt um die Länge der Vektoren, und Linear sieht nur diese Spalte.",
        },
        repeated: {
            name: "Ein wiederholtes Token",
            why: "Nach einer Antwort kommt immer wieder dasselbe andere Token, mit einem um log 127 kleineren Logit: Jede Wiederholung nimmt ihren Anteil, bis in der letzten Zeile die halbe Antwort bleibt, und es ist Softmax selbst, das scheitert.",
        },
        normaliser: {
            name: "Normierer nahe null",
            why: "Zu jedem Key gibt es einen, der in die Gegenrichtung zeigt: Ohne Exponentialfunktion haben Gewichte Vorzeichen, und der Normierer von Linear ist ihre Summe, nichts, und durch das wird jede Zeile geteilt.",
        },
    },
};
