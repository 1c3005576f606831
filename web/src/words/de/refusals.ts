/** What the library and the page's readers of files refuse by its controls, in German. */

import { translator, type Pattern } from "./translator";

const features: Record<string, string> = {
    "causal masks": "keine kausalen Masken",
    "grouped heads": "keine gruppierten Köpfe",
    "sliding windows": "keine gleitenden Fenster",
    softcap: "keinen Softcap",
    masks: "keine Masken",
    "key lengths": "keine Längen von Keys",
    "attention sinks": "keine Attention-Sinks",
    "ALiBi slopes": "keine ALiBi-Steigungen",
};

const sizes: Record<string, string> = {
    "columns (d)": "Spalten (d)",
    "rows (m)": "Zeilen (m)",
    heads: "Köpfe",
    batches: "Batches",
};

/** Numbers that an archive has of each of its files. */
const archived: Record<string, string> = {
    size: "die Größe",
    packed: "die gepackte Größe",
    place: "der Ort",
};

/** Those without numbers or names in them. */
const fixed = {
    "the text has no word in it": "der Text hat kein Wort",
    "the worker that reads inputs did not start":
        "der Worker, der Eingaben liest, ist nicht gestartet",
    "a mask is in C order": "eine Maske muss in C-Ordnung sein",
    "the input is no more": "die Eingabe ist nicht mehr da",
    "the browser refused": "der Browser hat abgelehnt",
    "the text is longer than a link can carry": "der Text ist länger, als ein Link tragen kann",
    "problem: scale is not finite in single precision":
        "Problem: Die Skalierung ist in einfacher Genauigkeit nicht endlich",
    "problem: the arrays would not fit in memory":
        "Problem: Die Arrays passen nicht in den Speicher",
    "linear: retnet=1 needs a gated rule without the array decay":
        "linear: retnet=1 braucht eine gated-Regel ohne das Array decay",
    "the file is empty": "die Datei ist leer",
    "it is no zip archive": "sie ist kein Zip-Archiv",
    "it is cut off: the end of the archive is not there":
        "sie ist abgeschnitten: das Ende des Archivs fehlt",
    "it has no end of directory in 64 bits, which it says to have":
        "ihr fehlt das Ende des Verzeichnisses in 64 Bit, das sie ankündigt",
    "it has no array in it, no file .npy": "sie enthält kein Array, keine .npy-Datei",
    "the file is not an .npy file": "die Datei ist keine .npy-Datei",
};

const ofProblem: Pattern[] = [
    [
        /^backend '(.+)' does not do (.+)$/,
        (_, backend, what) => `Backend „${backend}“ kann ${features[what] ?? `„${what}“ nicht`}`,
    ],
    [/^parameter '(\w+)': (\S+) is outside (\S+)$/, "Parameter „$1“: $2 ist außerhalb von $3"],
    [/^parameter '(\w+)': (\S+) is not a whole number$/, "Parameter „$1“: $2 ist keine ganze Zahl"],
    [
        /^problem: a window of (\d+) keys to the right contradicts causal$/,
        "Problem: Ein Fenster von $1 Keys nach rechts widerspricht „Kausal“",
    ],
    [/^(\w+): the workspace would not fit in memory$/, "$1: Der Arbeitsspeicher reicht nicht"],
    [
        /^softmax: precision (\S+) takes d up to (\d+), not (\d+)$/,
        "softmax: Die Genauigkeit $1 nimmt d bis $2, nicht $3",
    ],
    [
        /^linear: rule '(\w+)' depends on the order of tokens, it needs causal$/,
        "linear: Regel „$1“ hängt von der Reihenfolge der Token ab, sie braucht „Kausal“",
    ],
    [
        /^linear: rule '(\w+)' needs the array decay, or retnet=1$/,
        "linear: Regel „$1“ braucht das Array decay oder retnet=1",
    ],
    [
        /^linear: a state of (\d+) columns of keys and (\d+) of values would not fit in memory$/,
        "linear: Ein Zustand von $1 Spalten für Keys und $2 für Values passt nicht in den Speicher",
    ],
    [
        /^sparse: local \* block is (\d+) keys, must be at most 2\^31$/,
        "sparse: local * block ist $1 Keys, höchstens 2^31 sind möglich",
    ],
    [
        /^sparse: buckets is (\d+), must be 1 or even$/,
        "sparse: buckets ist $1, muss 1 oder gerade sein",
    ],
    [
        /^sketch: size is (\d+), deterministic takes more than the rank of \[Q; K\], (\d+) of key\/value head (\d+)$/,
        "sketch: size ist $1, deterministic nimmt mehr als den Rang von [Q; K], $2 bei Key/Value-Kopf $3",
    ],
    [
        /^sketch: rounding has ended the choice after (\d+) of (\d+) features of key\/value head (\d+)$/,
        "sketch: Rundung hat die Wahl nach $1 von $2 Features bei Key/Value-Kopf $3 beendet",
    ],
];

