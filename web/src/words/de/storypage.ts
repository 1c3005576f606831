import type { story as english } from "../en/storypage";

export const story: Record<keyof typeof english, string> = {
    description:
        "Attention in zehn Schritten: eine Zeile Softmax, was jede Näherung weglässt, wo jede scheitert, was sie kostet",
    documentTitle: "libattn: Attention in zehn Schritten",
    title: "Attention in zehn Schritten",
    intro: "Eine Zeile Softmax, was jede Näherung davon weglässt, wo jede scheitert und was alle kosten. Jede Zahl wird hier berechnet, an dem, was im Textfeld steht.",
    steps: "Schritte",
    one: "1. Ein Token fragt",
    oneText:
        "Jedes Token hat drei Vektoren: was es fragt, die Query; woran es gefunden wird, den Key; und was es sagt, den Value. Hier stammen sie aus einem Kopf eines trainierten Modells, das in diesen Zahlen die längste steigende Folge findet. Die eines eigenen Textes sind aus seinen Buchstaben und Plätzen gebildet, und an ihnen ist nichts trainiert. Der Score eines Keys ist sein Produkt mit der Query, q·k, durch √d: hoch, wo die Vektoren sich gleichen.",
    text: "Text",
    ownText: "ein trainierter Kopf: eigenen Text eingeben",
    asks: "Wer fragt:",
    whoAsks: "Wer fragt",
    two: "2. Aus Scores werden Anteile",
    twoText:
        "Softmax nimmt e hoch jeden Score und teilt durch die Summe. Was herauskommt, ist positiv und ergibt zusammen 1, und die Antwort ist das Mittel der Values nach diesen Anteilen. Um einen Faktor größere Scores machen den größten Anteil größer: am Regler zu sehen.",
    times: "Scores mal",
    three: "3. Jedes Token fragt jedes",
    threeText:
        "Eine Zeile für jedes Token, das fragt, eine Spalte für jedes, das gefragt wird. Wo ein Token nur sehen darf, was vorher kam, wie in einem Modell, das schreibt, bleibt die Hälfte; aber doppelter Text heißt so oder so vierfache Anteile. Davon handelt alles Folgende.",
    causal: "Kein Blick voraus",
    heatmap: "Heatmap",
    allShares: "Anteile aller Token",
    sharesSparse: "Anteile aller Token bei dünner Attention",
    sharesLinear: "Anteile aller Token bei linearer Attention",
    sharesSketch: "Anteile aller Token bei einem Sketch",
    four: "4. Auf weniger Keys schauen",
    fourText:
        "Dünne (sparse) Attention behält die nahen Keys und einen in jedem Block und lässt alle anderen weg: etwa L√L Paare statt L². Die blassen Balken sind die Anteile von Softmax. Was wegfällt, hat keinen, und was bleibt, hat mehr.",
    near: "Nahe Blöcke, die bleiben:",
    five: "5. Erst addieren",
    fiveText:
        "Wo φ(q)·φ(k) an die Stelle von e^(q·k) tritt, lässt sich die Summe über die Keys einmal für alle Queries bilden: ein Zustand von fester Größe, so lang der Text auch ist. Seine Anteile folgen einer anderen Funktion als Softmax, meist einer flacheren.",
    map: "φ, die Feature-Map",
    six: "6. Die Vektoren kürzen",
    sixText:
        "Zufällige Mischungen von Spalten erhalten Produkte im Mittel. Ein Sketch nimmt weniger davon, als es Spalten gab: Jeder Key ist kürzer, jeder Score ein wenig falsch. Je weniger, desto mehr.",
    left: "Zahlen, die bleiben:",
    seven: "7. Wo Sparse scheitert",
    sevenText:
        "Eine Nadel im Heuhaufen: Die letzte Query fragt nach einem von 128 Keys, der weder nahe noch an einem Platz liegt, den das Muster behält. Softmax gibt ihm fast alles, Sparse sieht ihn nie und antwortet mit Heu.",
    eight: "8. Wo Linear scheitert",
    eightText:
        "64 Token sind zu kopieren, und der Zustand hat 16 Zeilen: Er hält 16 Richtungen und vermischt den Rest. Softmax behält alle Keys und leidet nicht.",
    nine: "9. Wo ein Sketch scheitert",
    nineText:
        "Eine von 64 Spalten ist dreißigmal so groß wie die anderen und für alle Keys gleich. Softmax ändert sich dadurch nicht; ein Sketch irrt um die Länge der Vektoren, und die ist die dieser Spalte.",
    ten: "10. Was es kostet",
    tenText:
        "Von 64 Token bis zu einer Million. Jede Verdopplung der Länge kostet exakte Attention viermal, lineare zweimal so viel. Die Tabelle zeigt, wer bei der gewählten Länge was spart: Ein Verfahren, das einen festen Teil der Merkmale behält, spart einen festen Teil, wie lang der Text auch ist.",
    length: "Länge:",
    playground: "index.de.html",
    goOn: "Weiter mit diesem Text und diesen Einstellungen",
    oneName: "Ein Token fragt",
    twoName: "Aus Scores werden Anteile",
    threeName: "Jedes Token fragt jedes",
    fourName: "Auf weniger Keys schauen",
    fiveName: "Erst addieren",
    sixName: "Die Vektoren kürzen",
    sevenName: "Wo Sparse scheitert",
    eightName: "Wo Linear scheitert",
    nineName: "Wo ein Sketch scheitert",
    tenName: "Was es kostet",
};
