import type * as english from "../en/folds";

export const costs: typeof english.costs = {
    axes: {
        time: "Zeit (ms)",
        flops: "Operationen",
        bytes: "Arbeitsspeicher (Byte)",
        memory: "Speicher eines Laufs (Byte)",
    },
    errorAgainstCost: "Fehler gegen Kosten",
    errorAgainstExact: "Fehler gegen exakt",
    costAgainstLength: "Kosten gegen Länge",
    tokens: "Token",
    nothingYet: "Noch ist nichts berechnet.",
    backend: "Verfahren",
    setting: "Einstellung",
    usual: "Standard",
    columns: { time: "Zeit", flops: "Operationen", bytes: "Arbeitsspeicher" },
    error: "Fehler",
    noneBetter: "keine ist in beidem besser",
    yes: "ja",
    toTry: (settings) => `Aus dem Link noch zu probieren: ${settings}.`,
    refused: (settings, reason) => `Aus dem Link ohne Punkt: ${settings}, ${reason}.`,
    newest: (most, settings) => `Ein Link hat die neuesten ${most} von ${settings}.`,
    operations: (count) => `${count} Operationen`,
    waiting: "Wird gezählt, sobald alles andere berechnet ist.",
    counting: "Es wird gezählt …",
    notKnown: "unbekannt",
    extrapolated: ", nach den Operationen vom längsten Lauf hochgerechnet",
    always: (reference) => `kostet bei all diesen Längen weniger als ${reference}.`,
    never: (reference) => `kostet auch bei der größten Länge nicht weniger als ${reference}.`,
    from: (reference) => `kostet weniger als ${reference} ab `,
    at: (cost) => `, bei ${cost}.`,
};

export const heads: typeof english.heads = {
    head: (head) => `Kopf ${head + 1}`,
    headOf: (batch, index, head) => `${batch} ${index + 1}, Kopf ${head + 1}`,
    first: (some, all) => `Die ersten ${some}; es gibt ${all}.`,
    some: (some, all) => `Betrachtet sind von jedem Kopf ${some} von ${all}.`,
    error: "Fehler",
    entropy: "Entropie",
    distance: "Abstand",
};

export const strands: typeof english.strands = {
    label: "Queries links, Keys rechts",
    query: (token, number) => `${token}, Query ${number}`,
    key: (token, number) => `${token}, Key ${number}`,
    zoomIn: (most) => `Bis auf ${most} Token oder weniger vergrößern: Linien brauchen Platz.`,
    looksAt: (query, keys) => `${query} schaut am meisten auf ${keys}.`,
    isLookedAt: (key, queries) => `Auf ${key} schauen am meisten ${queries}.`,
    none: "nichts",
};

export const streaming: typeof english.streaming = {
    play: "Abspielen",
    pause: "Pause",
    nothing: "Noch nichts abzuspielen: Nötig ist eine Eingabe mit so vielen Queries wie Keys.",
    come: (some, all, last) => `${some} von ${all} sind gekommen, das letzte ist ${last}.`,
    backend: "Verfahren",
    keeps: "behält",
    state: "davon als Zustand",
    held: "Token, wie sie kamen",
    error: "Fehler der letzten Antwort",
    picture: (bytes, tokens) => `Behaltene Byte, bis ${bytes}, nach Token bis ${tokens}`,
    axes: (tokens, bytes) => `Token, bis ${tokens}; Byte, bis ${bytes}`,
    dashed: "; gestrichelt: nur der Zustand",
};

export const share: typeof english.share = {
    parts: {
        header: "Titel und Worte darüber",
        presets: "Beispiele",
        input: "Eingabe und Aufgabe",
        small: "kleine Bilder",
        legends: "Farben",
        numbers: "Zahlen",
        settings: "Parameter und Kommandos",
        more: "was eingeklappt ist",
        footer: "Worte darunter",
    },
    changed: "Geändert: noch einmal kopieren",
    nothing: "Noch gibt es nichts zu speichern.",
    besidePage: "Neben dieser Seite: npm install libattn. Ein Bundler braucht keine Importmap.",
    filesBeside: "q.npy, k.npy und v.npy, mit diesem Code gespeichert, gehören neben seine Seite.",
    otherRules:
        "Ein Element folgt nur Kausal und der Skalierung: Die anderen Regeln vorher entfernen.",
    saved: "Gespeichert",
    copied: "Kopiert",
    selected: "Markiert: Dieser Browser kopiert nur mit der Tastatur",
    saveAs: "Speichern als ",
    formatOf: (format, what) => `${format} von ${what}`,
    noPng: "dieser Browser macht kein PNG daraus",
    title: "libattn: eine Ansicht von Attention",
    computedHere:
        "Berechnet, wo diese Datei geöffnet ist, mit den Arrays in ihr. Gespeichert wurde sie auf",
    whole: "einer Seite, die mehr hat",
    steps: "Ein Klick oder die Eingabetaste auf einer Zeile eines Bildes zeigt sie Schritt für Schritt.",
    colours: "Farben",
    backends: "Verfahren",
    needsScript: "Dafür braucht es JavaScript.",
    computing: "Es wird berechnet …",
    tooLarge: (megabytes) =>
        `eine Datei dieser Eingabe hat ${megabytes} MB, höchstens 1,5 MB darf sie haben: bitte eine kleinere Eingabe nehmen`,
    view: {
        token: (token) => `„${token}“`,
        weights: (backend, causal, queries, keys) =>
            `${backend}${causal ? ", kausal" : ""}: ${queries} × ${keys} Gewichte`,
        diagonal: (share) => `${share} auf der Diagonale`,
        column: (key, share) => `am meisten angeschaut ${key}, ${share}`,
        largest: (query, key, weight) => `das größte ${query} → ${key}, ${weight}`,
        nonfinite: (count) => `${count} NaN oder unendlich`,
        error: (error) => `Fehler gegen exakt ${error}`,
        keys: "Pfeiltasten gehen von Zelle zu Zelle.",
        top: (keys) => `am meisten: ${keys}`,
    },
};
