/** The panels as elements of another page: an `<attn-view>` of libattn/view for each, and the code that has them. */

import { defineView, type AttnView, type ViewArrays } from "libattn/view";
import { element } from "../dom";
import { unpackArrays, type SavedView } from "../one/saved";
import { ruleNames } from "../rules/rules";
import { words } from "../words/words";

export interface Elements {
    views: AttnView[];
    code: string;
}

/** `text`: that of the input; null: it is of arrays, which the code leaves to the other page. */
export function makeElements(view: SavedView, text: string | null): Elements {
    if (view.mask || ruleNames.some((name) => view.problem[name] !== undefined))
        throw new Error(words.share.otherRules);
    defineView();
    const arrays = text === null ? arraysOf(view) : null;
    const views = view.backends.map((backend) => viewOf(view, backend, text));
    const code = [...views.map(({ outerHTML }) => outerHTML), ...script(arrays)].join("\n");
    if (arrays) for (const each of views) each.arrays = arrays; // no attribute: code has none of it
    return { views, code };
}

function viewOf(view: SavedView, { id, params }: SavedView["backends"][0], text: string | null) {
    const { causal, scale } = view.problem;
    const own = Object.keys(params).length > 0 ? params : null;
    const made = element("attn-view", { backend: id, params: own, causal, scale });
    if (text !== null) Object.assign(made, { text, dim: view.shape.dim });
    else Object.assign(made, { batch: view.batch, head: view.head });
    return made;
}

function arraysOf(view: SavedView): ViewArrays {
    const { batch, heads, kvHeads, queries, keys, dim, valueDim } = view.shape;
    const { query, key, value } = unpackArrays(view.arrays);
    return {
        query: { data: query, shape: [batch, heads, queries, dim] },
        key: { data: key, shape: [batch, kvHeads, keys, dim] },
        value: { data: value, shape: [batch, kvHeads, keys, valueDim] },
        tokens: view.tokens,
    };
}

function script(arrays: ViewArrays | null): string[] {
    const shapes = ["query", "key", "value"] as const;
    const list = (role: (typeof shapes)[number]) =>
        `  ${role}: { data: ${role}, shape: [${arrays?.[role]?.shape.join(", ")}] },`;
    const given = arrays
        ? [
              "const arrays = { // query, key, value: Float32Arrays of your own",
              ...shapes.map(list),
              "};",
              'for (const view of document.querySelectorAll("attn-view")) view.arrays = arrays;',
          ]
        : [];
    const lines = ['import { defineView } from "libattn/view";', "defineView();", ...given];
    return ['<script type="module">', ...lines.map((line) => `  ${line}`), "</script>"];
}
