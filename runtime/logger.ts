import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { traceIdOf } from '#entities/kit/base/trace.ts';
import { currentOrigin } from '#activities/clients/temporal/work-origin.ts';

/** Lines are written at once when they are longer than this together, in characters. */
const maxWaitingLength = 8_192;

/** Fields that are removed from log lines, at every depth up to three. */
const secretFields = ['password', 'token', 'access_token', 'authorization', 'cookie', 'secret', 'passwordHash'];

/**
 * The logger of a process: JSON lines, on standard output unless another destination is given. Lines that are logged on behalf
 * of a request have its id and trace id.
 */
export function createLogger(
  service: string,
  options: Pick<LoggerOptions, 'level'> = {},
  destination?: DestinationStream,
): Logger {
  const settings: LoggerOptions = {
    level: options.level ?? 'info',
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    mixin: originFields,
    // Most lines have no origin: their fields are not copied.
    mixinMergeStrategy: (fields, origin) => (origin === noOrigin ? fields : { ...origin, ...fields }),
    serializers: { err: errorFields },
    redact: { paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
  };
  return pino(settings, destination ?? standardOutput());
}

/** Lines of one turn of the event loop are written together, in one system call. */
function standardOutput(): DestinationStream & { flushSync(): void } {
  const output = pino.destination({ fd: 1, sync: true });
  let lines = '';
  let isScheduled = false;
  const flush = () => {
    isScheduled = false;
    const text = lines;
    lines = '';
    // Not its `flushSync`, which waits until a file is on the disk.
    if (text !== '') output.write(text);
  };
  process.once('exit', flush);
  return {
    write: (line) => {
      lines += line;
      if (lines.length > maxWaitingLength) flush();
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
    // Called for `fatal`.
    flushSync: flush,
  };
}

const noOrigin = {};

function originFields(): object {
  const origin = currentOrigin();
  if (!origin) return noOrigin;
  const traceId = traceIdOf(origin.traceparent);
  return { request_id: origin.requestId, ...(traceId ? { trace_id: traceId } : {}) };
}

/**
 * The fields of an error in a log line. Other properties are left out: errors of the database have whole rows in `detail`,
 * those of the ORM the entity.
 */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code } = error as { code?: unknown };
  const message = isAboutValue(code) ? withoutValue(error.message) : error.message;
  return {
    type: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    message,
    stack: error.stack?.replace(error.message, () => message),
    ...(error.cause === undefined ? {} : { cause: errorFields(error.cause) }),
  };
}

/** Data exceptions of PostgreSQL (appendix A, class 22): their messages quote the value that does not fit. */
function isAboutValue(code: unknown): boolean {
  return typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code);
}

function withoutValue(message: string): string {
  const quote = message.indexOf('"');
  return quote < 0 ? message : `${message.slice(0, quote)}"…"`;
}
