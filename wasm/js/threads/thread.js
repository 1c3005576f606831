/* A thread of a pool: index.js starts it. */
import { post, takeJob } from "#port";
import { joinPool } from "./pool.js";

takeJob(async (job) => {
    const work = await joinPool(job);
    post("ready");
    work();
});
