/* A plugin as it is given: its name, and its module. */
import { checkBytes, checkText, readOptions } from "../problem/check.js";
import { AttnError } from "../problem/errors.js";
import { compile } from "./loader.js";

/** [name, module] from what loadPlugin() is called with. */
export async function readPlugin(given, more, readUrl) {
    const options = readOptions(more ?? {}, ["name"], "loadPlugin");
    const source = await given;
    const address = typeof source === "string" ? source : source?.href || source?.url;
    const name = checkText(options.name ?? (address || "plugin.wasm"), "name");
    const module = await compile(source ?? checkBytes(source, "source"), readUrl).catch((error) => {
        throw error.code === "ATTN_ERROR_LOAD" ? refused(name, error.message, error) : error;
    });
    return [name, module];
}

export function refused(name, why, cause) {
    return new AttnError("ATTN_ERROR_PLUGIN", `plugin '${name}': ${why}`, { cause });
}
