import type * as S3 from '@aws-sdk/client-s3';
import type { LoadedS3, ObjectAt } from './s3-requests.ts';

interface KeysOfBucket {
  readonly Bucket: string;
  readonly Prefix: string;
}

/**
 * Gives up all uploads in parts of one key. No listing of objects shows their parts, and a process that was killed in the middle of an
 * upload has left no note of its id.
 */
export async function abortUploadsOf(loaded: LoadedS3, { Bucket, Key }: ObjectAt): Promise<void> {
  for await (const uploads of pagesOf(loaded, { Bucket, Prefix: Key })) {
    // Longer keys that begin with this one come after it.
    const own = uploads.filter((upload) => upload.Key === Key);
    await abort(loaded, Bucket, own);
    if (own.length < uploads.length) return;
  }
}

/** Gives up uploads in parts of all keys with a prefix that began before a moment. */
export async function abortUploadsBefore(loaded: LoadedS3, keys: KeysOfBucket, before: Date): Promise<void> {
  for await (const uploads of pagesOf(loaded, keys))
    await abort(
      loaded,
      keys.Bucket,
      uploads.filter(({ Initiated }) => Initiated !== undefined && Initiated < before),
    );
}

async function* pagesOf({ s3, client }: LoadedS3, keys: KeysOfBucket): AsyncGenerator<readonly S3.MultipartUpload[]> {
  let next: { readonly KeyMarker?: string | undefined; readonly UploadIdMarker?: string | undefined } | undefined = {};
  while (next) {
    const page: S3.ListMultipartUploadsCommandOutput = await client.send(
      new s3.ListMultipartUploadsCommand({ ...keys, ...next }),
    );
    const { Uploads = [], IsTruncated, NextKeyMarker, NextUploadIdMarker } = page;
    yield Uploads;
    next =
      IsTruncated && Uploads.length > 0 ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker } : undefined;
  }
}

async function abort(
  { s3, client }: LoadedS3,
  Bucket: string,
  uploads: readonly Pick<S3.MultipartUpload, 'Key' | 'UploadId'>[],
): Promise<void> {
  for (const { Key, UploadId } of uploads)
    await client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((error: unknown) => {
      // It was finished or given up meanwhile.
      if ((error as Error).name !== 'NoSuchUpload') throw error;
    });
}
