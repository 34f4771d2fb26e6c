import type * as S3 from '@aws-sdk/client-s3';
import type { LoadedS3, ObjectAt } from './s3-requests.ts';

/**
 * Gives up all uploads in parts of one key. No listing of objects shows their parts, and a process that was killed in the middle of an
 * upload has left no note of its id.
 */
export async function abortUploadsOf({ s3, client }: LoadedS3, { Bucket, Key }: ObjectAt): Promise<void> {
  let next: { readonly KeyMarker?: string | undefined; readonly UploadIdMarker?: string | undefined } | undefined = {};
  while (next) {
    const page: S3.ListMultipartUploadsCommandOutput = await client.send(
      new s3.ListMultipartUploadsCommand({ Bucket, Prefix: Key, ...next }),
    );
    const { Uploads = [], IsTruncated, NextKeyMarker, NextUploadIdMarker } = page;
    // Longer keys that begin with this one come after it.
    const own = Uploads.filter((upload) => upload.Key === Key);
    for (const { UploadId } of own)
      await client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((error: unknown) => {
        // It was finished or given up meanwhile.
        if ((error as Error).name !== 'NoSuchUpload') throw error;
      });
    const hasMore = IsTruncated && own.length > 0 && own.length === Uploads.length;
    next = hasMore ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker } : undefined;
  }
}
