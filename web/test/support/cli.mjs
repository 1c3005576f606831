/** The command line, whose numbers those of the pages are held to. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = fileURLToPath(new URL("../../../build/attn", import.meta.url));
export const cli = process.env.ATTN_CLI ?? (existsSync(built) ? built : null);
export const noCli = "there is no build/attn, and ATTN_CLI does not name one";
