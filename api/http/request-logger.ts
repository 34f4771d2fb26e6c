import type { FastifyBaseLogger } from 'fastify';
import type { Bindings } from 'pino';

/**
 * The logger of one request, created when it first logs: most requests log only their access line, and creating a child logger
 * costs more than that.
 */
export class RequestLogger implements Pick<FastifyBaseLogger, 'child' | 'level'> {
  readonly #parent: FastifyBaseLogger;
  readonly #bindings: Bindings;
  #created: FastifyBaseLogger | undefined;

  constructor(parent: FastifyBaseLogger, bindings: Bindings) {
    this.#parent = parent;
    this.#bindings = bindings;
  }

  get level(): string {
    return this.#parent.level;
  }

  child(bindings: Bindings): FastifyBaseLogger {
    return new RequestLogger(this.#parent, { ...this.#bindings, ...bindings }).asLogger;
  }

  /** Typed as Fastify's logger; the overloads of its level methods cannot be repeated here. */
  get asLogger(): FastifyBaseLogger {
    return this;
  }

  get #logger(): FastifyBaseLogger {
    this.#created ??= this.#parent.child(this.#bindings);
    return this.#created;
  }

  fatal(...line: Parameters<FastifyBaseLogger['fatal']>): void {
    this.#logger.fatal(...line);
  }
  error(...line: Parameters<FastifyBaseLogger['error']>): void {
    this.#logger.error(...line);
  }
  warn(...line: Parameters<FastifyBaseLogger['warn']>): void {
    this.#logger.warn(...line);
  }
  info(...line: Parameters<FastifyBaseLogger['info']>): void {
    this.#logger.info(...line);
  }
  debug(...line: Parameters<FastifyBaseLogger['debug']>): void {
    this.#logger.debug(...line);
  }
  trace(...line: Parameters<FastifyBaseLogger['trace']>): void {
    this.#logger.trace(...line);
  }
  silent(): void {}
}
