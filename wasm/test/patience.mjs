/** Milliseconds after which a test takes something for hung: a last resort, which no machine is slow enough to reach. */
export const patience = 5 * 60_000;
