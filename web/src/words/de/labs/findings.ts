/** What runs have found, and how sure that is: sentences with numbers in them. */

import { clauses, type Pattern } from "../translator";
import { separations } from "./separations";

/** Of what so many count, after “von”. */
const counted: Readonly<Record<string, string>> = {
    comparisons: "Vergleichen",
    errors: "Fehlern",
    exponents: "Exponenten",
    layers: "Schichten",
    "lemmas and radii": "Lemmata und Radien",
    parts: "Teilen",
    points: "Punkten",
    problems: "Aufgaben",
    means: "Mitteln",
    models: "Modellen",
    rates: "Raten",
    ratios: "Verhältnissen",
    sizes: "Größen",
    sketches: "Sketches",
    "steps from point to point": "Schritten von Punkt zu Punkt",
};

const sure = clauses([
    [/, (\d+) against/, ", $1 dagegen"],
    [/, (\d+) undecided/, ", $1 unentschieden"],
    [/, and (\d+) ties?/, ", dazu $1 gleiche"],
    [/, at D = (\d+)/, ", bei D = $1"],
    [/(\d+) of (\d+) cells are missing/, "$1 von $2 Zellen fehlen"],
    [/(\d+) sizes are missing/, "$1 Größen fehlen"],
]);

const surely: readonly Pattern[] = [
    [
        /^(\d+) of (\d+) ([a-z ]+) for it(.*)$/,
        (_, some = "", all = "", what = "", rest = "") =>
            `${some} von ${all} ${counted[what] ?? what} ${some === "1" ? "spricht" : "sprechen"} dafür${sure(rest)}`,
    ],
    [
        /^no [a-z ]+ are within its premises(.*)$/,
        (_, rest = "") => `nichts liegt innerhalb der Voraussetzungen${sure(rest)}`,
    ],
    [
        /^(\d+) of (\d+) points are within the premises$/,
        "$1 von $2 Punkten liegen innerhalb der Voraussetzungen",
    ],
    [/^there are no points$/, "es gibt keine Punkte"],
    [/^widths found by training prove no bound$/, "Breiten aus Training beweisen keine Schranke"],
    [/^equal least widths are ties$/, "gleiche kleinste Breiten sind unentschieden"],
    [/^the paper has no number for it$/, "die Arbeit hat keine Zahl dafür"],
];

/** How an amount grows: of which attention or construction, and by which power. */
const growth = clauses([
    [/^The exponent of /, "Der Exponent von "],
    [/^time ~/, "Zeit ~"],
    [/COPY by sparse layers/g, "COPY durch dünne Schichten"],
    [/COPY by softmax/g, "COPY durch Softmax"],
    [/, of /g, ", von "],
    [/ is /g, " ist "],
    [/ to /g, " bis "],
    [/; claimed /g, "; behauptet "],
    [/Table 1: its general column/, "Tabelle 1: ihre Spalte „general“"],
    [
        /Table 1: its locality column, at constant m/,
        "Tabelle 1: ihre Spalte der Lokalität, bei festem m",
    ],
    [/Table 1/g, "Tabelle 1"],
    [/Depth and heads are constant/, "Tiefe und Köpfe sind fest"],
    [/Depth or heads change/, "Tiefe oder Köpfe ändern sich"],
    [/, and weights within the bound\./, ", und Gewichte innerhalb der Schranke."],
    [/, weights above the bound\./, ", Gewichte über der Schranke."],
]);

const widths = clauses([
    [/^Least width with (\S+)%/, "Kleinste Breite mit $1 %"],
    [/whole rows:/, "ganze Zeilen:"],
    [/\bband (\d+):/g, "Band $1:"],
    [/^Least width, by size/, "Kleinste Breite nach Größe"],
    [/^GFLOP of a sequence,/, "GFLOP einer Folge,"],
    [/ operators:/g, " Operatoren:"],
    [/\bnone\b/g, "keine"],
]);

const cosines = clauses([
    [/ to /g, " bis "],
    [/ for the gradient step on A/, " für den Gradientenschritt in A"],
    [/ for the layer of self-attention/, " für die Schicht Self-Attention"],
]);

