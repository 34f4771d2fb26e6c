/** Time after which an integration is removed that nobody has connected, in milliseconds. */
export const pendingLifetimeMs = 168 * 3_600_000;
