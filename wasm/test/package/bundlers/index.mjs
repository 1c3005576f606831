/* Bundlers that the package is tested with beside the workspace's. `./dev test package` installs them. */
export { nodeResolve } from "@rollup/plugin-node-resolve";
export { rollup } from "rollup";
export * as vite5 from "vite5";
export * as vite6 from "vite6";
export * as vite7 from "vite7";
