/** What a link has of the parts of the page about costs. */

import type { Candidate, Quantity } from "./lengths";
import type { Cost } from "./trials";

/** What the reader chose of these parts. */
export interface CostSettings {
    /** Are they open? */
    pareto: boolean;
    longer: boolean;
    /** What the error stands against. */
    against: Cost;
    /** Other settings that have a dot there; that of a panel has one, too. */
    tried: readonly Candidate[];
    quantity: Quantity;
    /** Tokens. */
    length: number;
}

export const usualCosts: CostSettings = {
    ...{ pareto: false, longer: false, against: "flops", tried: [] },
    ...{ quantity: "time", length: 65_536 },
};
