/* The library with gradients where it is in a worker. */
import { Attn, LONG, Plan, makeRemoteInit } from "./remote-attn.js";
import { READ } from "./declared.js";
import { ask } from "./remote-object.js";

class GradientsPlan extends Plan {
    async gradients(options) {
        return (await this[ask]("gradients", [options], { watch: LONG })).value;
    }
}

class GradientsAttn extends Attn {
    static planFor = ({ gradients }) => (gradients ? GradientsPlan : Plan);

    async gradients(...args) {
        const how = { names: [...READ, "outGradient"], watch: LONG };
        return (await this[ask]("gradients", args, how)).value;
    }
}

/** As makeRemoteInit(). */
export const makeGradientsRemoteInit = (start, readUrl) =>
    makeRemoteInit(start, readUrl, GradientsAttn);
