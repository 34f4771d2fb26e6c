import type { FastifyBaseLogger } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { UploadOwner } from '#entities/kit/objects/upload-owner.ts';
import { missingUpload } from '#entities/kit/objects/upload-problems.ts';
import type { Upload } from '#entities/kit/objects/upload-rows.ts';
import type { Services } from '../../http/services.ts';

/** How long a request may write without saying so again, and how often it does, in milliseconds. */
const leaseMs = 15_000;
const renewalMs = 5_000;

/** The one request that writes to an upload. */
interface UploadLock {
  readonly writer: string;
  /** When the lock ends if it is not renewed. */
  readonly until: () => Date;
  /** As the request before has left it. */
  readonly upload: Upload;
}

/**
 * Writes to an upload while no other request does.
 * @throws AppError upload_busy, upload_complete, not_found
 */
export async function withUploadLock<T>(
  { uploadRows, clock }: Services,
  { id, owner }: { readonly id: string; readonly owner: UploadOwner },
  log: FastifyBaseLogger,
  work: (lock: UploadLock) => Promise<T>,
): Promise<T> {
  const writer = newId();
  const until = () => new Date(clock.now().getTime() + leaseMs);
  const take = (end: Date) => uploadRows.takeWriter(id, owner, writer, end, clock.now());
  const find = () => uploadRows.find(id, owner, clock.now());
  if (!(await take(until()))) throw cannotWrite(id, await find());
  const renewal = setInterval(() => {
    // A request that lost its lock learns it when it notes its progress.
    take(until()).catch((error: unknown) => log.warn({ err: error }, 'the lock of an upload could not be renewed'));
  }, renewalMs);
  try {
    const upload = await find();
    if (!upload) throw missingUpload(id);
    return await work({ writer, until, upload });
  } finally {
    clearInterval(renewal);
    await take(clock.now()).catch((error: unknown) => {
      log.warn({ err: error }, 'the lock of an upload could not be released; it expires by itself');
    });
  }
}

function cannotWrite(id: string, upload: Upload | undefined): AppError {
  if (!upload) return missingUpload(id);
  if (upload.state === 'receiving')
    return new AppError(
      'upload_busy',
      `Another request is writing to the upload "${id}". Send HEAD for its offset, then continue there.`,
      {
        details: { retryAfterSeconds: 1 },
      },
    );
  return new AppError('upload_complete', `The upload "${id}" takes no more bytes; it is ${upload.state}.`);
}
