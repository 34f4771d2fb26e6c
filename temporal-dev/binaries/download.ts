import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { Agent, get as httpsGet } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { Variables } from '../machine/stack-environment.ts';
import { codeOf, messageOf, StackError } from '../machine/stack-error.ts';

interface DownloadOptions {
  /** `HTTPS_PROXY` and `NO_PROXY` in these variables are used. */
  variables: Variables;
  /** Called with the progress, for example `45 % of 43 MB`. */
  onProgress: (text: string) => void;
  signal?: AbortSignal | undefined;
  /** Maximum wait for the start of the response, ms. */
  answerTimeoutMs?: number;
  /** Maximum time without new data, ms. */
  stallTimeoutMs?: number;
}

const MAX_REDIRECTS = 5;

/**
 * Downloads to `file` and checks the SHA-256. Throws a StackError when the host is unreachable, responds with an error,
 * ends the connection early, or sends a file with another checksum. The caller then deletes the file.
 */
export async function download(
  asset: { url: string; sha256: string },
  file: string,
  options: DownloadOptions,
): Promise<void> {
  const url = new URL(asset.url);
  const response = await open(url, options, 0);
  const expectedBytes = Number(response.headers['content-length'] ?? Number.NaN);
  const hash = createHash('sha256');
  let bytes = 0;
  response.setTimeout(options.stallTimeoutMs ?? 20_000, () => response.destroy(new Error('it stalled')));
  response.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    if (expectedBytes > 0)
      options.onProgress(`${Math.floor((bytes / expectedBytes) * 100)} % of ${megabytes(expectedBytes)}`);
  });
  try {
    await pipeline(response, createWriteStream(file), { signal: options.signal });
  } catch (error) {
    if (codeOf(error) === 'ENOSPC' || options.signal?.aborted === true) throw error;
    throw new StackError(`${url.host} ended the connection after ${megabytes(bytes)} (${messageOf(error)})`, {
      cause: error,
    });
  }
  const actual = hash.digest('hex');
  if (actual !== asset.sha256) {
    throw new StackError(`checksum of ${asset.url} is ${actual}, expected ${asset.sha256}: not used`);
  }
}

async function open(url: URL, options: DownloadOptions, redirects: number): Promise<IncomingMessage> {
  const response = await request(url, options);
  const { statusCode = 0, headers } = response;
  if (statusCode === 200) return response;
  response.resume();
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined && redirects < MAX_REDIRECTS) {
    return await open(new URL(headers.location, url), options, redirects + 1);
  }
  throw new StackError(`${url.host} answered ${statusCode}`);
}

function request(url: URL, options: DownloadOptions): Promise<IncomingMessage> {
  const timeoutMs = options.answerTimeoutMs ?? 8000;
  return new Promise((resolve, reject) => {
    // Official hosts use https only. Plain http is for the tests; the checksum is verified in both cases.
    const outgoing =
      url.protocol === 'https:'
        ? httpsGet(url, { signal: options.signal, agent: new Agent({ proxyEnv: { ...options.variables } }) }, resolve)
        : httpGet(url, { signal: options.signal }, resolve);
    const timer = setTimeout(() => {
      outgoing.destroy(new Error(`no answer within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    outgoing.once('error', (error) => {
      clearTimeout(timer);
      if (options.signal?.aborted === true) reject(error);
      else reject(new StackError(`${url.host} cannot be reached (${messageOf(error)})`, { cause: error }));
    });
    outgoing.once('response', () => {
      clearTimeout(timer);
    });
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
