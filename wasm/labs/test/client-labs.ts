/* A strict TypeScript program on libattn-labs; packed.test.mjs compiles it. */
import { init, AttnError } from "libattn";
import { lab, labs, type LabProgress, type LabResult } from "libattn-labs";

const [first] = await labs();
const names: readonly string[] =
    first?.panels.flatMap(({ columns }) => columns.map(({ name, mark }) => `${name} ${mark}`)) ??
    [];

const controller = new AbortController();
const onProgress = ({ row, fraction }: LabProgress) => console.log(row[0], fraction);
const result: LabResult = await lab(
    "separation",
    { trials: 10, rows: "distinct" },
    { panel: "7b", seed: 7n, xs: [5, 9], workers: 2, signal: controller.signal, onProgress },
);
const widest: number = result.rows.length * result.columns.length;
console.log(names, widest, result.note, init.name, AttnError.name);

// @ts-expect-error an option that there is not
await lab("separation", {}, { trials: 3 });
// @ts-expect-error a parameter's value is a number, a text or a boolean
await lab("separation", { trials: [3] });
