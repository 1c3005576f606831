/* What loadPlugin() of libattn/native takes: where a plugin is, not its bytes. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { checkText, readOptions } from "../problem/check.js";
import { AttnError } from "../problem/errors.js";

/** { path, name } of a plugin by its path, or its URL. */
export async function readPluginPath(given, more) {
    const options = readOptions(more ?? {}, ["name"], "loadPlugin");
    const source = await given;
    const address = typeof source === "string" ? source : source?.href;
    if (typeof address !== "string") {
        const message = "natively a plugin is the path of a shared object, or its file: URL";
        throw new AttnError("ATTN_ERROR_PLUGIN", message);
    }
    const path = pathOf(checkText(address, "source"));
    return { path, name: checkText(options.name ?? path, "name") };
}

function pathOf(address) {
    if (!/^[a-z][\w+.-]+:/i.test(address)) return resolve(address);
    try {
        return fileURLToPath(address);
    } catch (cause) {
        const message = `plugin '${address}': natively it is a file, by its path or its file: URL`;
        throw new AttnError("ATTN_ERROR_PLUGIN", message, { cause });
    }
}
