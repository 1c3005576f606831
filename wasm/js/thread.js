/* A thread in a browser: index.js starts it. */
import { joinPool } from "./pool.js";

addEventListener(
    "message",
    async ({ data }) => {
        const work = await joinPool(data);
        postMessage("ready");
        work();
        close();
    },
    { once: true },
);
