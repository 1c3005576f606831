/* NOTICE of the package: whose work is in it, and by which licence. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { bundledParts, librariesIn, linkedParts, partsIn } from "../../notice.mjs";
import { makeProject, pack, packageFolder } from "./projects.mjs";

const folder = mkdtempSync(join(tmpdir(), "libattn-notice-"));
after(() => rmSync(folder, { recursive: true }));
const { tarball } = pack(folder);
makeProject(folder, tarball);
const installed = join(folder, "node_modules/libattn");
const notice = readFileSync(join(installed, "NOTICE"), "utf8");
const names = [...notice.split("-".repeat(80))[0].matchAll(/^ {4}(.+)$/gm)].map(([, name]) => name);

const filesOf = (where, ending) =>
    readdirSync(join(packageFolder, where), { recursive: true })
        .filter((name) => name.endsWith(ending))
        .map((name) => join(packageFolder, where, name));

/** The packages that sources import by name. */
function imported() {
    const sources = filesOf("js", ".js").map((file) => readFileSync(file, "utf8"));
    const found = sources.flatMap((code) => [...code.matchAll(/from "([^."][^"]*)"/g)]);
    return [...new Set(found.map(([, name]) => name.match(/^(@[^/]+\/)?[^/]+/)[0]))].filter(
        (name) => !/^(node:.*|worker_threads|#.*)$/.test(name),
    );
}

test("each package that is bundled is named, with its licence", () => {
    const packages = imported();
    assert.ok(packages.length > 0);
    for (const name of packages) {
        const where = join(packageFolder, "../node_modules", name);
        const { version } = JSON.parse(readFileSync(join(where, "package.json"), "utf8"));
        assert.ok(names.includes(`${name} ${version}`), `${name} in ${names}`);
        assert.ok(notice.includes(readFileSync(join(where, "LICENSE"), "utf8").trim()), name);
    }
});

test("each library that is linked is named, with its licence", () => {
    const modules = readdirSync(join(installed, "dist")).filter((name) => name.endsWith(".wasm"));
    for (const name of modules) {
        const map = readFileSync(
            join(packageFolder, "dist", name.replace(".wasm", ".map")),
            "utf8",
        );
        const libraries = librariesIn(map);
        assert.ok(libraries.length > 0, `${name} has nothing of a C library`);
        for (const part of libraries.flatMap(partsIn)) assert.ok(names.includes(part), part);
    }
    for (const part of ["musl", "Emscripten", "compiler-rt", "SIMDe"])
        assert.ok(names.includes(part), part);
    for (const { text } of linkedParts()) assert.ok(notice.includes(text.trim()));
});

test("musl's notice is the toolchain's", (t) => {
    const [map] = filesOf("dist", ".simd.map");
    const [, top] = readFileSync(map, "utf8").match(/\s(\/\S*)\/cache\/sysroot\//) ?? [];
    const file = `${top}/system/lib/libc/musl/COPYRIGHT`;
    if (!existsSync(file)) return t.skip("the sources of Emscripten's C library are not there");
    assert.ok(notice.includes(readFileSync(file, "utf8").trim()));
});

test("a library or a package without a known licence is refused", () => {
    const map = " 1 2 3  /usr/lib/wasm32-wasi/libfoo.a(a.o):(f)\n 1 2 3  core/libattn.a(b.o):(g)";
    const [library, ...more] = librariesIn(map);
    assert.deepEqual([library, more], ["/usr/lib/wasm32-wasi/libfoo.a", []]);
    assert.throws(() => partsIn(library), /no licence is known of \S+libfoo\.a/);
    assert.throws(() => bundledParts([join(folder, "node_modules/none/index.js")]), /none/);
});
