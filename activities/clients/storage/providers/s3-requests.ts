import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { addAbortSignal, type Readable } from 'node:stream';
import type * as S3 from '@aws-sdk/client-s3';
import type { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { piecesOf, readBody } from '../receiving/part-body.ts';
import { StorageError, type PartBody, type StorageFailure, type WriteOptions } from '../provider.ts';

/** Where a bucket service is, and with which credentials it is used. */
export interface S3Service {
  readonly region: string;
  /** Empty: the public service of the region. */
  readonly endpoint: string;
  /** Both empty: the credentials of the machine. */
  readonly credentials: { readonly accesskeyid: string; readonly secretaccesskey: string };
}

/** The package, which is loaded only where a bucket service is used, and a client of the service with its connections. */
export interface LoadedS3 {
  readonly s3: typeof S3;
  readonly client: S3Client;
  readonly agents: readonly Agent[];
}

/** A place in a bucket as commands name it. */
export interface ObjectAt {
  readonly Bucket: string;
  readonly Key: string;
}

/** Milliseconds until a connection is made, and in which a connection in use transfers nothing. */
const connectTimeoutMs = 5_000;
const idleTimeoutMs = 60_000;

/** Each download that is under way has a connection. */
const maxSockets = 1_000;

/** Reads nothing but headers are repeated here; bodies are repeated by those who hold the bytes. */
const maxAttempts = 3;

const ignore = () => {};

/** A client of the service. The package is loaded only where a bucket service is used. */
export async function openClient({ region, endpoint, credentials }: S3Service): Promise<LoadedS3> {
  const s3 = await import('@aws-sdk/client-s3');
  const { accesskeyid: accessKeyId, secretaccesskey: secretAccessKey } = credentials;
  const httpAgent = new Agent({ keepAlive: true, maxSockets });
  const httpsAgent = new SecureAgent({ keepAlive: true, maxSockets });
  const client = new s3.S3Client({
    region,
    ...(endpoint === '' ? {} : { endpoint, forcePathStyle: true }),
    ...(accessKeyId === '' ? {} : { credentials: { accessKeyId, secretAccessKey } }),
    // Compatible services reject or ignore the checksums that the client would add by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The client would open a connection of its own for each request that asks first, which is every part.
    expectContinueHeader: false,
    maxAttempts,
    // The errors that it throws contain the text that it would print.
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      socketTimeout: idleTimeoutMs,
      httpAgent,
      httpsAgent,
    },
  });
  return { s3, client, agents: [httpAgent, httpsAgent] };
}

/** Ends the connections of a client that nobody uses, and lets go of each of the others after its request. */
export function closeClient({ agents }: LoadedS3): void {
  for (const agent of agents) {
    agent.maxFreeSockets = 0;
    for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
  }
}

/** A body with its hash, which is signed: the service refuses other bytes than these. */
export async function signedBody(
  body: PartBody,
  options: WriteOptions,
): Promise<{ readonly stream: Readable; readonly sha256: string }> {
  const hash = createHash('sha256');
  if ('file' in body) for await (const piece of piecesOf(body, options, { reuses: true })) hash.update(piece);
  else for (const piece of body) hash.update(piece);
  return { stream: readBody(body, options), sha256: hash.digest('hex') };
}

/** Adds the hash of the body to a request, in place of the one that the client would take. */
export function withHash(command: { middlewareStack: { add: (...args: never[]) => void } }, sha256: string): void {
  const add = command.middlewareStack.add as unknown as (
    middleware: (next: (args: BuildArguments) => unknown) => (args: BuildArguments) => unknown,
    options: { readonly step: 'build' },
  ) => void;
  add.call(
    command.middlewareStack,
    (next) => (args) => {
      args.request.headers['x-amz-content-sha256'] = sha256;
      return next(args);
    },
    { step: 'build' },
  );
}

interface BuildArguments {
  readonly request: { readonly headers: Record<string, string> };
}

/** Failures by the code of the service; an object without a body in its error has the status only. */
const failures: Readonly<Record<string, StorageFailure>> = {
  NoSuchKey: 'missing',
  NotFound: 'missing',
  NoSuchUpload: 'missing',
  PreconditionFailed: 'changed',
  InvalidRange: 'broken',
  InvalidPart: 'broken',
  EntityTooSmall: 'broken',
  QuotaExceeded: 'full',
  XMinioStorageFull: 'full',
};
const failuresByStatus: Readonly<Record<number, StorageFailure>> = { 412: 'changed', 507: 'full' };

export interface TranslationOptions {
  /** Of whoever gives up: the error stays as it is then. */
  readonly signal?: AbortSignal | undefined;
  /** Meaning of a bucket that does not exist: for reading and deleting, that the object does not exist. */
  readonly withoutBucket?: StorageFailure;
}

/** Errors of the service and of the connection become those of storage. @param doing for operators */
export async function translated<T>(
  doing: string,
  work: () => Promise<T>,
  { signal, withoutBucket = 'unavailable' }: TranslationOptions = {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageError || signal?.aborted) throw error;
    const { name, $metadata } = error as Partial<S3ServiceException>;
    const status = $metadata?.httpStatusCode;
    const failure =
      name === 'NoSuchBucket'
        ? withoutBucket
        : (failures[name ?? ''] ?? failuresByStatus[status ?? 0] ?? 'unavailable');
    const code = (error as NodeJS.ErrnoException).code ?? name ?? 'unknown error';
    throw new StorageError(failure, `${doing}: ${code}${status === undefined ? '' : ` (${status})`}`, {
      cause: error,
    });
  }
}

/** Options of a request that whoever waits for it can end. */
export function endable(signal: AbortSignal | undefined): { readonly abortSignal?: AbortSignal } {
  return signal ? { abortSignal: signal } : {};
}

/** Ends a stream whose reader gives up. */
export function endedBy(stream: Readable, signal: AbortSignal | undefined): Readable {
  return signal ? addAbortSignal(signal, stream) : stream;
}

/** ETags are compared without the quotes with which the header has them. */
export function versionOf(etag: string | undefined, key: string): string {
  if (etag) return etag.replaceAll('"', '');
  throw new StorageError('broken', `The service named no ETag of ${key}.`);
}
