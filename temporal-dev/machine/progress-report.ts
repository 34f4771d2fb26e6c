/**
 * Receives what the stack is doing, one line at a time. A `transient` line is progress that the next line replaces;
 * a receiver that cannot replace lines may print it or leave it out.
 */
export type Report = (line: string, transient?: boolean) => void;

interface LineStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** How often progress is repeated where lines cannot be replaced, ms. */
const PLAIN_PROGRESS_INTERVAL_MS = 10_000;

/**
 * A receiver for a terminal or a log: on a terminal progress is rewritten in place, elsewhere it becomes a plain line
 * every ten seconds. Progress of several things at once shares the one line, the latest wins.
 */
export function terminalReport(stream: LineStream, prefix = ''): Report {
  let drawn = false;
  let lastProgress = Date.now();
  return (line, transient = false) => {
    if (stream.isTTY === true) {
      stream.write(`${drawn ? '\r\u001B[K' : ''}${prefix}${line}${transient ? '' : '\n'}`);
      drawn = transient;
      return;
    }
    if (transient && Date.now() - lastProgress < PLAIN_PROGRESS_INTERVAL_MS) return;
    lastProgress = Date.now();
    stream.write(`${prefix}${line}\n`);
  };
}

/**
 * Runs `action` and reports once a second how long it has been going on. `action` may name its latest step through the
 * function it is given, for example `45 %`.
 */
export async function withProgress<T>(
  report: Report,
  label: string,
  action: (step: (text: string) => void) => Promise<T>,
): Promise<T> {
  const started = Date.now();
  let latest = '';
  report(label);
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000);
    report(`${label}: ${latest === '' ? '' : `${latest}, `}${seconds} s`, true);
  }, 1000);
  try {
    return await action((text) => {
      latest = text;
    });
  } finally {
    clearInterval(timer);
  }
}
