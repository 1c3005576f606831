import type { presets as english } from "../en/presets";

export const presets: typeof english = {
    trained: "Trainierte Köpfe",
    made: "Von Hand gebaut",
    broken: "Zum Scheitern",
    of: {
        subsequence: {
            name: "Teilfolge",
            why: "Ein Transformer mit 3 Schichten zu 4 Köpfen, mit Softmax trainiert, findet Schritt für Schritt die längste steigende Teilfolge von zehn Zahlen. Manche Köpfe schauen auf einen Key, andere auf viele, und alle wählen sie nach dem Inhalt: Keine der Näherungen kommt nahe heran.",
        },
        arithmetic: {
            name: "Rechnen",
            why: "Ein Transformer mit 3 Schichten zu 4 Köpfen, mit Softmax trainiert, rechnet 3 + 4 * 2 modulo 5 aus: = 3 + 3 = 1. Schichten und Köpfe sind daneben zu wählen; jeder sucht etwas anderes.",
        },
        subsequenceLinear: {
            name: "Teilfolge, linear",
            why: "Die längste steigende Teilfolge von sechs Zahlen, mit linearer Attention gelernt. Deren Fehler gegen Softmax ist hier kein Scheitern: Mit diesen Gewichten beantwortet sie 98 von 100 Fragen richtig.",
        },
        subsequenceSparse: {
            name: "Teilfolge, sparse",
            why: "Die längste steigende Teilfolge von sechs Zahlen, mit dünner (sparse) Attention gelernt: Sie beantwortet 99 von 100 Fragen richtig, ohne die Keys, die ihr Muster auslässt.",
        },
        previous: {
            name: "Voriges Token",
            why: "Jede Query ist der Code des Platzes vor ihrem eigenen, jeder Key der Code seines Platzes: Alles Gewicht liegt auf dem Token davor. Ein Band von Keys genügt dafür; elu+1 verteilt das Gewicht auf alle Keys.",
        },
        induction: {
            name: "Induktion",
            why: "Jede Query ist der Code ihres Tokens, jeder Key der des Tokens davor: Wo ein Token schon einmal stand, liegt das Gewicht auf dem, was ihm damals folgte. So sagt die zweite Hälfte des Textes sich selbst voraus.",
        },
        copy: {
            name: "Kopieren",
            why: "16 Token, dann 16 Plätze, die eines nach dem anderen abfragen. Die Keys sind orthogonal und nicht mehr als es Spalten gibt: Lineare Attention mit relu kopiert so genau wie Softmax.",
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
            why: "64 Token sind zu kopieren, mit Keys aus 16 Spalten, mehr als orthogonal sein können: Der Zustand von Linear mit 16 Zeilen vermischt, was er hält, und die Kopie misslingt. Softmax behält alle Keys und leidet nicht.",
        },
        identical: {
            name: "Gleiche Keys",
            why: "Alle Keys sind gleich: Was eine Query auch fragt, ihre Gewichte sind gleich verteilt, und die Antwort ist das Mittel aller Values. Linear und Sketch sind ausnahmsweise exakt; Sparse hat das Mittel der wenigen, die es behält.",
        },
        outliers: {
            name: "Ausreißer-Kanäle",
            why: "Eine von 64 Spalten ist dreißigmal so groß wie die anderen und für alle Keys gleich: Softmax ändert sich nicht, da sie zu allen Logits einer Zeile dasselbe addiert. Ein Sketch irrt um die Länge der Vektoren, und Linear sieht nur diese Spalte.",
        },
        repeated: {
            name: "Ein wiederholtes Token",
            why: "Eine Antwort, dann immer wieder dasselbe andere Token, mit einem um log 127 kleineren Logit: Jede Wiederholung nimmt ihren Anteil, und in der letzten Zeile bleibt der Antwort nur die Hälfte. Daran scheitert Softmax selbst.",
        },
        normaliser: {
            name: "Normierer nahe null",
            why: "Zu jedem Key gibt es einen, der in die Gegenrichtung zeigt. Ohne Exponentialfunktion haben Gewichte Vorzeichen, und der Normierer von Linear ist ihre Summe: nichts, und durch das wird jede Zeile geteilt.",
        },
    },
};
