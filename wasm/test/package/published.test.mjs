/* What other people's checkers say of the tarball. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pack, packageFolder } from "./projects.mjs";
import { checkManifest, checkTypes } from "./published.mjs";

const folder = mkdtempSync(join(tmpdir(), "libattn-"));
after(() => rmSync(folder, { recursive: true }));
const { tarball } = pack(folder);

test("publint", () => checkManifest(tarball));
test("attw", () => checkTypes(tarball, packageFolder));
