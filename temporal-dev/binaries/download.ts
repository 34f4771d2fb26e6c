import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { Agent, get as httpsGet } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { Variables } from '../machine/stack-environment.ts';
import { codeOf, messageOf, StackError } from '../machine/stack-error.ts';

export interface DownloadOptions {
  /** `HTTPS_PROXY` and `NO_PROXY` are honoured. */
  variables: Variables;
  /** Called with the share that has arrived, for example `45 % of 43 MB`. */
  onProgress: (text: string) => void;
  signal?: AbortSignal | undefined;
  /** A server that has not begun to answer by then is taken for unreachable, ms. */
  answerTimeoutMs?: number;
  /** A download that stalls for longer is given up, ms. */
  stallTimeoutMs?: number;
}

const MAX_REDIRECTS = 5;

/**
 * Downloads to `file` and checks length and SHA-256. Throws a StackError when the host cannot be reached, answers with an
 * error, breaks off, or sends something else than what is pinned; the file is then the caller's to remove.
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
    throw new StackError(`${url.host} broke off after ${megabytes(bytes)} (${messageOf(error)})`, { cause: error });
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
    // The official hosts are https only; plain http serves the tests, and the checksum holds either way.
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
