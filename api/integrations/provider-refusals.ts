import { ProviderError, type ProviderErrorCode } from '#activities/clients/integrations/provider-error.ts';
import { AppError } from '#entities/kit/base/errors.ts';

/** Pause until a caller tries again, in seconds, unless the other system names another one. */
const usualPauseS = 30;

const unavailable: ReadonlySet<ProviderErrorCode> = new Set(['rate_limited', 'unavailable']);

/** Asks another system on behalf of a request, whose errors become ours. @throws AppError integration_unavailable, integration_refused */
export async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ProviderError ? refusalOf(error) : error;
  }
}

/** Of a request only its caller makes another attempt. */
const ownAttempts = /\bThe server tries again by itself\b/g;

function refusalOf(error: ProviderError): AppError {
  const { code, retryAfterMs } = error;
  const message = error.message.replaceAll(ownAttempts, 'Try again');
  if (!unavailable.has(code)) return new AppError('integration_refused', message, { cause: error });
  const retryAfterSeconds = retryAfterMs === undefined ? usualPauseS : Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new AppError('integration_unavailable', message, { details: { retryAfterSeconds }, cause: error });
}
