/** The panels as elements of another page: an `<attn-view>` of libattn/view for each, and the code that has them. */

import { defineView, type AttnView } from "libattn/view";
import { element } from "../dom/dom";
import { unpackArrays, type SavedView } from "../one/saved";
import { ruleNames } from "../rules/rules";
import type { Arrays } from "../input/saving";
import { crc32 } from "../source/checksums";
import type { Role } from "../state/types";
import { words } from "../words/words";

const { share: told } = words;
const mostLetters = 1 << 19; // of arrays that stand in code
const folder = "./node_modules/libattn/dist";
const roles = ["query", "key", "value"] as const;

export interface Elements {
    views: AttnView[];
    code: string;
    /** Arrays that the code reads from files beside its page; null: it has all that it takes. */
    files: Arrays | null;
}

/** `text`: that of the input; null: it is of arrays. */
export function makeElements(view: SavedView, text: string | null): Elements {
    if (view.mask || ruleNames.some((name) => view.problem[name] !== undefined))
        throw new Error(told.otherRules);
    defineView();
    if (text !== null) {
        const views = viewsOf(view, { text, dim: view.shape.dim });
        return { views, code: codeOf(views, { view: "defineView" }, []), files: null };
    }
    const data = unpackArrays(view.arrays);
    const shapes = shapesOf(view);
    const name = nameOf(data);
    const views = viewsOf(view, { batch: view.batch, head: view.head });
    for (const each of views) {
        each.dataset.arrays = name;
        each.arrays = { ...shaped(data, shapes), tokens: view.tokens };
    }
    const letters = roles.reduce((sum, role) => sum + view.arrays[role].length, 0);
    const isSmall = letters <= mostLetters;
    const lines = [
        ...(isSmall ? inCode(view, shapes) : inFiles),
        `const arrays = { query, key, value, tokens: ${literal(view.tokens)} };`,
        `const views = document.querySelectorAll('attn-view[data-arrays="${name}"]');`,
        "for (const view of views) view.arrays = arrays;",
    ];
    const taken = { view: "defineView", ...(!isSmall && { data: "readNpy" }) };
    const files = isSmall ? null : { ...data, shape: view.shape };
    return { views, code: codeOf(views, taken, lines), files };
}

function viewsOf({ backends, problem }: SavedView, own: Partial<AttnView>): AttnView[] {
    const { causal, scale } = problem;
    const said = told.view && { ...told.view, problem: words.ofLibrary };
    return backends.map(({ id, params }) => {
        const set = Object.keys(params).length > 0 ? params : null;
        const made = element("attn-view", { backend: id, params: set, causal, scale });
        return Object.assign(made, { words: said }, own);
    });
}

/** `taken`: by entry of the package, what the code takes from it; `lines`: what it does before there are elements. */
function codeOf(
    views: readonly AttnView[],
    taken: Record<string, string>,
    lines: readonly string[],
): string {
    const entries = Object.keys(taken);
    const imports = entries.map((name) => [`libattn/${name}`, `${folder}/${name}.js`]);
    const program = [
        ...entries.map((name) => `import { ${taken[name]} } from "libattn/${name}";`),
        ...lines,
        "defineView();",
    ];
    return [
        `<!-- ${told.besidePage} -->`,
        `<script type="importmap">`,
        `  ${JSON.stringify({ imports: Object.fromEntries(imports) })}`,
        "</script>",
        ...views.map(({ outerHTML }) => outerHTML),
        `<script type="module">`,
        ...program.map((line) => `  ${line}`),
        "</script>",
    ].join("\n");
}

function inCode({ arrays }: SavedView, shapes: Record<Role, number[]>): string[] {
    return [
        "const floats = (letters) =>",
        "  new Float32Array(Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0)).buffer);",
        ...roles.map((role) => {
            const data = arrays[role] === "query" ? "query.data" : `floats("${arrays[role]}")`;
            return `const ${role} = { shape: [${shapes[role].join(", ")}], data: ${data} };`;
        }),
    ];
}

/** As they are saved. */
const inFiles = [
    `// ${told.filesBeside}`,
    "const read = async (name) => readNpy(await (await fetch(name)).arrayBuffer());",
    'const files = ["q.npy", "k.npy", "v.npy"];',
    "const [query, key, value] = await Promise.all(files.map(read));",
];

function shapesOf({ shape }: SavedView): Record<Role, number[]> {
    const { batch, heads, kvHeads, queries, keys, dim, valueDim } = shape;
    return {
        query: [batch, heads, queries, dim],
        key: [batch, kvHeads, keys, dim],
        value: [batch, kvHeads, keys, valueDim],
    };
}

function shaped(data: Record<Role, Float32Array>, shapes: Record<Role, number[]>) {
    const of = (role: Role) => ({ data: data[role], shape: shapes[role] });
    return { query: of("query"), key: of("key"), value: of("value") };
}

/** Elements of other arrays may stand on the same page. */
function nameOf(data: Record<Role, Float32Array>): string {
    const sums = roles.map((role) => {
        const { buffer, byteOffset, byteLength } = data[role];
        return crc32(new Uint8Array(buffer, byteOffset, byteLength)).toString(16);
    });
    return sums.join("-");
}

/** In a script, which no text in it ends. */
function literal(value: unknown): string {
    return JSON.stringify(value).replaceAll("<", "\\u003c");
}
