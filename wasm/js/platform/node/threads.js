/* Starts threads in Node, by a file that most programs never need to load. */

export const startThread = async (job) => (await import("./start-thread.js")).startThread(job);
