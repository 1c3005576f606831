import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import globals from "globals";
import tseslint from "typescript-eslint";

export default defineConfig(
    globalIgnores(["**/node_modules/", "**/dist/", "**/build/"]),
    {
        files: ["**/*.{js,mjs,cjs}"],
        extends: [js.configs.recommended],
        languageOptions: { globals: { ...globals.node } },
    },
    {
        files: ["**/*.{ts,mts}"],
        extends: [js.configs.recommended, tseslint.configs.strict],
    },
    {
        files: ["web/**", "wasm/**", "tests/**", "bench/peers/contenders/page/**"],
        languageOptions: { globals: { ...globals.browser, ...globals.node } },
    },
    {
        rules: {
            eqeqeq: "error",
            "no-var": "error",
            "prefer-const": "error",
        },
    },
);