const found: readonly Pattern[] = [
    [/^(The exponent of|~|time ~) .*$/, growth],
    [/^(Least width|GFLOP of a sequence).*$/, widths],
    [
        /^Of these trials (\S+)% fail; wrong are (.*?)\.(?: By formula (\S+)% fail\.)?(?: The least success is (\S+), at (\w+) = (\S+)\.)?$/,
        (_, share = "", wrong = "", formula = "", least = "", name = "", at = "") =>
            `Von diesen Versuchen misslingen ${share} %; falsch sind ${wrong.replace(/ in (\S+)%/g, " bei $1 %")}.` +
            (formula && ` Nach der Formel misslingen ${formula} %.`) +
            (least && ` Der kleinste Erfolg ist ${least}, bei ${name} = ${at}.`),
    ],
    [
        /^The largest share of what is allowed is (\S+), in part (\w+) at n = (\d+)\.$/,
        "Der größte Anteil am Erlaubten ist $1, in Teil $2 bei n = $3.",
    ],
    [
        /^From step (\S+) to (\S+) the loss falls from (\S+) to (\S+)\.$/,
        "Von Schritt $1 bis $2 fällt der Verlust von $3 auf $4.",
    ],
    [
        /^The largest ratio is (\S+); the proofs' bound is (\S+) times the nearest one, R\/2 as little as (\S+) times\.$/,
        "Das größte Verhältnis ist $1; die Schranke der Beweise ist das $2-Fache des nächsten, R/2 nur das $3-Fache.",
    ],
    [
        /^(\d+) violations in (\d+) steps of x and as many of A; at R = (\S+) the parts are (.*) in the order of the columns\.$/,
        "$1 Verletzungen bei $2 Schritten von x und ebenso vielen von A; bei R = $3 sind die Anteile $4 in der Reihenfolge der Spalten.",
    ],
    [
        /^Mean cosines are (.*)\.$/,
        (_, of = "") => `Die mittleren Kosinuswerte sind ${cosines(of)}.`,
    ],
    [
        /^Softmax attention's layer is off by (\S+) of the step's shift at beta = (\S+), by (\S+) at (\S+); linear attention's by (\S+)\.$/,
        "Die Schicht Softmax-Attention liegt bei beta = $2 um $1 der Verschiebung des Schrittes daneben, bei $4 um $3; die linearer Attention um $5.",
    ],
    [
        /^The largest error is (\S+) eps, at (\w+) = (\S+)\.$/,
        "Der größte Fehler ist $1 eps, bei $2 = $3.",
    ],
    [/^Numbers are off whole ones by (\S+) at most\.$/, "Zahlen liegen höchstens $1 neben ganzen."],
    [
        /^All have a width of (\d+); numbers are off 0 and 1 by (\S+) at most\.$/,
        "Alle haben die Breite $1; Zahlen liegen höchstens $2 neben 0 und 1.",
    ],
    [
        /^The largest error is (\S+) of 12 r and (\S+) of the proof's 6 r \(A \+ A'\)_ij\.$/,
        "Der größte Fehler ist $1 von 12 r und $2 der 6 r (A + A')_ij des Beweises.",
    ],
    [
        /^(At the sizes asked for the largest part that fails is|\S+ of the size is enough for delta).*$/,
        clauses([
            [
                /^At the sizes asked for the largest part that fails is (\S+?)(?=[.;]?( |$))/,
                "Bei den verlangten Größen ist der größte Anteil, der scheitert, $1",
            ],
            [/(\S+) of the size is enough for delta/, "$1 der Größe genügt für delta"],
        ]),
    ],
    [
        /^The distortion is at most (\S+) of the bound, and up to (\S+) times smaller than that of leverage sampling with as many features\.$/,
        "Die Verzerrung ist höchstens $1 der Schranke und bis zu $2-mal kleiner als die von Leverage-Sampling mit ebenso vielen Features.",
    ],
    [
        /^Four times as many features take (\S+) times as many at most, (\S+) n ln\(10 n\) at most; no number below d is enough for uniform sampling at (\d+) of (\d+) points\.$/,
        "Viermal so viele Features verlangen höchstens $1-mal so viele, höchstens $2 n ln(10 n); für gleichverteiltes Ziehen genügt an $3 von $4 Punkten keine Zahl unter d.",
    ],
    [
        /^Of what Lemmas 3\.1, 3\.2, 3\.3 and 3\.4 allow (\S+), (\S+), (\S+) and (\S+) are taken\.$/,
        "Von dem, was die Lemmata 3.1, 3.2, 3.3 und 3.4 erlauben, sind $1, $2, $3 und $4 genutzt.",
    ],
];

