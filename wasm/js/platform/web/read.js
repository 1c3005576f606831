/* What a browser reads a URL with. */
export { fetchBytes as readUrl } from "../../engine/loader.js";
