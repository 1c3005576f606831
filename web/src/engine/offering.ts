/** What this page can offer of a backend: it has Q, K and V, and none of the arrays that some choices take. */

import type { Backend, Param, PlanOptions } from "libattn";
import type { Values } from "../state/types";
import { words } from "../words/words";

/** The library, here or in a worker. */
interface Attn {
    plan(options: PlanOptions): Disposable | Promise<Disposable>;
}

interface Disposable {
    dispose(): void;
}

/**
 * Without the choices of which no plan can be made, whatever is switched on beside them. Where that is none,
 * the reason is no choice's: all are offered, and plans say what it is. Without parameters that count elements of
 * a backend's own arrays, too.
 */
export async function offered(attn: Attn, backend: Backend): Promise<Backend> {
    const params: Param[] = [];
    for (const param of backend.params) {
        if (isOfArray(param, backend)) continue;
        if (param.type !== "choice") {
            params.push(param);
            continue;
        }
        const choices: string[] = [];
        for (const choice of param.choices)
            if (await isUsable(attn, backend, { [param.name]: choice })) choices.push(choice);
        params.push(choices.length > 0 ? { ...param, choices } : param);
    }
    return inWords({ ...backend, params });
}

/** Is its unit such an array? It has the name that it has in C. */
function isOfArray({ unit }: Param, { arrays }: Backend): boolean {
    const inC = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return arrays.some(({ own, name }) => own && inC(name) === unit);
}

/** In the page's language, as far as it has words for them. */
function inWords(backend: Backend): Backend {
    const { ofLibrary } = words;
    const params = backend.params.map((param): Param => {
        const { label, help, unit, automatic } = param;
        const said = { label: ofLibrary(label), help: ofLibrary(help), unit: ofLibrary(unit) };
        return { ...param, ...said, automatic: automatic && ofLibrary(automatic) } as Param;
    });
    const [description, reference] = [backend.description, backend.reference].map(ofLibrary);
    const arrays = backend.arrays.map((array) => ({ ...array, help: ofLibrary(array.help) }));
    return {
        ...backend,
        ...(description && { description }),
        ...(reference && { reference }),
        params,
        arrays,
    };
}

async function isUsable(attn: Attn, { id, params }: Backend, values: Values): Promise<boolean> {
    const switches = params.filter(({ type }) => type === "boolean").map(({ name }) => name);
    const on = Object.fromEntries(switches.map((name) => [name, true]));
    for (const others of [{}, on]) {
        try {
            const options = { ...problem, backend: id, params: { ...others, ...values } };
            const plan = await attn.plan(options);
            plan.dispose();
            return true;
        } catch {
            // the other way may do
        }
    }
    return false;
}

/** One that every method takes. */
const problem = { queries: 64, keys: 64, dim: 64, causal: true };
