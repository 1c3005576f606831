/* A thread's side of its connection, for other packages. */
export { listen, post } from "#port";
