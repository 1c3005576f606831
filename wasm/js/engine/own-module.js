/* The module of an entry that has functions alone: the first call loads it, unless init() has. */
import { AttnError } from "../problem/errors.js";
import { compile, compileOwn, readInit } from "./loader.js";

/**
 * { load, init }. `file()` gives the URL of the package's own module, which is exported as `name` and has the function
 * `needed`; `open(module)` what load() promises, the same for all calls. init() takes another for those that follow.
 */
export function makeOwnModule({ file, readUrl, name, needed, open }) {
    const openChecked = async (module) => {
        if (WebAssembly.Module.exports(module).some((one) => one.name === needed))
            return open(module);
        throw new AttnError("ATTN_ERROR_LOAD", `the module is not ${name}, which this entry takes`);
    };
    let loading;
    const load = () =>
        (loading ??= compileOwn(file, readUrl)
            .then(openChecked)
            .catch((error) => {
                loading = undefined; // it may go better next time
                throw error;
            }));
    const init = async (given) => {
        const source = await readInit(given, []).source;
        if (source === undefined || source === null) return load();
        const opened = await openChecked(await compile(source, readUrl));
        loading = Promise.resolve(opened);
        return opened;
    };
    return { load, init };
}
