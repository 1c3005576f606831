/* A thread in a browser: index.js starts it. */
import { joinTeam } from "./team.js";

addEventListener(
    "message",
    async ({ data }) => {
        const work = await joinTeam(data);
        postMessage("ready");
        work();
        close();
    },
    { once: true },
);
