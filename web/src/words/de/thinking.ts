import type { thinking as english } from "../en/thinking";
import { translator } from "./translator";

const ask = (what: string) => `Es nimmt ${what}.`;

/** What the library says of the questions that a model has learned. */
const learned = translator({}, [
    [/^expressions of exactly (\d+) operators$/, "Ausdrücke mit genau $1 Operatoren"],
    [/^expressions that never multiply by 0$/, "Ausdrücke, die nie mit 0 multiplizieren"],
    [
        /^pairs with a word of exactly (\d+) letters$/,
        "Paare mit einem Wort aus genau $1 Buchstaben",
    ],
    [/^pairs of different words$/, "Paare verschiedener Wörter"],
    [/^sequences of exactly (\d+) numbers$/, "Folgen aus genau $1 Zahlen"],
]);

export const thinking: typeof english = {
    tasks: {
        arithmetic: "Rechnen",
        lis: "Steigende Teilfolge",
        ed: "Editierdistanz",
        ed_local: "Editierdistanz im Band",
    },
    asks: {
        expression: ask(
            "einen Ausdruck mit 2 Operatoren + - * / und den Zahlen 0 bis 4, mit Klammern nach Belieben, und rechnet modulo 5. Kürzere hat es nicht gelernt und beantwortet die Hälfte davon richtig; Produkte mit 0 hat es nicht gelernt",
        ),
        words: (size, band) =>
            ask(
                `zwei Wörter, das kürzere mit 1 bis ${size} Buchstaben, das längere mit höchstens ${band === null ? size + 2 : `${band} mehr`}: Wie weit liegen sie auseinander, wenn es 2 kostet, einen Buchstaben einzufügen oder zu streichen, und 3, ihn zu ersetzen? Gelernt hat es Paare verschiedener Wörter, von denen eines ${size} Buchstaben hat; andere beantwortet es falsch`,
            ),
        subsequence: (size) =>
            ask(
                `${size} Zahlen von ${size + 1} bis 149: Wie lang ist ihre längste steigende Teilfolge? Kürzere Folgen hat es nicht gelernt und beantwortet die meisten falsch`,
            ),
    },
    layers: ["Schicht", "Schichten"],
    tests: ["Testfrage", "Testfragen"],
    model: (layers, heads, width, attention) =>
        `${layers}, je ${heads}, Breite ${width}, trainiert mit ${attention}-Attention`,
    scored: (share, tests) => `; richtig bei ${share} von ${tests}.`,
    place: (layer, head) => `Schicht ${layer}, Kopf ${head}`,
    under: (layer, head) => `Schicht ${layer}, Kopf ${head}, mit jeder Attention`,
    own: (name) => `${name}: die eigene`,
    keptByOwn: (backend) => `${backend}, die eigene`,
    notOneByOne: "liest Token nicht einzeln",
    picture: (name) => `${name}: Gewichte nach Query und Key; Pfeile bewegen`,
    errorAgainstSoftmax: "Fehler gegen Softmax",
    errorAgainstOwn: "Gegen die eigene",
    most: (reading) => `am meisten: ${reading}`,
    read: (token, last, quoted) => `Token ${token} von ${last}, ${quoted}, ist gelesen`,
    goesOn: ": Die Frage geht weiter.",
    says: (quoted) => `; das Modell sagt ${quoted}`,
    wrong: (due) => `, und das ist falsch: Richtig wäre ${due}`,
    oughtToEnd: ", und das ist falsch: Es hätte vorher enden müssen",
    rightAnswer: (answer) => `Die Antwort ist ${answer}: richtig.`,
    wrongAnswer: (answer, due) => `Seine Antwort ist ${answer}: falsch, richtig ist ${due}.`,
    learned: (what) => `Gelernt hat es nur ${learned(what)}.`,
};
