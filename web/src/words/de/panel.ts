import type * as english from "../en/panel";

export const nouns: typeof english.nouns = {
    cell: ["Zelle", "Zellen"],
    column: ["Spalte", "Spalten"],
    element: ["Element", "Elemente"],
    head: ["Kopf", "Köpfe"],
    key: ["Key", "Keys"],
    letter: ["Zeichen", "Zeichen"],
    output: ["Ausgabe", "Ausgaben"],
    query: ["Query", "Queries"],
    row: ["Zeile", "Zeilen"],
    setting: ["Einstellung", "Einstellungen"],
    token: ["Token", "Token"],
};

export const panel: typeof english.panel = {
    exact: "exakt",
    off: (share) => `Fehler ${share}\u00a0%`,
    useless: "keine Zahl",
    copy: "Kopieren",
    copied: "Kopiert",
    selected: "Markiert",
    auto: "auto",
    automatic: (what) => `automatisch: ${what}`,
    slider: (label) => `${label}, Regler`,
    further: (count, changed) =>
        `${count} weitere Parameter${changed > 0 ? `, ${changed} geändert` : ""}`,
    worst: (query, some) =>
        `Schlechteste ${some === null ? "Zeile" : `von ${some} Zeilen`}: ${query}, Fehler `,
    stopped: "angehalten, bevor alles berechnet war",
    tooMuch: (what, gigaFlops) =>
        `${what === "run" ? "ein Lauf" : "exakte Attention"} braucht ${gigaFlops} GFLOP, zu lange für eine Seite: Die Kommandozeile hat keine Grenze`,
};

export const numbers: typeof english.numbers = {
    decimalPoint: ",",
    error: "Fehler gegen exakt",
    errorOver: (rows, queries, seed) => `Fehler über ${rows} von ${queries}, Seed ${seed}`,
    ofAllHeads: ", alle Köpfe",
    ofThisHead: ", dieser Kopf",
    interval: "Über alle, mit 95 %",
    range: (low, high) => `${low} bis ${high}`,
    recall: (top) => `Top-${top}-Treffer`,
    dropped: "Verlorenes Gewicht",
    ofRows: (rows) => `, von ${rows} Zeilen`,
    noRow: "keine Zeile sieht mehr",
    timeOfOne: "Zeit eines Laufs",
    time: (turns) => `Zeit, Median von ${turns}`,
    spread: "Ihre Spanne",
    tooLong: "zu lang für weitere",
    kept: "Behaltene Paare",
    atMost: (share) => `höchstens ${share}`,
    computed: "Berechnete Paare",
    workspace: "Arbeitsspeicher",
    cost: "Kosten",
    kernel: "Kernel",
    notTold: "nicht angegeben",
    notComputed: "nicht berechnet",
    notFinite: "nicht endlich",
    nonfinite: (what) => `${what} NaN oder unendlich`,
    degenerate: (rows) => `${rows} mit einem Normierer nahe 0 oder nicht endlich: nicht zu trauen`,
    unit: (unit) => `Einheit: ${unit}`,
};

export const picture: typeof english.picture = {
    queries: "Queries",
    keys: "Keys",
    error: "Fehler",
    label: (backend, hasSteps) =>
        `${backend}: Gewichte nach Query und Key; Pfeile bewegen${hasSteps ? ", Eingabetaste: Schritt für Schritt" : ""}`,
    quoted: (token) => `„${token}“`,
    weights: "Gewichte",
    difference: "Differenz",
    errorOfRow: (error) => `Fehler dieser Zeile: ${error}`,
    rowErrors: (median, most) => `Zeilenfehler: Median ${median}, größter ${most}`,
    largest: (reading) => `größtes: ${reading}`,
    largestLookedAt: (reading) => `größtes der betrachteten: ${reading}`,
    cellIs: (pooling, queries, keys) =>
        `Jede Zelle ist ${pooling === "mean" ? "das Mittel" : "das betragsmäßig größte Gewicht"} von ${queries} × ${keys}.`,
    middle: (some, all) => `den mittleren ${some} von ${all}`,
    region: (queries, allQueries, keys, allKeys) =>
        `Queries ${queries} von ${allQueries}, Keys ${keys} von ${allKeys}`,
};

