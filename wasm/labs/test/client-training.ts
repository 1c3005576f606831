/* A strict TypeScript program on libattn-labs/training; packed.test.mjs compiles it. */
import { createStudy, type Solution, type Study, type StudyOptions } from "libattn-labs/training";

const options: StudyOptions = { task: "lis", size: 5, attention: "linear", seed: 3 };
const study: Study = await createStudy(options);
const losses: Float64Array = study.train(10);
const { samples, answers, whole, done } = study.score(64);
const { tokens, right }: Solution = study.solve("17 80 23");
console.log(losses.at(-1), samples - answers - whole, done, tokens.join(" "), right, study.step);
study.dispose();

// @ts-expect-error there is no such task
await createStudy({ task: "chess" });
// @ts-expect-error a task is needed
await createStudy({ size: 3 });
// @ts-expect-error steps are counted by the study
study.step = 3;
