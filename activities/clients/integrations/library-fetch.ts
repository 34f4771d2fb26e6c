import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import type { OpeningContext } from './definition.ts';
import { parseExactly } from './exact-json.ts';
import { errorOfStatus, invalidAnswer } from './provider-answer.ts';
import { ProviderError } from './provider-error.ts';

/** Error for an answer that is no success; undefined: by its status. */
export type ErrorOfAnswer = (
  response: Response,
  pauseMs: number | undefined,
  now: Date,
) => ProviderError | undefined | Promise<ProviderError | undefined>;

type LibraryFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` for the library of a provider. An answer that is no success or no JSON is an error before the library has seen it, so that it neither
 * tries again nor puts the answer into an error of its own; ids keep all their digits.
 * @throws ProviderError
 */
export function libraryFetch(
  { http, now }: Pick<OpeningContext, 'http' | 'now'>,
  errorOf: ErrorOfAnswer = () => undefined,
): LibraryFetch {
  return async (url, { method, headers, body } = {}) => {
    const response = await http.fetch(url, {
      ...(method ? { method } : {}),
      ...(headers ? { headers } : {}),
      ...(body ? { body } : {}),
    });
    const { status } = response;
    if (status < 200 || status >= 300) {
      const pauseMs = retryAfterMs(response.headers.get('retry-after'), now());
      throw (await errorOf(response, pauseMs, now())) ?? errorOfStatus(status, pauseMs);
    }
    if (status === 204) return response;
    return new Response(exactText(await response.text()), { status, headers: jsonHeaders(response) });
  };
}

/**
 * Runs a call of a library, which wraps what its `fetch` throws. Its own errors have parts of the answer, so they are not kept.
 * @param translated the error for one of the library; undefined: what it got cannot be understood
 * @throws ProviderError
 */
export async function withLibrary<T>(
  work: () => Promise<T>,
  translated: (error: unknown) => ProviderError | undefined = () => undefined,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw providerErrorIn(error) ?? translated(error) ?? invalidAnswer('the library of its interface refuses it');
  }
}

function providerErrorIn(error: unknown): ProviderError | undefined {
  for (let one = error; one instanceof Error; one = (one as { readonly original?: unknown }).original ?? one.cause)
    if (one instanceof ProviderError) return one;
  return undefined;
}

function exactText(text: string): string {
  try {
    return JSON.stringify(parseExactly(text));
  } catch {
    // Its message would repeat the beginning of the answer.
    throw invalidAnswer('its answer is not JSON');
  }
}

/** Of the answer, without what says how its bytes were written. */
function jsonHeaders({ headers }: Response): Headers {
  const kept = new Headers(headers);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) kept.delete(name);
  kept.set('content-type', 'application/json; charset=utf-8');
  return kept;
}
