import { pino, type Logger, type LoggerOptions } from 'pino';

/** Fields that never reach a log line, wherever they stand. */
const secretFields = ['password', 'token', 'access_token', 'authorization', 'cookie', 'secret', 'passwordHash'];

/** The one logger of a process: JSON lines on standard output. */
export function createLogger(service: string, options: Pick<LoggerOptions, 'level'> = {}): Logger {
  return pino({
    level: options.level ?? 'info',
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
  });
}