export const looks: typeof english.looks = {
    atNothing: (row) => `${row} schaut auf nichts, was dieses Bild hat.`,
    key: (key, weight) => `${key} (${weight})`,
    looks: (row, keys, first, others) =>
        `${row} schaut auf ${keys}.${others ? ` Auf ${first}: ${others}.` : ""}`,
    pinned: (row) => `Die Rechnung von ${row} steht unten. Escape schließt sie.`,
};

export const told: typeof english.told = {
    noShares: "Von jeder Zelle wird das Größte gezeigt; Anteile sagt das nicht.",
    noDifferences: "Keine Differenzen.",
    noWeights: "Alle Gewichte sind 0.",
    all: (isDifference, isPart) => {
        if (isDifference)
            return isPart
                ? "der gezeigten Differenzen, nach Betrag,"
                : "aller Differenzen, nach Betrag,";
        return isPart ? "des gezeigten Gewichts" : "des gesamten Gewichts";
    },
    onDiagonal: "auf der Diagonalen",
    inDiagonalCells: "in den Zellen der Diagonalen",
    strongest: (share, column) => `${share} in der stärksten Spalte, ${column}`,
    query: "Query",
    caption: (isDifference) =>
        `Keys mit den größten ${isDifference ? "Differenzen" : "Gewichten"}, nach Betrag`,
    firstRows: (rows, all) => `, der ersten ${rows} von ${all} Zeilen`,
};

export const row: typeof english.row = {
    features: (of, key) =>
        `Warum ${key}: was jedes Merkmal zu seinem ${of} beiträgt, das stärkste zuerst; Linie: ihre Summe bis dahin`,
    ofLogit: "Logit",
    ofProduct: "Produkt",
    feature: (feature, part) => `Merkmal ${feature}: ${part}`,
    strongest: (some, all) => `, ${some} von ${all}`,
    pinned: (name, number) => `Query ${name}, Nummer ${number}, Schritt für Schritt`,
    sees: (keys, all) => `sieht ${keys} von ${all}`,
    noneAfter: (key) => `, keinen nach Key ${key}`,
    keepsAll: " und behält alle",
    keeps: (keys, which) => ` und behält ${keys}: ${which}`,
    zeros: (count) => `; ${count} ${count === 1 ? "Gewicht ist" : "Gewichte sind"} 0`,
    error: "Fehler dieser Zeile",
    key: "Key",
    allKeys: "alle Keys",
    leftOut: "ausgelassen",
    tooSmall: "kleiner, als ein Float fasst",
    noSum: "Der Normierer, die Summe aller Produkte, ist 0: Dann sind die Gewichte 0.",
    hidden: (key) => `Die Regeln verdecken Key ${key} vor dieser Query: Sein Gewicht ist 0.`,
    patternLeaves: (key) => `Das Muster lässt Key ${key} aus: Sein Gewicht ist 0.`,
    numbersOf: (key) => `Die Zahlen von Key ${key}:`,
    scale: "Skala",
    zero: "Sein Gewicht ist 0.",
    zeroAs: (why) => `Sein Gewicht ist 0: Seine Exponentialfunktion ist ${why}.`,
    output: "Ausgabe o = Σ w v",
    value: (key) => `Value v von Key ${key}`,
    some: (shown, columns) => `, ${shown} von ${columns}`,
    first: (shown, columns) => `, die ersten ${shown} von ${columns} Spalten`,
    besideExact: ", neben der exakten",
    linesExact: "; Linien: exakt",
    states: { stateOut: "Zustand", stateZOut: "Zustand des Normierers" },
    state: (help, size, bytes) =>
        `${help}: ${size}, ${bytes} bei beliebig vielen Keys; blau ist positiv, orange negativ`,
};
