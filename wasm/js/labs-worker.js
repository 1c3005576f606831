/* A browser's worker for libattn/labs. */
import { makeAnswer } from "./labs-points.js";

const answer = makeAnswer();
addEventListener("message", async ({ data }) => postMessage(await answer(data)));
