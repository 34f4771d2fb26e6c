import type { Readable } from 'node:stream';

/** Bytes that are sent as they are read, or were read at once; the unit of work ends before the first. */
export interface StreamResponse {
  readonly status: number;
  /** Media type included. */
  readonly headers: Readonly<Record<string, string>>;
  /** Number of bytes of the body, or of the one that HEAD leaves out. */
  readonly length: number;
  /** Left out where the response has no body. A stream of another length aborts the response. */
  readonly content?: Readable | Buffer;
}
