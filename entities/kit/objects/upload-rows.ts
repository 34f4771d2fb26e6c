import { AppError, type ErrorCode } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { ConnectionOwner } from '../storage/connection-queue.ts';
import type { Location, Measured, ProviderName } from './stored-object.ts';
import { ownerColumns, type UploadOwner } from './upload-owner.ts';
import { missingUpload } from './upload-problems.ts';

/** How long the link of a direct upload takes bytes, in milliseconds. */
export const uploadLinkMs = 3_600_000;

/** How bytes come in: in the request that needs them, straight to the provider, or in pieces that can be resumed. */
type UploadRoute = 'multipart' | 'direct' | 'resumable';

/**
 * `receiving`: bytes come in; `arrived`: they are being checked; `ready`: a record can take them; `refused`; `used`: a record has
 * taken them.
 */
export type UploadState = 'receiving' | 'arrived' | 'ready' | 'refused' | 'used';

/** Statements of the client about a file. */
export interface DeclaredFile {
  readonly name: string;
  readonly type?: string | undefined;
  readonly sizeBytes?: number | undefined;
  /** In hexadecimal digits. */
  readonly sha256?: string;
}

export interface NewUpload {
  readonly route: UploadRoute;
  readonly owner: UploadOwner;
  /** The field that the file is meant for (`UploadPurpose`). */
  readonly purpose?: string;
  readonly declared: DeclaredFile;
  readonly location: Location;
  readonly at: Date;
  readonly expiresAt: Date;
  /** Bytes that the owner may have uploaded without a record that uses them, these included; undefined: any number. */
  readonly maxUnusedBytes?: number;
}

/** A part of a resumable upload that is stored at the provider. */
export interface UploadedPart {
  readonly number: number;
  readonly size: number;
  readonly tag: string;
}

export interface UploadProgress {
  /** Bytes that are stored, the tail included. */
  readonly received: number;
  /** Bytes that do not fill a part yet. */
  readonly tailBytes: number;
  /** Parts stored since the last time. */
  readonly parts: readonly UploadedPart[];
  /** See `PartsRef` of the provider. */
  readonly partsRef?: Readonly<Record<string, string | number>>;
}

/** An upload as its owner finds it. */
export interface Upload {
  readonly id: string;
  readonly route: UploadRoute;
  readonly state: UploadState;
  readonly declared: DeclaredFile;
  readonly problem: { readonly code: ErrorCode; readonly message: string } | null;
  readonly location: Location;
  readonly partsRef: Readonly<Record<string, string | number>> | null;
  readonly received: number;
  readonly tailBytes: number;
  readonly parts: readonly UploadedPart[];
  readonly name: string;
  readonly expiresAt: Date;
}

/** The functions of the database that uploads need; their parameter is one JSON document. */
export type UploadFunction =
  | 'begin_upload'
  | 'finish_upload'
  | 'refuse_upload'
  | 'find_upload'
  | 'take_writer'
  | 'save_parts'
  | 'arrive_upload';

/** The part of the database that is needed here. */
interface FunctionCaller {
  call<Result>(
    name: UploadFunction,
    document: Readonly<Record<string, unknown>>,
    deadline: number,
    owner: ConnectionOwner,
  ): Promise<Result>;
}

/** Maximum duration of a statement about an upload, in milliseconds: bytes flow meanwhile, so no request's deadline applies. */
const statementTimeoutMs = 15_000;

/**
 * Rows of uploads. Each method is one statement outside any transaction, and holds no connection afterwards. A row exists before the
 * first byte is stored, so no bytes exist of which no row knows.
 */
export class UploadRows {
  readonly #database: FunctionCaller;

  constructor(database: FunctionCaller) {
    this.#database = database;
  }

