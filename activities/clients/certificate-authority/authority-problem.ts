import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import { shortened } from '#entities/kit/base/shortened.ts';

interface Details {
  /** Type of the refusal (RFC 8555, section 6.7), without its prefix. */
  readonly type?: string;
  /** The authority did not answer, or says itself that it cannot at the moment. */
  readonly isTemporary?: boolean;
  /** The pause that it asks for. */
  readonly retryAfterMs?: number | undefined;
}

/** Why a certificate authority gave no certificate: the message continues a sentence that begins with the authority. */
export class AuthorityProblem extends Error {
  override readonly name = 'AuthorityProblem';
  readonly type: string | undefined;
  readonly isTemporary: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: Details = {}) {
    super(message);
    this.type = details.type;
    this.isTemporary = details.isTemporary ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
}

const prefix = 'urn:ietf:params:acme:error:';

const maxDetail = 400;

/** Problem that the library handles by itself. */
const handled = 'badNonce';

/** An answer, as the library's client for HTTP has it. */
interface Answer {
  readonly status: number;
  readonly data: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
}

export function refusalIn({ status, data, headers }: Answer): AuthorityProblem | undefined {
  if (status < 400) return undefined;
  const { type, detail } = (typeof data === 'object' ? (data ?? {}) : {}) as { type?: unknown; detail?: unknown };
  const name = typeof type === 'string' && type.startsWith(prefix) ? type.slice(prefix.length) : undefined;
  if (name === handled) return undefined;
  const said = typeof detail === 'string' ? `: ${oneLine(detail)}` : '';
  const wait = headers['retry-after'];
  return new AuthorityProblem(`answers ${status}${name === undefined ? '' : ` ${name}`}${said}`, {
    ...(name === undefined ? {} : { type: name }),
    isTemporary: status >= 500,
    retryAfterMs: retryAfterMs(typeof wait === 'string' ? wait : undefined, new Date()),
  });
}

/**
 * Errors of the library and of the network as problems of the authority. They are made anew: those of the network contain the signed
 * request.
 */
export function problemOf(error: unknown): Error {
  if (error instanceof AuthorityProblem) return error;
  const { isAxiosError, code, message } = error as Error & { readonly isAxiosError?: boolean; readonly code?: string };
  if (isAxiosError) return new AuthorityProblem(`does not answer (${oneLine(code ?? message)})`, { isTemporary: true });
  return new AuthorityProblem(`gives no certificate: ${oneLine(message)}`);
}

/** Text of another system, as part of a line of the log. */
function oneLine(text: string): string {
  return shortened(text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' '), maxDetail);
}
