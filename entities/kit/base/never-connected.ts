/** Errors of a connection that was never made. */
const codes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether the server has seen nothing of a request that failed, by the cause of its error. */
export function neverConnected(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
  return codes.has(code);
}