  /** @throws AppError limit_exceeded */
  async begin({ route, owner, purpose, declared, location, at, expiresAt, maxUnusedBytes }: NewUpload): Promise<{
    readonly uploadId: string;
    readonly objectId: string;
  }> {
    const [uploadId, objectId] = [newId(), newId()];
    await this.#call('begin_upload', owner, {
      id: uploadId,
      object_id: objectId,
      route,
      ...ownerColumns(owner),
      purpose: purpose ?? null,
      declared,
      name: declared.name,
      ...location,
      at,
      expires_at: expiresAt,
      max_unused_bytes: maxUnusedBytes ?? null,
    });
    return { uploadId, objectId };
  }

  /**
   * The bytes are durable and measured. Repeating it changes nothing.
   * @throws AppError not_found for an upload of somebody else, and one that has expired or was given up
   */
  async finish(
    uploadId: string,
    owner: UploadOwner,
    measured: Measured & { readonly version: string },
    at: Date,
  ): Promise<void> {
    const { sizeBytes, sha256, contentType, version } = measured;
    const state = await this.#call<UploadState | null>('finish_upload', owner, {
      id: uploadId,
      ...ownerColumns(owner),
      size_bytes: sizeBytes,
      sha256: sha256.toString('hex'),
      content_type: contentType,
      version,
      at,
    });
    if (state !== 'ready' && state !== 'used') throw missingUpload(uploadId);
  }

  /** The bytes are not wanted: they are removed with the next sweep. An upload that a record has taken stays. */
  async refuse(
    uploadId: string,
    owner: UploadOwner,
    { code, message }: Pick<AppError, 'code' | 'message'>,
    at: Date,
  ): Promise<void> {
    await this.#call('refuse_upload', owner, { id: uploadId, ...ownerColumns(owner), problem: { code, message }, at });
  }

  /** @returns undefined for an upload of somebody else, one that has expired, and one that a record has taken */
  async find(uploadId: string, owner: UploadOwner, at: Date): Promise<Upload | undefined> {
    const found = await this.#call<FoundUpload | null>('find_upload', owner, {
      id: uploadId,
      ...ownerColumns(owner),
      at,
    });
    return found === null ? undefined : uploadOf(found);
  }

  /**
   * Lets one request write to a resumable upload until a time. The same writer repeats it to have more time.
   * @returns false when somebody else writes, or the upload takes no more bytes (`find` says which)
   */
  takeWriter(uploadId: string, owner: UploadOwner, writer: string, until: Date, at: Date): Promise<boolean> {
    return this.#call('take_writer', owner, { id: uploadId, ...ownerColumns(owner), writer, until, at });
  }

  /**
   * Records what the writer has stored.
   * @param until undefined: the writer leaves
   * @throws AppError upload_busy when its time ended and somebody else writes; nothing is recorded then
   */
  async saveParts(
    uploadId: string,
    owner: UploadOwner,
    writer: string,
    progress: UploadProgress,
    until?: Date,
  ): Promise<void> {
    const { received, tailBytes, parts, partsRef } = progress;
    const isWriter = await this.#call<boolean>('save_parts', owner, {
      id: uploadId,
      ...ownerColumns(owner),
      writer,
      received,
      tail_bytes: tailBytes,
      parts,
      parts_ref: partsRef ?? null,
      until: until ?? null,
    });
    if (!isWriter)
      throw new AppError(
        'upload_busy',
        `Another request is writing to the upload "${uploadId}". Send HEAD for its offset, then continue there.`,
        {
          details: { retryAfterSeconds: 1 },
        },
      );
  }

  /** All bytes are there; they are checked next. @throws AppError not_found */
  async arrive(uploadId: string, owner: UploadOwner, at: Date): Promise<UploadState> {
    const state = await this.#call<UploadState | null>('arrive_upload', owner, {
      id: uploadId,
      ...ownerColumns(owner),
      at,
    });
    if (state === null) throw missingUpload(uploadId);
    return state;
  }

  /** @param owner those who wait for a connection take turns by organization */
  #call<Result>(
    name: UploadFunction,
    owner: UploadOwner,
    document: Readonly<Record<string, unknown>>,
  ): Promise<Result> {
    const connection = { role: 'app', organizationId: owner.organizationId, userId: null } as const;
    return this.#database.call<Result>(name, document, Date.now() + statementTimeoutMs, connection);
  }
}

interface FoundUpload {
  readonly id: string;
  readonly route: UploadRoute;
  readonly state: UploadState;
  readonly declared: DeclaredFile;
  readonly problem: Upload['problem'];
  readonly parts_ref: Upload['partsRef'];
  readonly received: number;
  readonly tail_bytes: number;
  readonly expires_at: string;
  readonly provider: ProviderName;
  readonly bucket: string;
  readonly region: string;
  readonly key: string;
  readonly name: string;
  readonly parts: readonly UploadedPart[];
}

function uploadOf(found: FoundUpload): Upload {
  const { id, route, state, declared, problem, received, parts, name, provider, bucket, region, key } = found;
  return {
    id,
    route,
    state,
    declared,
    problem,
    location: { provider, bucket, region, key },
    partsRef: found.parts_ref,
    received,
    tailBytes: found.tail_bytes,
    parts,
    name,
    expiresAt: new Date(found.expires_at),
  };
}
