import {
  outboundRequest,
  OutboundError,
  type OutboundResponse,
} from '#activities/clients/outbound/outbound-request.ts';
import { AppError } from '#entities/kit/base/errors.ts';

/** Maximum duration of a request to a provider, in milliseconds, its answer included. */
export const maxRequestMs = 5_000;

/** Maximum size of a response, in bytes. */
const maxBytes = 262_144;

export interface OutgoingRules {
  /** Whether this is a development server: it may also ask servers of the same machine, over HTTP too. */
  readonly isDev: boolean;
  /** Whether private networks may be asked: the operator has named the server, not a customer. */
  readonly allowsPrivate: boolean;
}

interface OutgoingRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * Sends a request to a sign-in provider (`outboundRequest`).
 * @throws AppError provider_unavailable when there is no usable response
 */
export async function outgoingFetch(
  target: string,
  { method, headers, body }: OutgoingRequest,
  { isDev, allowsPrivate }: OutgoingRules,
  timeoutMs = maxRequestMs,
): Promise<Response> {
  // The library sends forms.
  const text = body instanceof URLSearchParams || typeof body === 'string' ? { body: String(body) } : {};
  const response = await outboundRequest(
    target,
    { method, headers, ...text },
    { reach: { loopback: isDev, private: allowsPrivate }, timeoutMs, maxBytes },
  ).catch((error: unknown) => {
    throw error instanceof OutboundError ? unavailable(error.message, error) : error;
  });
  const { status } = response;
  if (status < 200 || status >= 500 || (status >= 300 && status < 400))
    throw unavailable(`it answers with status ${status}`);
  return asFetched(response);
}

/** The error for a provider without a usable response. @param cause for operators */
export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('provider_unavailable', `The sign-in provider cannot be used: ${reason}. Try again later.`, {
    details: { retryAfterSeconds: 30 },
    cause,
  });
}

/** The response as `fetch` gives it, with the headers that the library reads. */
function asFetched({ status, headers: sent, body }: OutboundResponse): Response {
  const headers = new Headers();
  for (const name of ['content-type', 'www-authenticate'] as const) {
    const value = sent[name];
    if (value !== undefined) headers.set(name, value);
  }
  return new Response(status === 204 ? null : new Uint8Array(body), { status, headers });
}
