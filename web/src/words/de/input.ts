import type * as english from "../en/input";

export const input: typeof english.input = {
    demo: "demo.de.txt",
    batch: "Batch",
    layer: "Schicht",
    shown: (what) => (what === "Batch" ? "Gezeigter Batch" : `Gezeigte ${what}`),
    of: (tensor, file) => `${tensor} aus ${file}`,
    ofAll: (one, all) => `${one} von ${all}`,
    choose: "wählen",
    dimension: (dim) => `Dimension ${dim}`,
    dimensions: (dim, valueDim) => `Dimensionen ${dim} und ${valueDim}`,
    ofKeysAndValues: (heads) => `${heads} für Keys und Values`,
    batchOf: (batch) => `Batch aus ${batch}`,
    unread: (seen, all) => `das Modell sieht die letzten ${seen} von ${all} Tokens`,
    noSentence: "es gibt nichts zu lesen: ein paar Wörter genügen",
    question: (text) => `Frage: ${text}`,
    unloaded:
        "Es kam nicht an, und dieser Browser hat es von keinem früheren Besuch behalten: Gibt es ein Netz?",
};

export const files: typeof english.files = {
    notArrays: (name) => `${name} ist keine .npy-, .npz- oder .safetensors-Datei`,
    notNpy: (name) => `${name} ist keine .npy-Datei`,
    tooMany: (count) => `${count} Dateien, nötig sind Q, K und V oder eine`,
    notTold: (names) => `Q, K und V sind an den Namen ${names} nicht zu unterscheiden: oben wählen`,
    packed: (name: string, shape: string) =>
        `${name} ist Q, K und V in einem, und (${shape}) hat keine Achse zum Teilen: drei Arrays speichern`,
    missing: (name) => `es gibt keine Datei ${name}`,
    tooLarge: (name, has, most) =>
        `${name} hat ${has}; diese Seite liest ${most}, attn compare jede Größe`,
    unread: (name, why) => `${name} ist nicht lesbar: ${why}`,
    tooLong: (letters, most) =>
        `der Text hat ${letters} Zeichen, und diese Seite nimmt höchstens ${most}`,
};

export const rules: typeof english.rules = {
    doesNotFit: (name, shape, wanted) =>
        `${name} (${shape}) passt nicht zu Gewichten von (${wanted}): Sie verdeckt nichts.`,
    mask: (name, shape, isKept) =>
        `${name}, ${shape}; ${isKept ? "dieser Browser behält sie für ein Neuladen, und ein Link hat sie nur hier" : "kein Link enthält sie, Neuladen verliert sie"}`,
    wrongKeys: (text) => `„${text}“: Keys sind Zahlen und Bereiche, etwa 0, 4-9.`,
    fewerKeys: (text, keys) => `„${text}“: Die Eingabe hat nicht mehr als ${keys}.`,
    wrongNumber: (label, isWhole, min, max) =>
        `${label}: eine ${isWhole ? "ganze " : ""}Zahl von ${min} bis ${max}.`,
};

export const keeping: typeof english.keeping = {
    filesKept:
        "Dieser Browser behält die Dateien für ein Neuladen: Ein Link auf diese Seite zeigt sie nur hier",
    filesLost: "Dieser Browser behält die Dateien nicht: Neuladen verliert sie",
    filesElsewhere:
        "Die Dateien des Links liegen in einem anderen Browser oder nirgends mehr: bitte neu öffnen",
    pluginKept:
        "Dieser Browser behält das Plugin für ein Neuladen: Ein Link auf diese Seite hat es nur hier",
    pluginLost: "Dieser Browser behält das Plugin nicht: Neuladen verliert es",
    pluginElsewhere:
        "Das Plugin des Links liegt in einem anderen Browser oder nirgends mehr: bitte neu öffnen",
    maskElsewhere:
        "Die Maske des Links liegt in einem anderen Browser oder nirgends mehr: bitte neu öffnen",
    textKept: (most) =>
        `Zu lang für einen Link, der höchstens ${most} hat: Dieser Browser behält den Text, und nur hier zeigt ihn der Link`,
    textLost: (most) =>
        `Zu lang für einen Link, der höchstens ${most} hat, und dieser Browser behält nichts: Neuladen verliert den Text`,
    textBroken: "der Text des Links ist nicht lesbar: Ist er vollständig?",
    textElsewhere:
        "der Text ist zu lang für den Link und liegt, wenn überhaupt, in einem anderen Browser",
};

export const progress: typeof english.progress = {
    computing: {
        picture: "Bilder werden berechnet",
        output: "Ausgaben werden berechnet",
        error: "Fehler werden berechnet",
        time: "Zeiten werden reihum gemessen",
    },
    reading: "Eingabe wird gelesen",
    stop: "Anhalten",
    stopped: "Angehalten",
    goOn: "Weiter",
    nothing: "Nichts ist berechnet.",
    notAll: "Angehalten, bevor alles berechnet war.",
    notRead: "Angehalten, bevor alles gelesen war.",
    done: (queries, keys, errors) =>
        `Berechnet auf ${queries} mal ${keys}, mit den Fehlern ${errors}`,
    unknown: "unbekannt",
    about: (version, build, tier) => `libattn ${version} · Build ${build} · Kernel ${tier}`,
};
