/**
 * Calls `stop` once, on SIGINT, on SIGTERM, or when the IPC channel to the parent process closes, so that no process survives a
 * parent that was killed.
 */
export function onStop(stop: (reason: string) => void): void {
  let isStopping = false;
  const stopOnce = (reason: string) => {
    if (isStopping) return;
    isStopping = true;
    stop(reason);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stopOnce);
  process.on('disconnect', () => stopOnce('the parent process has ended'));
}
