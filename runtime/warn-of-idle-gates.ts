import type { Logger } from 'pino';
import type { ConfigStore } from '#config/live/config-store.ts';
import { countGatedOrganizations } from '#entities/automation/gate-rows.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';

/** Logs that published definitions hold nothing because workflows are switched off (`workflows.enabled`). */
export async function warnOfIdleGates(
  { config, database }: { readonly config: ConfigStore; readonly database: Database },
  logger: Logger,
): Promise<void> {
  if (config.current.workflows.enabled) return;
  const context = { caller: systemCaller('find idle gates'), requestId: `start-${newId()}`, readOnly: true };
  const organizations = await database.transact(context, countGatedOrganizations);
  if (organizations > 0)
    logger.warn(
      { organizations },
      'workflows.enabled is off: changes that published definitions should hold until they are approved are written at once',
    );
}
