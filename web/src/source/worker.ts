/** The worker that reads inputs: what source.ts asks for, answered one after the other. */

import { message } from "../dom";
import type { ArrayFile, Input, Role } from "../types";
import { inputFromFiles, inputFromText } from "./arrays";

export type Request = {
    id: number;
} & (
    | { kind: "text"; text: string; dim: number }
    | { kind: "files"; files: Record<Role, ArrayFile> }
);

export type Answer = { id: number } & ({ value: Input } | { problem: string });

async function answer(request: Request): Promise<void> {
    const { id } = request;
    try {
        postMessage({ id, value: await carryOut(request) } satisfies Answer);
    } catch (error) {
        postMessage({ id, problem: message(error) } satisfies Answer);
    }
}

function carryOut(request: Request): Promise<Input> {
    if (request.kind === "text") return inputFromText(request.text, request.dim);
    return inputFromFiles(request.files);
}

let last = Promise.resolve();
onmessage = ({ data }: MessageEvent<Request>) => {
    last = last.then(() => answer(data));
};
