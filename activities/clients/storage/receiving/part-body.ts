import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { StorageError, type PartBody, type WriteOptions } from '../provider.ts';

/** Size of the pieces in which files are read, in bytes. */
export const pieceBytes = 256 * 1024;

export function bodyBytes(body: PartBody): number {
  return 'file' in body ? body.end - body.start : body.reduce((sum, { length }) => sum + length, 0);
}

/** The bytes of a body; every call reads them from the beginning. */
export function readBody(body: PartBody, options?: WriteOptions): Readable {
  return Readable.from(piecesOf(body, options), { objectMode: false });
}

/**
 * The pieces of a body. Each is progress when the next one is asked for.
 * @param reuses whether pieces of a file are valid only until the next one is asked for: all of them are read into one buffer then
 * @throws the reason of the signal
 */
export async function* piecesOf(
  body: PartBody,
  { signal, onProgress }: WriteOptions = {},
  { reuses = false }: { readonly reuses?: boolean } = {},
): AsyncGenerator<Buffer> {
  for await (const piece of 'file' in body ? filePieces(body, reuses) : body) {
    signal?.throwIfAborted();
    if (piece.length === 0) continue;
    yield piece;
    onProgress?.();
  }
}

async function* filePieces(
  { file, start, end }: Extract<PartBody, { readonly file: FileHandle }>,
  reuses: boolean,
): AsyncGenerator<Buffer> {
  const own = reuses ? Buffer.allocUnsafeSlow(Math.min(pieceBytes, end - start)) : undefined;
  for (let position = start; position < end;) {
    const length = Math.min(pieceBytes, end - position);
    const { bytesRead, buffer } = await file.read(own ?? Buffer.allocUnsafeSlow(length), 0, length, position);
    if (bytesRead === 0) throw new StorageError('broken', 'A temporary file has less bytes than were written to it.');
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