/** Of a .npz, after its name. */
const ofArchives: Pattern[] = [
    [/^(.+\.npz): (.+)$/i, (_, file, reason) => `${file}: ${ofRefusal(reason)}`],
    [/^it has over (\d+) bytes unpacked$/, "sie hat entpackt über $1 Bytes"],
    [/^it has two files named (.+)$/, "zwei Dateien darin heißen $1"],
    [
        /^its directory has (\d+) of the (\d+) files that it should have$/,
        "ihr Verzeichnis hat $1 der $2 Dateien, die es haben soll",
    ],
    [/^(.+) is not where its directory says$/, "$1 ist nicht, wo das Verzeichnis sagt"],
    [/^(.+) is encrypted$/, "$1 ist verschlüsselt"],
    [
        /^(.+) has (\d+) bytes, and its directory says (\d+)$/,
        "$1 hat $2 Bytes, und das Verzeichnis sagt $3",
    ],
    [
        /^it is damaged: (.+) is not what its checksum \(CRC\) says$/,
        "sie ist beschädigt: $1 ist nicht, was die Prüfsumme (CRC) sagt",
    ],
    [
        /^the (size|packed|place) of (.+) is not said in 64 bits$/,
        (_, field, name) => `${archived[field]} von ${name} fehlt in 64 Bit`,
    ],
    [
        /^(.+) is packed by method (\d+); stored and deflate are read$/,
        "$1 ist nach Verfahren $2 gepackt; gelesen werden „stored“ und „deflate“",
    ],
    [
        /^(.+) cannot be (\d+) bytes: only (\d+) are there, packed$/,
        "$1 kann nicht $2 Bytes haben: gepackt sind nur $3 da",
    ],
    [/^(.+) cannot be unpacked: .+$/, "$1 lässt sich nicht entpacken"],
];

/** Of a .safetensors. */
const ofSafetensors: Pattern[] = [
    [
        /^the header of (.+) has '(.+)' of a tensor twice$/,
        "der Kopf von $1 nennt „$2“ eines Tensors zweimal",
    ],
    [
        /^the header of (.+) has sizes that are no whole numbers$/,
        "der Kopf von $1 nennt Größen, die keine ganzen Zahlen sind",
    ],
    [
        /^(.+) is cut off: it has (\d+) bytes, and the length of its header takes 8$/,
        "$1 ist abgeschnitten: Die Datei hat $2 Bytes, und die Länge ihres Kopfes braucht 8",
    ],
    [
        /^(.+) is cut off, or no safetensors file: its header has (.+) bytes, and (\d+) are there$/,
        "$1 ist abgeschnitten oder keine safetensors-Datei: Ihr Kopf hat $2 Bytes, und $3 sind da",
    ],
    [/^the header of (.+) is no object of JSON$/, "der Kopf von $1 ist kein JSON-Objekt"],
    [
        /^(.+) is damaged: its header has no valid (dtype|shape|data_offsets) for (.+)$/,
        "$1 ist beschädigt: Im Kopf fehlt für $3 ein gültiges $2",
    ],
    [/^(.+) has no tensors in it$/, "in $1 sind keine Tensoren"],
    [/^(.+) has two tensors named (.+)$/, "zwei Tensoren in $1 heißen $2"],
    [
        /^(.+) is cut off: (.+) ends at byte (\d+) of the elements, and (\d+) are there$/,
        "$1 ist abgeschnitten: $2 endet bei Byte $3 der Elemente, und $4 sind da",
    ],
    [/^(.+) is damaged: (.+) and (.+) overlap$/, "$1 ist beschädigt: $2 und $3 überlappen sich"],
    [
        /^(.+) is damaged: bytes (\d+) to (\d+) of the elements are no tensor's$/,
        "$1 ist beschädigt: die Bytes $2 bis $3 der Elemente gehören zu keinem Tensor",
    ],
    [
        /^(.+) is damaged: (.+) is (\d+) bytes, and has (\d+)$/,
        "$1 ist beschädigt: $2 sind $3 Bytes, und da sind $4",
    ],
];