/** What stands under a figure beside that; a run of separation has several of them. */
const separated = clauses([
    [
        /a0 is outside \(0, 0\.1\), which the definition asks for/,
        "a0 liegt außerhalb von (0, 0.1), was die Definition verlangt",
    ],
    [
        /the last block of I is cut at (\d+) of (\d+) points/,
        "der letzte Block von I ist an $1 von $2 Punkten abgeschnitten",
    ],
    [
        /(\d+) of (\d+) trials have a decision that rounding can turn/,
        "bei $1 von $2 Versuchen kann Rundung eine Entscheidung kippen",
    ],
    [/(\d+) trials have a normaliser near 0/, "$1 Versuche haben einen Normierer nahe 0"],
]);

const notes: readonly Pattern[] = [
    [/^.*trials have a decision that rounding can turn.*$/, separated],
    [
        /^in float above eps: AGG at (\d+), COPY at (\d+), COPY by sparse layers at (\d+) of (\d+) points; above eps and what float's rounding can add, which is up to (\S+) eps: (\d+)$/,
        "in float über eps: AGG an $1, COPY an $2, COPY durch dünne Schichten an $3 von $4 Punkten; über eps und dem, was die Rundung von float hinzufügen kann, bis zu $5 eps: $6",
    ],
    [
        /^of (\d+) descents (\d+) or more still move at each point, and (\d+) or more have shifts above float's rounding, which ratios and cosines are of; (\d+) of (\d+) steps are within the theorems' premises$/,
        "von $1 Abstiegen bewegen sich an jedem Punkt noch mindestens $2, und mindestens $3 haben Verschiebungen über der Rundung von float, von denen Verhältnisse und Kosinus sind; $4 von $5 Schritten liegen innerhalb der Voraussetzungen der Theoreme",
    ],
    [
        /^sizes from (\S+) to (\S+), as the bound asks; at (\d+) of (\d+) points it asks for d features or more, and nothing is drawn$/,
        "Größen von $1 bis $2, wie die Schranke verlangt; an $3 von $4 Punkten verlangt sie d Features oder mehr, und nichts wird gezogen",
    ],
    [
        /^the bound for eps and delta asks for (\d+) features$/,
        "die Schranke für eps und delta verlangt $1 Features",
    ],
    [
        /^(\d+) sketches of distortion below 1; above what a lemma allows: (\d+)$/,
        "$1 Sketches mit Verzerrung unter 1; über dem, was ein Lemma erlaubt: $2",
    ],
    [
        /^of (\d+) sketches a point; no line: no m below d$/,
        "aus $1 Sketches je Punkt; keine Linie: kein m unter d",
    ],
    [
        /^one sketch of each of (\d+) X; no seed: the same X gives the same sketch$/,
        "je ein Sketch von $1 X; kein Seed: dasselbe X gibt denselben Sketch",
    ],
    [
        /^above 12 r: (\d+) of (\d+) sketches with distortion below 1, whose entries move by at most (\S+) of the proof's 6 r \(A \+ A'\)_ij$/,
        "über 12 r: $1 von $2 Sketches mit Verzerrung unter 1, deren Einträge sich um höchstens $3 der 6 r (A + A')_ij des Beweises bewegen",
    ],
];

/** Of columns, which differ by the method or panel. */
const columns: readonly Pattern[] = [
    [/^(\w+), measured$/, "$1, gemessen"],
    [/^(\w+): spectral distortion, largest$/, "$1: spektrale Verzerrung, größte"],
    [/^(\w+): sketches of distortion below 1$/, "$1: Sketches mit Verzerrung unter 1"],
    [/^(.*), (\d+) cores$/, "$1, $2 Kerne"],
];

export const patterns: readonly Pattern[] = [
    ...separations,
    ...columns,
    ...surely,
    ...found,
    ...notes,
];
