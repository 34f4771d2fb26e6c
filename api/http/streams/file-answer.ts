import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { parse } from 'range-parser';
import { AppError } from '#entities/kit/base/errors.ts';
import type { StoredObject } from '#entities/kit/objects/stored-object.ts';
import { namesTag } from '../response/entity-tags.ts';
import { contentDisposition, dispositionOf, mediaTypeOf, type Disposition } from './content-disposition.ts';
import type { StreamResponse } from './stream-response.ts';

/** First and last byte, both included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

type ServedFile = Pick<StoredObject, 'name' | 'contentType' | 'sizeBytes' | 'sha256'>;

/** Rights of a browser on the file if it is opened after all: show it, without scripts and without the rights of this origin. */
const sandbox = "default-src 'none'; sandbox";

/**
 * Answers GET or HEAD with the bytes of a file, or with those of the range that the request asks for (RFC 9110, sections 13 and 14).
 * @param asked how the file is to be presented; only harmless types are shown in the browser
 * @param open reads the file, or a range of it; not called when no bytes are sent
 * @throws AppError range_not_satisfiable
 */
export async function fileAnswer(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  file: ServedFile,
  asked: Disposition,
  open: (range: ByteRange | undefined) => Promise<Readable | Buffer>,
): Promise<StreamResponse> {
  const { sizeBytes, sha256 } = file;
  const etag = `"${sha256.toString('base64url')}"`;
  const about = {
    etag,
    'repr-digest': `sha-256=:${sha256.toString('base64')}:`,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
    ...presentation(file, asked),
  };
  if (namesTag(headers['if-none-match'], etag)) return { status: 304, headers: about, length: 0 };
  if (method === 'HEAD') return { status: 200, headers: about, length: sizeBytes };
  const range = isCurrent(headers['if-range'], etag) ? requestedRange(headers.range, sizeBytes) : undefined;
  const content = await open(range);
  if (!range) return { status: 200, headers: about, length: sizeBytes, content };
  const { first, last } = range;
  const contentRange = { 'content-range': `bytes ${first}-${last}/${sizeBytes}` };
  return { status: 206, headers: { ...about, ...contentRange }, length: last - first + 1, content };
}

/**
 * The range of bytes that a request asks for (RFC 9110, section 14.2): undefined for the whole file, also where the RFC lets a server
 * ignore the header because it is malformed, in another unit or for several ranges.
 * @throws AppError range_not_satisfiable
 */
function requestedRange(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  const { code, type, ranges } = parse(sizeBytes, header ?? '');
  const isMalformed = (code & 1) !== 0;
  if (type !== 'bytes' || isMalformed || ranges.length > 1) return undefined;
  const [range] = ranges;
  if (range) return { first: range.start, last: range.end };
  // The last bytes of an empty file are satisfiable, but no Content-Range can name them.
  if (code === 0) return undefined;
  throw new AppError(
    'range_not_satisfiable',
    `The range begins after the end of the file, which has ${sizeBytes} bytes.`,
    { details: { contentRange: `bytes */${sizeBytes}` } },
  );
}

/** Browsers must neither guess another type nor run what the file contains. */
function presentation({ name, contentType }: ServedFile, asked: Disposition): Readonly<Record<string, string>> {
  const type = mediaTypeOf(contentType);
  const disposition = dispositionOf(type, asked);
  // Browsers refuse to show a PDF in a sandbox; their viewers run no scripts of it.
  const isInlinePdf = disposition === 'inline' && type === 'application/pdf';
  return {
    'content-type': type,
    'content-disposition': contentDisposition(disposition, name),
    'x-content-type-options': 'nosniff',
    ...(isInlinePdf ? {} : { 'content-security-policy': sandbox }),
  };
}

/** Whether If-Range allows a range: it is missing, or is exactly this entity tag. A date is never used: the file has none. */
function isCurrent(header: string | string[] | undefined, etag: string): boolean {
  return header === undefined || header === etag;
}
