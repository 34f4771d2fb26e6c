import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { fileName } from '#entities/kit/base/file-name.ts';
import type { UploadPurpose } from '#entities/kit/model/files/upload-purpose.ts';
import type { Measured } from '#entities/kit/objects/stored-object.ts';
import { uploadOwnerOf, type UploadOwner } from '#entities/kit/objects/upload-owner.ts';
import { asAppError } from '../response/problem.ts';
import { beginUpload } from './begin-upload.ts';
import { findCallerAgain } from '../request-caller.ts';
import { refuseTokens } from '../refuse-tokens.ts';
import type { Services } from '../services.ts';

/** A file that a request brings. */
interface IncomingFile {
  readonly source: Readable;
  readonly name: string;
  readonly type: string;
  /** The field that it is meant for; undefined: not known yet. */
  readonly purpose?: UploadPurpose | undefined;
  /** How long a record can take it, in milliseconds. */
  readonly lifetimeMs: number;
}

/** An upload that a record can take. */
export interface ReceivedFile extends Measured {
  readonly id: string;
  readonly owner: UploadOwner;
  readonly name: string;
  readonly expiresAt: Date;
}

/**
 * Stores a file: its row is there before its first byte, and its bytes are durable when this ends. The caller must have been found
 * before, and is found again after the last byte; no connection to the database is held in between.
 * @throws AppError when the file, or by then its caller, is refused; nothing of it stays
 */
export async function receiveFile(
  request: FastifyRequest,
  services: Services,
  { source, name: given, type, purpose, lifetimeMs }: IncomingFile,
): Promise<ReceivedFile> {
  const { clock, uploadRows: rows, fileReceiver: receiver } = services;
  const name = fileName(given);
  const owner = uploadOwnerOf(request.core.caller);
  const declared = { name, type };
  const begun = await beginUpload(services, owner, { route: 'multipart', declared, purpose, lifetimeMs });
  const { id, location, expiresAt } = begun;
  failpoint('upload-begun');
  try {
    const { version, ...measured } = await receiver.receive(
      source,
      { location, owner },
      declared,
      receiver.limitsOf(purpose?.rule),
    );
    await findUploader(request, services);
    const { actor, organizationId } = uploadOwnerOf(request.core.caller);
    if (actor !== owner.actor || organizationId !== owner.organizationId)
      throw new AppError('permission_denied', 'You act as another caller than before the upload; send it again.');
    await rows.finish(id, owner, { ...measured, version }, clock.now());
    failpoint('upload-finished');
    return { id, owner, name, expiresAt, ...measured };
  } catch (error) {
    await giveUpUploads(request, services, [{ id, owner }], error);
    throw error;
  }
}

/** Frees uploads that nobody will name, because the request that brought them has failed. */
export async function giveUpUploads(
  { log }: FastifyRequest,
  { uploadRows, clock }: Services,
  uploads: readonly Pick<ReceivedFile, 'id' | 'owner'>[],
  reason: unknown,
): Promise<void> {
  for (const { id, owner } of uploads)
    await uploadRows.refuse(id, owner, asAppError(reason), clock.now()).catch((error: unknown) => {
      log.warn({ err: error, upload: id }, 'an upload could not be given up; it expires');
    });
}

/** Finds the caller by the current state. The time of the request begins anew: reading the body has its own limit. */
export async function findUploader(request: FastifyRequest, services: Services): Promise<void> {
  request.core.deadline = Date.now() + services.config.current.server.writetimeout;
  await findCallerAgain(request, services);
  if (!request.routeOptions.config.acceptsTokens) refuseTokens(request.core.caller);
}
