/** What an error says, in the library's own words: workers send those, and the page puts them into its language. */

export function reasonOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}
