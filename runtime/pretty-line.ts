/** Fields that every line has; the rest is shown behind the message. */
const usual = new Set(['level', 'time', 'service', 'pid', 'msg', 'err']);

/** Escape sequences (ECMA-48) of levels that stand out. */
const colours: Readonly<Record<string, string>> = { warn: '\u001B[33m', error: '\u001B[31m', fatal: '\u001B[31m' };
const plain = '\u001B[0m';

interface Line {
  readonly level?: string;
  readonly time?: string;
  readonly service?: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}

/**
 * A log line for people at a terminal: time, level, service and message, then its fields, then the stack of its error.
 * @param json one line as the logger writes it; what is none stays as it is
 */
export function prettyLine(json: string): string {
  let line: Line & Readonly<Record<string, unknown>>;
  try {
    line = JSON.parse(json) as typeof line;
  } catch {
    return json;
  }
  const { level = '', time = '', service = '', msg = '', err } = line;
  const fields = Object.entries(line)
    .filter(([name, value]) => !usual.has(name) && value !== null)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? shown(value) : JSON.stringify(value)}`);
  const colour = colours[level];
  const word = level.toUpperCase().padEnd(5);
  const head = [time.slice(11, 23), colour ? `${colour}${word}${plain}` : word, service, shownText(msg), ...fields];
  const stack = err ? `\n${shownText(err.stack ?? err.message ?? 'error').replaceAll(/^/gm, '    ')}` : '';
  return `${head.filter(Boolean).join(' ')}${stack}\n`;
}

/** Without control characters, with which a value could move the cursor or forge a line. */
function shownText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is removed
  return text.replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, '');
}

function shown(value: string): string {
  return /^[\w.:/@-]*$/.test(value) ? value : JSON.stringify(shownText(value));
}
