import { workContext } from '../clients/temporal/work-origin.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import type { CallerSettings } from '#entities/automation/approvals/caller-of-submitter.ts';
import { reasonOfInstance } from '#entities/automation/matching/instance-actor.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

export type AutomationDependencies = Pick<
  ActivityDependencies,
  'config' | 'contextOfCallers' | 'database' | 'expressions' | 'logger' | 'wakeRelays'
>;

export interface InstanceReference {
  readonly instanceId: string;
  readonly organizationId: string;
  /** Id of the request that caused the change; that of the instance when left out. */
  readonly requestId?: string;
}

/** A transaction of an instance, in its organization. */
export function inInstance<T>(
  { database }: Pick<AutomationDependencies, 'database'>,
  { instanceId, organizationId, requestId = `workflow-${instanceId}` }: InstanceReference,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const reason = reasonOfInstance(instanceId);
  return database.transact(workContext(systemCaller(reason, organizationId), requestId), work);
}

/** Settings on which the rights of those depend for whom an instance acts. */
export function callerSettings({ config, contextOfCallers }: AutomationDependencies): CallerSettings {
  return { contextOfCallers, tokenSettings: () => config.current.auth.token.apitokens };
}
