// The kind of processor that a run was measured on. Virtual machines often hide the model's name, so family and model
// numbers decide.

import { readFileSync } from "node:fs";
import { cpus } from "node:os";

const between = (low, high) => (model) => model >= low && model <= high;
const isZen3 = (model) => between(0x00, 0x0f)(model) || between(0x20, 0x5f)(model);

/** {vendor, family, of: whether a model is one, kind, name}; the first that fits. */
const known = [
    { vendor: "AuthenticAMD", family: 23, of: between(0x30, 0xff), kind: "zen2", name: "Zen 2" },
    { vendor: "AuthenticAMD", family: 25, of: isZen3, kind: "zen3", name: "Zen 3" },
    { vendor: "AuthenticAMD", family: 25, of: () => true, kind: "zen4", name: "Zen 4" },
    { vendor: "AuthenticAMD", family: 26, of: () => true, kind: "zen5", name: "Zen 5" },
    {
        vendor: "GenuineIntel",
        family: 6,
        of: between(0x55, 0x55),
        kind: "skylake-sp",
        name: "Skylake-SP",
    },
    {
        vendor: "GenuineIntel",
        family: 6,
        of: between(0x6a, 0x6c),
        kind: "ice-lake-sp",
        name: "Ice Lake-SP",
    },
    {
        vendor: "GenuineIntel",
        family: 6,
        of: between(0x8f, 0x8f),
        kind: "sapphire-rapids",
        name: "Sapphire Rapids",
    },
    {
        vendor: "GenuineIntel",
        family: 6,
        of: between(0xcf, 0xcf),
        kind: "emerald-rapids",
        name: "Emerald Rapids",
    },
];

const slugOf = (text) =>
    text
        .toLowerCase()
        .replace(/\((?:r|tm)\)/g, "")
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "") || "unknown";

/** {kind, name} of a processor whose /proc/cpuinfo is this text and whose model is called so. */
export function kindOf(cpuinfo, model) {
    const field = (name) => new RegExp(`^${name}\\s*: *(.*)$`, "m").exec(cpuinfo)?.[1];
    const found = known.find(
        ({ vendor, family, of }) =>
            field("vendor_id") === vendor &&
            Number(field("cpu family")) === family &&
            of(Number(field("model"))),
    );
    return found
        ? { kind: found.kind, name: `${found.name}, ${model}` }
        : { kind: slugOf(model), name: model };
}

/** This machine: {kind, name, cpus, system}. */
export function thisMachine() {
    const all = cpus();
    const model = all[0]?.model.trim() ?? "unknown";
    let cpuinfo = "";
    try {
        cpuinfo = readFileSync("/proc/cpuinfo", "utf8");
    } catch {
        // Only Linux has it.
    }
    return {
        ...kindOf(cpuinfo, model),
        cpus: all.length,
        system: `${process.platform} ${process.arch}, Node ${process.versions.node}`,
    };
}
