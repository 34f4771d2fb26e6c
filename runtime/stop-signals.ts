/**
 * Calls `stop` once, when the process is asked to end: by SIGINT, by SIGTERM, or by the end of the process that started it
 * with a channel to it, so that no one is left behind by a supervisor that was killed.
 */
export function onStop(stop: (reason: string) => void): void {
  let isStopping = false;
  const ask = (reason: string) => {
    if (isStopping) return;
    isStopping = true;
    stop(reason);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, ask);
  process.on('disconnect', () => ask('supervisor is gone'));
}
