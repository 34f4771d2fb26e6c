import type { DirectUpload, LinkPresentation } from '../provider.ts';
import type { LoadedS3, ObjectAt } from './s3-requests.ts';

/** A link with which anybody reads the object until it expires. */
export async function signGet(
  { s3, client }: LoadedS3,
  at: ObjectAt,
  { expiresInSeconds, contentType, disposition }: LinkPresentation,
): Promise<string> {
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
  const command = new s3.GetObjectCommand({
    ...at,
    ResponseContentType: contentType,
    ResponseContentDisposition: disposition,
    ResponseCacheControl: 'private, no-store',
  });
  return getSignedUrl(client, command, { expiresIn: expiresInSeconds });
}

/** A link with which anybody stores bytes of this length and type. */
export async function signPut(
  { s3, client }: LoadedS3,
  at: ObjectAt,
  { expiresInSeconds, sizeBytes, contentType }: DirectUpload,
): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
  const command = new s3.PutObjectCommand({ ...at, ContentType: contentType, ContentLength: sizeBytes });
  const url = await getSignedUrl(client, command, {
    expiresIn: expiresInSeconds,
    // Other lengths and types do not match the signature.
    signableHeaders: new Set(['content-type', 'content-length']),
  });
  return { url, headers: { 'content-type': contentType } };
}
