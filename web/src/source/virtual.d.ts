/** Made by opening.js. */
declare module "#opening" {
    export const opening: {
        tokens: string[];
        shape: [batch: number, heads: number, rows: number, dim: number];
        /** Of all of query, key and value, float32: first bytes, second ones and so on, in base64. */
        planes: string[];
    };
}

/** Of Vite: files by their paths. */
interface ImportMeta {
    glob<T>(
        pattern: string,
        options: { eager: true; query: string; import: string },
    ): Record<string, T>;
}
