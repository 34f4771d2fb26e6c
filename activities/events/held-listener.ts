import { endDelivery, firstOpen, lockRecords } from '#entities/kit/outbox/deliveries.ts';
import {
  giveBackHeld,
  heldListeners,
  noteProbe,
  recordsToProbe,
  releaseListener,
} from '#entities/kit/outbox/listener-states.ts';
import { listenerHeldSignal, probeListenerContract } from '#workflows/events/probe-listener.contract.ts';
import { whereOf } from './deliver-record.ts';
import {
  deliverOne,
  inDeliveryTransaction,
  inListenerTransaction,
  isOutage,
  summaryOf,
  type EventDependencies,
} from './listener-transaction.ts';
import { notifyOperator } from './notify-operator.ts';

/** Events of as many organizations are tried by one probe. */
const maxTried = 5;

/** Records whose events are given back in one transaction. */
const maxGivenBack = 200;

export interface Probe {
  readonly isWorking: boolean;
  /** Error of the probe; null before the first failure. */
  readonly error: string | null;
  readonly heldSince: string | null;
}

const searchOf = (listener: string) => ({ EntityKind: 'listener', EntityId: listener });

/**
 * Starts the probes of a listener that was just held, and notifies the operator. The workflow may be giving back what waited for the
 * listener before: the signal keeps it from ending, so that it begins to probe again.
 */
export async function beginProbing(deps: EventDependencies, listener: string): Promise<void> {
  deps.logger.error({ listener }, 'a listener fails on everything; its events wait until it handles one again');
  const search = searchOf(listener);
  await deps.temporal.wake(probeListenerContract, { listener }, { signal: listenerHeldSignal, search });
  await notifyOperator(deps, listener, { message: 'listener-held', listener });
}

/** Does the same for a listener that is held since some time: whoever held it may have died before, or the workflow was terminated. */
export async function resumeProbing(deps: EventDependencies, listener: string): Promise<void> {
  await deps.temporal.start(probeListenerContract, { listener }, { repeat: 'again', search: searchOf(listener) });
  await notifyOperator(deps, listener, { message: 'listener-held', listener });
}

/**
 * Delivers the first waiting events of a few records. When one of them succeeds, or none waits, the listener is let go.
 * @throws AppError when the database or Temporal is unavailable
 */
export async function probeListener(deps: EventDependencies, name: string): Promise<Probe> {
  const held = await inDeliveryTransaction(deps, async (unit) =>
    (await heldListeners(unit)).find(({ listener }) => listener === name),
  );
  if (!held) return { isWorking: true, error: null, heldSince: null };
  const heldSince = held.heldAt.toISOString();
  const records = await inDeliveryTransaction(deps, (unit) => recordsToProbe(unit, name, maxTried));
  let error: string | null = null;
  let isWorking = records.length === 0;
  for (const entityId of records) {
    const outcome = await tryRecord(deps, name, entityId);
    if (outcome === 'delivered') isWorking = true;
    else if (outcome !== 'nothing due') error = outcome.error;
    if (isWorking) break;
  }
  await inDeliveryTransaction(deps, async (unit) => {
    await (isWorking ? releaseListener(unit, name) : noteProbe(unit, name, error));
  });
  if (isWorking) deps.logger.info({ listener: name }, 'a listener that was held handles events again');
  return { isWorking, error: error ?? held.error, heldSince };
}

/** Gives the next waiting events back to the relay. @returns how many; 0 when none is left */
export function giveBack(deps: EventDependencies, listener: string): Promise<number> {
  return inDeliveryTransaction(deps, (unit) => giveBackHeld(unit, listener, maxGivenBack));
}

async function tryRecord(
  deps: EventDependencies,
  name: string,
  entityId: string,
): Promise<'delivered' | 'nothing due' | { readonly error: string }> {
  const listener = deps.listeners.find((candidate) => candidate.name === name);
  if (!listener) return { error: 'this release has no such listener' };
  const open = await inDeliveryTransaction(deps, (unit) => firstOpen(unit, name, entityId));
  if (open?.state !== 'held') return 'nothing due';
  const { event } = open;
  const key = { eventId: event.id, occurredAt: event.occurredAt, listener: name };
  try {
    return await inListenerTransaction(deps, listener, event.organizationId, async (unit, starts) => {
      await lockRecords(unit, name, [entityId]);
      const current = await firstOpen(unit, name, entityId);
      if (current?.state !== 'held' || current.event.id !== event.id) return 'nothing due';
      await deliverOne(deps, unit, listener, event, starts);
      await starts.run();
      await endDelivery(unit, key, 'done');
      return 'delivered';
    });
  } catch (error) {
    if (isOutage(error)) throw error;
    deps.logger.warn({ err: error, ...whereOf(listener, event) }, 'a listener that is held still fails');
    return { error: summaryOf(error) };
  }
}
