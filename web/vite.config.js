import { defineConfig } from "vite";

export default defineConfig({
    base: "./", // the built page works from any folder of any static server
    worker: { format: "es" },
    build: {
        target: "es2023",
        assetsInlineLimit: 0, // nothing becomes a data: URL, which the page's policy refuses
        modulePreload: { polyfill: false },
        rolldownOptions: { input: ["index.html", "labs.html"] },
    },
    optimizeDeps: { exclude: ["libattn"] }, // keeps its .wasm beside it in `vite dev`
    server: { headers: isolation() },
    preview: { headers: isolation() },
});

function isolation() {
    return {
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
    };
}
