/** What the library declares of its experiments, in the page's language. */

import type { Lab, LabAxis, LabPanel, Param } from "libattn-labs";
import { said } from "./words";

const { ofLabs } = said;

export function inLanguage(lab: Lab): Lab {
    const [title, reference, summary] = [lab.title, lab.reference, lab.summary].map(ofLabs);
    const own = { title, reference, summary } as Pick<Lab, "title" | "reference" | "summary">;
    return { ...lab, ...own, params: lab.params.map(param), panels: lab.panels.map(panel) };
}

function param(declared: Param): Param {
    const { label, help, unit, automatic } = declared;
    const own = { label: ofLabs(label), help: ofLabs(help), unit: ofLabs(unit) };
    return { ...declared, ...own, automatic: automatic && ofLabs(automatic) } as Param;
}

function panel(declared: LabPanel): LabPanel {
    const { title, plain, claim, where, criterion, ours, x, y, columns } = declared;
    return {
        ...declared,
        ...{
            title: ofLabs(title),
            plain: ofLabs(plain),
            claim: ofLabs(claim),
            criterion: ofLabs(criterion),
        },
        ...{ where: where && ofLabs(where), ours: ours && ofLabs(ours) },
        ...{ x: axis(x), y: axis(y) },
        columns: columns.map((column) => ({ ...column, label: ofLabs(column.label) })),
    };
}

function axis(declared: LabAxis): LabAxis {
    const { label, unit } = declared;
    return { ...declared, label: ofLabs(label), unit: ofLabs(unit) };
}
