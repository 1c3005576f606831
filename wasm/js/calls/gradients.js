/* Gradients in one call: attn.gradients(). */
import { planned, readCall } from "./call.js";
import { READ, inputsOf } from "../problem/declared.js";
import { dtypesOf } from "../problem/dtypes.js";
import { BACKWARD, backwardArrays } from "./gradients-plan.js";
import { problemOf } from "../problem/rules.js";
import { inferSizes } from "../problem/shape.js";

const NEEDED = [...READ, "outGradient"];

/** A call of gradients(): { problem, rest }, `rest` being what gradients() of a plan takes. */
export function readGradients(args, session) {
    const declare = ({ backend }) => backwardArrays(session.arraysOf(backend));
    const plan = planned(session);
    const others = [...plan, ...BACKWARD];
    const call = readCall(args, { needed: NEEDED, others, declare }, "gradients", dtypesOf);
    const { options, arrays, declared } = call;
    const sizes = inferSizes(options, arrays);
    const inputs = inputsOf(declared).filter((name) => arrays[name]);
    const problem = problemOf(options, sizes, inputs, session.arraysOf(options.backend));
    const rest = Object.entries(options).filter(([name]) => !plan.includes(name));
    return { problem, rest: Object.fromEntries(rest) };
}
