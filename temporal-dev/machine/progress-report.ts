/**
 * Receives messages about what the stack does, one line at a time. A `transient` line is progress that the next line
 * replaces; a receiver that cannot replace lines may skip it.
 */
export type Report = (line: string, transient?: boolean) => void;

interface LineStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Interval of progress lines where lines cannot be replaced, ms. */
const PLAIN_PROGRESS_INTERVAL_MS = 10_000;

/**
 * A receiver for a terminal or a log. On a terminal, progress is updated in place; elsewhere it is printed as a line every
 * ten seconds. Parallel actions share the progress line; the latest message is shown.
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
 * Runs `action` and reports its duration once a second. `action` can report its latest step, for example `45 %`, through
 * the function it is given.
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
