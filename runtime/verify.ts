import { isOwnTuple } from '#entities/kit/model/authorization-model.ts';
import { findInconsistencies } from '#entities/kit/write/inconsistencies.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { deliveryWorkflowId } from '#workflows/events/deliver-event.contract.ts';
import type { CoreRuntime } from './core-runtime.ts';

export interface VerifyOptions {
  /** The installation is at rest, so everything pending is reported; otherwise work younger than a minute is left out. */
  readonly isQuiet: boolean;
}

/**
 * Compares what different parts of the installation say about the same things: rows with history, events with deliveries,
 * desired tuples with the authorization store, failing deliveries with their workflows.
 * @returns one line per disagreement; none when all agree
 */
export async function verifyInstallation(
  { database, store, temporal }: CoreRuntime,
  { isQuiet }: VerifyOptions,
): Promise<string[]> {
  const graceMs = isQuiet ? 0 : 60_000;
  const found = await database.transact(
    { caller: systemCaller('verify'), requestId: `verify-${newId()}`, readOnly: true },
    (unit) => findInconsistencies(unit, graceMs),
  );
  const lines = [...found.lines];
  for (const { eventId, occurredAt, listener } of found.failing) {
    const workflowId = `${temporal.settings.prefix}/${deliveryWorkflowId({ eventId, listener })}`;
    const status = await temporal.client.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        (run) => run.status.name,
        () => 'MISSING',
      );
    if (status !== 'RUNNING')
      lines.push(
        `delivery of event ${eventId} (${occurredAt.toISOString()}) to ${listener} is failing, but its workflow ${workflowId} is ${status}`,
      );
  }
  if (store) lines.push(...(await compareTuples(found.tuples, store, database.options.registry)));
  return lines;
}

async function compareTuples(
  desired: ReadonlyMap<string, boolean | undefined>,
  store: NonNullable<CoreRuntime['store']>,
  registry: Registry,
): Promise<string[]> {
  const lines: string[] = [];
  const held = new Set<string>();
  for await (const tuple of store.tuples())
    if (isOwnTuple(registry, tuple)) held.add(`${tuple.object} ${tuple.relation} ${tuple.subject}`);
  for (const [key, present] of desired) {
    if (present && !held.has(key))
      lines.push(`tuple "${key}" is desired and applied, but not in the authorization store`);
    if (present === false && held.has(key))
      lines.push(`tuple "${key}" was revoked and applied, but is still in the authorization store`);
  }
  for (const key of held)
    if (!desired.has(key)) lines.push(`tuple "${key}" is in the authorization store, but no record grants it`);
  return lines;
}