const ofFiles: Pattern[] = [
    [/^([QKV]), (.+?): (.+)$/, (_, role, file, reason) => `${role}, ${file}: ${ofRefusal(reason)}`],
    [
        /^(.+\)) and (.+\)) do not fit together: (\d+) and (\d+) (.+)$/,
        (_, one, other, has, wanted, size) =>
            `${one} und ${other} passen nicht zusammen: ${has} und ${wanted} ${sizes[size] ?? size}`,
    ],
    [
        /^(.+\)) has (\d+) heads, no multiple of K's (\d+)$/,
        "$1 hat $2 Köpfe, kein Vielfaches der $3 von K",
    ],
    [
        /^the file is truncated: (\d+) bytes, within its header$/,
        "die Datei endet nach $1 Bytes, in ihrem Kopf",
    ],
    [
        /^the file (is truncated|has bytes after its end): (\d+) bytes of data where its shape needs (\d+)$/,
        "die Datei hat $2 Bytes an Daten, ihre Form braucht $3",
    ],
    [/^the file is damaged: .*$/, "die Datei ist beschädigt: Ihr Kopf ist nicht lesbar"],
    [
        /^the file has rank (\d+); wanted (.+) or (.+)$/,
        "die Datei hat Rang $1; nötig ist $2 oder $3",
    ],
    [
        /^the file has size 0 in dimension (\d+) of (\d+); .*$/,
        "die Datei hat in Dimension $1 von $2 die Größe 0; nötig ist mindestens 1",
    ],
    [
        /^elements of type '(.+)' are floats of 8 bits, .*$/,
        "Elemente vom Typ „$1“ sind Gleitkommazahlen mit 8 Bit, die ohne ihre Skalen nichts bedeuten: speichern Sie sie als F16 oder F32",
    ],
    [/^there is no tensor (.+)$/, "es gibt keinen Tensor $1"],
    [
        /^elements of type '(.+?)'(, which is big-endian,)? are not read; .*$/,
        (_, type, isBig) =>
            `Elemente vom Typ „${type}“${isBig ? ", big-endian," : ""} werden nicht gelesen, nur Gleitkommazahlen, ganze Zahlen und Wahrheitswerte`,
    ],
    [/^(.+\)) is (\d+) bytes, and (\d+) are there$/, "$1 sind $2 Bytes, und $3 sind da"],
    [/^a mask is of booleans, not (.+)$/, "eine Maske ist aus Wahrheitswerten, nicht aus $1"],
    ...ofArchives,
    [
        /^weights of (\d+) x (\d+) are more than a view shows: (\d+)$/,
        "$1 × $2 Gewichte sind mehr, als ein Element zeigt: $3",
    ],
    ...ofSafetensors,
];

export const ofRefusal: (text: string) => string = translator(fixed, [...ofProblem, ...ofFiles]);
