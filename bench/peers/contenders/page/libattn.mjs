// libattn's npm package in a page.

import { initOptions, planOf } from "../libattn_plan.mjs";

export async function open(task) {
    const { init } = await import("/libattn/dist/index.js");
    return planOf(await init(initOptions(task)), task);
}
