import type { FastifyBaseLogger } from 'fastify';
import type { Bindings } from 'pino';

/**
 * The logger of one request, made when something is logged for the first time: most requests log nothing but their access
 * line, and making a logger costs more than that.
 */
export class RequestLogger implements Pick<FastifyBaseLogger, 'child' | 'level'> {
  readonly #parent: FastifyBaseLogger;
  readonly #bindings: Bindings;
  #made: FastifyBaseLogger | undefined;

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

  /** With the methods of its levels, which have too many shapes to be written down again. */
  get asLogger(): FastifyBaseLogger {
    return this;
  }

  get #logger(): FastifyBaseLogger {
    this.#made ??= this.#parent.child(this.#bindings);
    return this.#made;
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
