import { neverConnected } from '#entities/kit/base/never-connected.ts';
import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import { SendFailure } from './transport.ts';

/** Maximum duration of one request, in milliseconds, unless a test says otherwise. */
export const providerTimeoutMs = 20_000;

interface ProviderRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

export interface ProviderAnswer {
  readonly status: number;
  /** Parsed JSON; an empty object for what is none. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The header Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/**
 * One request to a provider of e-mail, without following redirects.
 * @throws SendFailure `unsent` or `unknown` when there is no answer, or none but that the provider has failed
 */
export async function askProvider({ url, timeoutMs, ...request }: ProviderRequest): Promise<ProviderAnswer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { ...request, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    text = await response.text();
  } catch (cause) {
    throw neverConnected(cause)
      ? new SendFailure('unsent', 'The provider cannot be reached.', { cause })
      : new SendFailure('unknown', 'The provider gave no answer.', { cause });
  }
  if (response.status >= 500) throw new SendFailure('unknown', `The provider answered ${response.status}.`);
  return {
    status: response.status,
    body: parsed(text),
    retryAfterMs: retryAfterMs(response.headers.get('retry-after'), new Date(Date.now())),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
