import type { admin_directory_v1 as directory } from '@googleapis/admin';
import type { ProviderAccount, ProviderContext } from '../definition.ts';
import { libraryFetch, withLibrary, type ErrorOfAnswer } from '../library-fetch.ts';
import { keptText } from '../oauth/kept-tokens.ts';
import { invalidAnswer, remedies } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';

const usualUrl = 'https://admin.googleapis.com';

/** Stands for the customer of whoever has signed in. */
export const ownCustomer = 'my_customer';

/** A client of the directory. The token is a header, because a client of the library would renew it by itself. */
export async function openDirectory(context: ProviderContext): Promise<directory.Admin> {
  const { admin } = await import('@googleapis/admin');
  return admin({
    version: 'directory_v1',
    rootUrl: `${context.baseUrl(usualUrl)}/`,
    headers: { authorization: `Bearer ${keptText(context.credential, 'accessToken')}` },
    fetchImplementation: libraryFetch(context, errorOfDirectory) as typeof fetch,
    // One attempt: runs repeat what failed. Without its own setting the library tries again three times.
    retry: false,
    retryConfig: { retry: 0, noResponseRetries: 0 },
  });
}

/** Runs a call, whose errors are ours. @throws ProviderError */
export async function calling<T>(work: () => Promise<{ readonly data: T }>): Promise<T> {
  const { data } = await withLibrary(work);
  if (typeof data !== 'object' || data === null) throw invalidAnswer('its answer is no object');
  return data;
}

/** The customer whose directory it is. @throws ProviderError */
export async function checkCustomer(context: ProviderContext): Promise<ProviderAccount> {
  const client = await openDirectory(context);
  const { id, customerDomain } = await calling(() => client.customers.get({ customerKey: ownCustomer }));
  if (typeof id !== 'string' || id === '') throw invalidAnswer('it does not name the customer');
  return { id, name: customerDomain ?? null };
}

/** Reasons for which the directory says 403 when it asks for a pause. */
const limits: ReadonlySet<unknown> = new Set(['quotaExceeded', 'rateLimitExceeded', 'userRateLimitExceeded']);

const errorOfDirectory: ErrorOfAnswer = async (response, pauseMs) => {
  if (response.status !== 403) return undefined;
  if (pauseMs !== undefined || limits.has(await reasonOf(response)))
    return new ProviderError(
      'rate_limited',
      `The office suite takes no requests for some time. ${remedies.rate_limited}`,
      { retryAfterMs: pauseMs },
    );
  return new ProviderError(
    'forbidden',
    'The person who connected it may not read the directory. Let an administrator of the office suite connect it, and check that the Admin SDK is enabled.',
  );
};

async function reasonOf(response: Response): Promise<unknown> {
  const document = (await response.json().catch(() => undefined)) as
    | { readonly error?: { readonly errors?: readonly ({ readonly reason?: unknown } | null)[] } }
    | null
    | undefined;
  const errors = document?.error?.errors;
  return Array.isArray(errors) ? errors[0]?.reason : undefined;
}
