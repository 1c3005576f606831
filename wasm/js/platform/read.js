/* What the platform reads a URL with, for other packages. */
export { readUrl } from "#read";
