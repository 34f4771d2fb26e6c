import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { traceIdOf } from '#entities/kit/base/trace.ts';
import { currentWork } from '#activities/clients/temporal/work-origin.ts';
import { prettyLine } from './pretty-line.ts';

/** Lines are written at once when they are longer than this together, in characters. */
const maxWaitingLength = 8_192;

/** Fields that are removed from log lines, at every depth up to three. */
const secretFields = ['password', 'token', 'access_token', 'authorization', 'cookie', 'secret', 'passwordHash'];

/**
 * The logger of a process: JSON lines, on standard output unless another destination is given. Lines that are logged on behalf
 * of a request have its id and trace id, those of activities the id of their workflow, and both the organization where one is known.
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

/** Where a process writes its lines. */
interface LogOutput extends DestinationStream {
  flushSync(): void;
  /** From now on lines are written for people. To be called in development (`server.dev`) only; has no effect unless a terminal shows them. */
  showToPeople(): void;
}

interface Terminal {
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
}

function ownOutput(): Terminal {
  const output = pino.destination({ fd: 1, sync: true });
  // Not its `flushSync`, which waits until a file is on the disk.
  return { isTerminal: process.stdout.isTTY, write: (text) => void output.write(text) };
}

/** Standard output. Lines of one tick of the event loop are written together, in one system call. */
export function standardOutput({ isTerminal, write }: Terminal = ownOutput()): LogOutput {
  let isPretty = false;
  let lines = '';
  let isScheduled = false;
  const flush = () => {
    isScheduled = false;
    const text = lines;
    lines = '';
    if (text !== '') write(text);
  };
  process.once('exit', flush);
  return {
    write: (line) => {
      lines += isPretty ? prettyLine(line) : line;
      if (lines.length > maxWaitingLength) flush();
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
    // Called for `fatal`.
    flushSync: flush,
    showToPeople: () => {
      isPretty = isTerminal;
    },
  };
}

const noOrigin = {};

function originFields(): object {
  const work = currentWork();
  if (!work) return noOrigin;
  const { origin, workflowId, organizationId } = work;
  const traceId = traceIdOf(origin?.traceparent);
  return {
    ...(origin ? { request_id: origin.requestId } : {}),
    ...(traceId ? { trace_id: traceId } : {}),
    ...(workflowId ? { workflow_id: workflowId } : {}),
    ...(organizationId ? { organization_id: organizationId } : {}),
  };
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
