import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { AppError } from '#entities/kit/base/errors.ts';
import { sizeText } from '#entities/kit/base/mebibyte.ts';
import { SerialQueue } from '#entities/kit/base/concurrency/serial-queue.ts';

/** A file of a form. Nothing it says about itself is checked. */
export interface FilePart {
  /** Name of the form field. */
  readonly field: string;
  readonly name: string;
  readonly type: string;
  readonly source: Readable;
}

interface FormHandlers {
  /** Called for each text, in the order of the form. */
  readonly onText: (field: string, value: string) => void;
  /** Called for each file, in the same order. @returns reads the file; called when the files before have been read */
  readonly onFile: (part: FilePart) => () => Promise<void>;
}

interface FormLimits {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxTexts: number;
  readonly maxTextBytes: number;
}

/** For a message about a text in place of a file. */
export const fileHint = 'A file is a part with a file name; with curl, write @ before the path of the file.';

/** Allowance of a form besides the bytes of a file or text, for each of them. */
const overheadBytes = 65_536;

/** Limits of the headers of one part. */
const headerLimits = { headerPairs: 20, headerSize: 8_192 };

/**
 * Reads a body of the type multipart/form-data (RFC 7578) as it arrives. Files are read one after the other, as fast as their bytes are
 * taken. After a failure nothing more is parsed, files that wait are not begun, and this ends when the handlers have.
 * @throws AppError malformed_body, limit_exceeded, body_too_large; the error of a handler
 */
export async function readForm(request: IncomingMessage, limits: FormLimits, handlers: FormHandlers): Promise<void> {
  refuseLongForm(request, limits);
  const maxBytes = maxBytesOf(limits);
  const parser = parserOf(request, limits);
  const { promise: ended, resolve: end, reject } = Promise.withResolvers<void>();
  let hasFailed = false;
  const fail = (error: unknown) => {
    hasFailed = true;
    reject(error);
  };
  const parts = new SerialQueue();
  const sources: Readable[] = [];
  const works: Promise<void>[] = [];
  const orFail = (work: () => void) => {
    try {
      work();
    } catch (error) {
      fail(error);
    }
  };
  parser.on('field', (field, value, _isNameCut, isCut) =>
    orFail(() => {
      if (isCut) throw beyond(`/${field}`, `The form field "${field}" has more than ${limits.maxTextBytes} bytes.`);
      handlers.onText(field, value);
    }),
  );
  parser.on('file', (field, source, name, _encoding, type) => {
    // The error reaches whoever reads the file; until then nobody listens.
    source.on('error', () => {});
    sources.push(source);
    orFail(() => {
      const read = handlers.onFile({ field, name: name ?? '', type, source });
      // Files that wait are not begun after a failure.
      const work = parts.run(async () => {
        if (!hasFailed) await read();
      });
      works.push(work);
      work.catch(fail);
    });
  });
  parser.once('filesLimit', () => fail(beyond('/files', `A form may have ${limits.maxFiles} files at most.`)));
  // Parts without a name are neither files nor texts.
  parser.once('partsLimit', () => fail(beyond('/parts', 'The form has too many parts.')));
  parser.once('fieldsLimit', () =>
    fail(beyond('/texts', `A form may have ${limits.maxTexts} texts at most. ${fileHint}`)),
  );
  parser.once('error', (error) => fail(malformed(`the form is broken (${(error as Error).message})`, error)));
  parser.once('finish', end);
  const leave = () => {
    if (!request.readableEnded) fail(malformed('the request ended before the form did'));
  };
  let received = 0;
  const count = (piece: Buffer) => {
    received += piece.length;
    if (received > maxBytes) fail(tooLarge(maxBytes));
  };
  request.once('error', leave).once('close', leave).on('data', count);
  request.pipe(parser);
  try {
    await ended;
    await Promise.all(works);
  } catch (error) {
    request.unpipe(parser);
    for (const source of sources) source.destroy(error as Error);
    await Promise.allSettled(works);
    throw error;
  } finally {
    request.off('error', leave).off('close', leave).off('data', count);
  }
}

/** @throws AppError body_too_large for a form that is longer than any of these limits can be, as far as it states its length */
export function refuseLongForm({ headers }: IncomingMessage, limits: FormLimits): void {
  const maxBytes = maxBytesOf(limits);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

function parserOf({ headers }: IncomingMessage, { maxFiles, maxTexts, maxTextBytes }: FormLimits): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      // `fileName` takes the last part itself.
      preservePath: true,
      limits: {
        files: maxFiles,
        fields: maxTexts,
        parts: maxFiles + maxTexts + 1,
        fieldSize: maxTextBytes,
        ...headerLimits,
      },
    });
  } catch (cause) {
    throw malformed(
      headers['content-type'] === undefined
        ? 'the header Content-Type is missing; send a form of the type multipart/form-data'
        : 'the Content-Type has no boundary; leave the header to the client that writes the form',
      cause,
    );
  }
}

function maxBytesOf({ maxFiles, maxFileBytes, maxTexts, maxTextBytes }: FormLimits): number {
  return maxFiles * (maxFileBytes + overheadBytes) + (maxTexts + 1) * (maxTextBytes + overheadBytes);
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', `The form is larger than ${sizeText(maxBytes)}.`);
}

function malformed(reason: string, cause?: unknown): AppError {
  return new AppError('malformed_body', `The request body is invalid: ${reason}.`, { cause });
}

function beyond(path: string, message: string): AppError {
  return new AppError('limit_exceeded', message, { details: { fields: [{ path, message }] } });
}
