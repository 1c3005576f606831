/** What a panel gives as files: its picture, and with it what it is of. */

import { find } from "../dom/dom";
import type { Findings } from "../compare/lines";
import { takeMenu } from "../take/menu";
import type { Problem } from "../state/types";
import type { Panel } from "./panel";
import type { Picture } from "./picture";
import type { Surroundings } from "./surroundings";
import { words } from "../words/words";

export function addSaving(
    panel: Panel,
    name: string,
    picture: Picture,
    around: Surroundings,
    findings: () => Findings | null,
): void {
    const menu = takeMenu(name, {
        name: () => `${panel.id}-${panel.showsDifference ? "difference" : "weights"}`,
        svg: () => {
            const { difference, weights } = words.picture;
            return picture.svg(`${name}: ${panel.showsDifference ? difference : weights}`);
        },
        table: () => {
            const table = picture.table();
            return table && { ...table, about: about(panel, around, findings()) };
        },
        matrix: () => {
            const { grid, values } = picture;
            return grid && values && { numbers: values, shape: [grid.rows, grid.columns] };
        },
    });
    find(panel.element, ".saving", HTMLElement).append(menu);
}

/** Enough to compute it again. */
function about(panel: Panel, around: Surroundings, findings: Findings | null) {
    const { grid } = panel;
    return {
        ...{ backend: panel.id, params: panel.params },
        ...{ problem: toldOf(around.problem()), view: around.view() },
        ...{ firstQuery: grid?.query, queries: grid?.queries },
        ...{ firstKey: grid?.key, keys: grid?.keys, cells: grid?.pooling },
        queriesPerCell: grid?.rowsPerCell,
        sampledQueries: grid?.sampledRows,
        keysPerCell: grid?.columnsPerCell,
        error: findings?.accuracy?.error,
        milliseconds: findings?.timing?.milliseconds,
        flops: findings?.numbers.flops,
        pairsKept: findings?.numbers.kept,
        workspaceBytes: findings?.numbers.workspaceBytes,
        commandLine: around.commandLine(panel),
        address: location.href,
    };
}

/** Of a mask its file. */
function toldOf({ mask, ...problem }: Problem) {
    return { ...problem, ...(mask && { mask: { name: mask.name, shape: mask.shape } }) };
}
