/** Made by opening.js. */
declare module "#opening" {
    export const opening: {
        tokens: string[];
        shape: [batch: number, heads: number, rows: number, dim: number];
        /** Query, key and value: float32 in base64. */
        arrays: string[];
    };
}

/** Of Vite: files by their paths. */
interface ImportMeta {
    glob<T>(
        pattern: string,
        options: { eager: true; query: string; import: string },
    ): Record<string, T>;
}
