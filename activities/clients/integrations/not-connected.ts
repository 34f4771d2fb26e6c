import type { Integration } from '#entities/integrations/connections/stored-credential.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';

/** Remedy of a status, as the end of a sentence. */
const remedies: Readonly<Record<Integration['status'], string>> = {
  pending: 'connect it first',
  connected: 'it has no definition any more',
  errored: 'connect it again',
  disabled: 'its organization has to pay first',
  disconnecting: 'wait until it is disconnected, then connect a new one',
  disconnected: 'connect it again',
};

/** The error for an installation that has to be connected first, or cannot be. @param row undefined for one that was deleted */
export function notConnected(row: Pick<Integration, 'name' | 'status'> | undefined): AppError {
  return new AppError(
    'integration_not_connected',
    row
      ? `The integration "${row.name}" is ${row.status}: ${remedies[row.status]}.`
      : 'The integration no longer exists. Connect a new one.',
  );
}

/** Whether the error says that there is nothing to use: no credential, or no definition that the operator offers. */
export function isNotConnected(error: unknown): boolean {
  return isAppError(error) && (error.code === 'integration_not_connected' || error.code === 'not_found');
}
