import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { namesTag } from './entity-tags.ts';

const compress = promisify(gzip);

/** A document that is kept, and what follows from it: made at the first request that needs it. */
class Kept {
  readonly hash: string;
  readonly #document: Buffer;
  #compressed: Promise<Buffer> | undefined;

  constructor(document: Buffer) {
    this.#document = document;
    this.hash = createHash('sha256').update(document).digest('base64url');
  }

  get compressed(): Promise<Buffer> {
    this.#compressed ??= compress(this.#document);
    return this.#compressed;
  }
}

const keptOf = onceForEach((document: Buffer) => new Kept(document));

/**
 * A document that is the same for everybody, with its entity tag; 304 without it for a client that has it already. Only such documents are
 * compressed: the length of a compressed answer that mixes secrets with parts of the request reveals the secrets (BREACH).
 */
export async function keptDocument(
  document: Buffer,
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
): Promise<Buffer | undefined> {
  const kept = keptOf(document);
  const isCompressed = acceptsGzip(headers['accept-encoding']);
  const etag = `"${kept.hash}${isCompressed ? '-gzip' : ''}"`;
  const varies = reply.getHeader('vary');
  reply.headers({ etag, vary: varies === undefined ? 'Accept-Encoding' : `${String(varies)}, Accept-Encoding` });
  if (namesTag(headers['if-none-match'], etag)) {
    reply.code(304).removeHeader('content-type');
    return undefined;
  }
  if (!isCompressed) return document;
  reply.header('content-encoding', 'gzip');
  return kept.compressed;
}

/** RFC 9110, section 12.5.3. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  const codings = [header ?? ''].flat().join().toLowerCase().split(',');
  const weights = new Map(codings.map((each) => weighted(each.trim())));
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

/** A coding with its weight: `gzip;q=0.5`. */
function weighted(text: string): readonly [coding: string, weight: number] {
  const [, coding = '', weight = '1'] = /^([^\s;]+)(?:\s*;\s*q=([\d.]+))?$/.exec(text) ?? [];
  return [coding, Number(weight)];
}
