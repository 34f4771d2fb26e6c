import type { File, Storage } from '@google-cloud/storage';
import type { DirectUpload, LinkPresentation } from '../provider.ts';

/** How the credentials of the environment sign links: with their private key, with a request to the platform, or not at all. */
export type Signing = 'key' | 'request' | 'none';

/**
 * It may ask the environment which credentials it has, so it is not to be called for each link.
 * @throws Error when there are none, or they cannot be read
 */
export async function signingOf({ authClient }: Storage): Promise<Signing> {
  const client = await authClient.getClient();
  return typeof (client as { readonly key?: unknown }).key === 'string' ? 'key' : 'request';
}

/** Signer in place of a private key (IAM Credentials API, `signBlob`); an emulator has it at its own address. */
function signingEndpoint(endpoint: string): { readonly signingEndpoint?: string } {
  return endpoint === '' ? {} : { signingEndpoint: `${endpoint}/v1/projects/-/serviceAccounts/` };
}

export async function signGet(
  file: File,
  { expiresInSeconds, contentType, disposition }: LinkPresentation,
  endpoint: string,
): Promise<string> {
  const [url] = await file.getSignedUrl({
    version: 'v4',
    action: 'read',
    expires: Date.now() + expiresInSeconds * 1_000,
    responseType: contentType,
    responseDisposition: disposition,
    ...signingEndpoint(endpoint),
  });
  return url;
}

export async function signPut(
  file: File,
  { expiresInSeconds, sizeBytes, contentType }: DirectUpload,
): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
  const range = { 'x-goog-content-length-range': `${sizeBytes},${sizeBytes}` };
  const [url] = await file.getSignedUrl({
    version: 'v4',
    action: 'write',
    expires: Date.now() + expiresInSeconds * 1_000,
    contentType,
    extensionHeaders: range,
  });
  return { url, headers: { 'content-type': contentType, ...range } };
}
