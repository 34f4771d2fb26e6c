import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import { ProviderError, type ProviderErrorCode } from './provider-error.ts';

const codeOfStatus: Readonly<Record<number, ProviderErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  410: 'cursor_expired',
  429: 'rate_limited',
};

/** Remedies of people for an error of a provider. */
export const remedies: Readonly<Record<ProviderErrorCode, string>> = {
  unauthorized: 'Connect the integration again.',
  forbidden: 'Grant the permissions that the integration names at the other system, then connect it again.',
  not_found: 'Check that the account still exists at the other system.',
  rate_limited: 'The server tries again by itself when the other system allows it.',
  unavailable: 'The server tries again by itself.',
  invalid_answer: 'The server tries again by itself; report it to the operator if it stays.',
  cursor_expired: 'The server begins the pass again.',
  refused: 'Check the settings of the integration.',
};

/**
 * The JSON document of an answer.
 * @throws ProviderError by the status; invalid_answer for what is no JSON
 */
export async function readAnswer(response: Response, now: Date): Promise<unknown> {
  const { status } = response;
  if (status >= 200 && status < 300) {
    const text = await response.text();
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // Its message would repeat the beginning of the answer.
      throw invalidAnswer('its answer is not JSON');
    }
  }
  const pauseMs = retryAfterMs(response.headers.get('retry-after'), now);
  throw errorOfStatus(status, pauseMs);
}

/** The error for a status that is no success. */
export function errorOfStatus(status: number, pauseMs?: number): ProviderError {
  if (status < 400) return invalidAnswer(`it answers with status ${status}`);
  const code = codeOfStatus[status] ?? (status >= 500 ? 'unavailable' : 'refused');
  const message = `The other system answers with status ${status}. ${remedies[code]}`;
  return new ProviderError(code, message, pauseMs === undefined ? {} : { retryAfterMs: pauseMs });
}

/** @param reason ends a sentence about the other system */
export function invalidAnswer(reason: string, cause?: unknown): ProviderError {
  return new ProviderError(
    'invalid_answer',
    `The other system cannot be understood: ${reason}. ${remedies.invalid_answer}`,
    { cause },
  );
}
