/* What the addon's package for a platform is called: by its operating system, processor and C library. */

/** The C library that a Node on Linux is linked to, in npm's words; undefined elsewhere. */
export function libcOf({ platform, report }) {
    if (platform !== "linux") return undefined;
    const { excludeNetwork } = report;
    report.excludeNetwork = true; // names of hosts are looked up for it otherwise
    const { header } = report.getReport();
    report.excludeNetwork = excludeNetwork;
    return header.glibcVersionRuntime ? "glibc" : "musl";
}

/** The package for a process like this. */
export function addonName(process) {
    const { platform, arch } = process;
    return `@libattn/${[platform, arch, libcOf(process)].filter(Boolean).join("-")}`;
}
