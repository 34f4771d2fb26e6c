import { ApplicationFailure } from '@temporalio/common';
import { ProviderError } from '../../clients/integrations/provider-error.ts';

/**
 * Runs an activity that asks another system. It is repeated when that system fails, after the pause that it asks for.
 * @throws ApplicationFailure with the sentence for people, and nothing of requests or answers
 */
export async function retriedAsAsked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { code, message, retryAfterMs = 0, isPassing } = error;
    throw ApplicationFailure.create({
      message,
      type: `provider_${code}`,
      nonRetryable: !isPassing,
      ...(retryAfterMs > 0 ? { nextRetryDelay: Math.ceil(retryAfterMs) } : {}),
    });
  }
}
