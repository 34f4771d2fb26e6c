import { skipHeld, takeForRepair, type TakenDelivery } from '#entities/kit/outbox/delivery-repairs.ts';
import {
  deliverEventContract,
  retryDeliverySignal,
  searchOfDelivery,
  skipDeliverySignal,
} from '#workflows/events/deliver-event.contract.ts';
import type { RepairDeliveriesInput, RepairPosition } from '#workflows/events/repair-deliveries.contract.ts';
import { inputOf } from './delivery-input.ts';
import { inDeliveryTransaction, type EventDependencies } from './listener-transaction.ts';

export interface RepairedPage extends Pick<RepairDeliveriesInput, 'repairId' | 'operation'> {
  readonly positions: readonly RepairPosition[];
  readonly states: RepairDeliveriesInput['selection']['states'];
}

const signals = { retry: retryDeliverySignal, skip: skipDeliverySignal } as const;

/**
 * Gives the workflows of these deliveries the command of an operator. A workflow that was terminated begins again with it. It may run
 * again: what was taken by an earlier attempt gets the command once more, unless the delivery has ended.
 * @returns how many deliveries were taken
 */
export async function repairPage(
  deps: EventDependencies,
  { repairId, operation, positions, states }: RepairedPage,
): Promise<number> {
  const taken = await inDeliveryTransaction(deps, (unit) => takeForRepair(unit, repairId, positions, states));
  for (const delivery of taken) {
    if (delivery.state === 'failing') await command(deps, operation, delivery);
    // Nothing works on it: a retry begins with the failing delivery before it.
    else if (delivery.state === 'held' && operation === 'skip')
      await inDeliveryTransaction(deps, (unit) => skipHeld(unit, delivery));
  }
  deps.logger.info({ repair_id: repairId, operation, deliveries: taken.length }, 'an operator repairs deliveries');
  return taken.length;
}

async function command(
  deps: EventDependencies,
  operation: RepairedPage['operation'],
  { event, listener }: TakenDelivery,
): Promise<void> {
  const input = inputOf(event, listener, deps);
  await deps.temporal.wake(deliverEventContract, input, {
    signal: signals[operation],
    search: searchOfDelivery(input),
  });
}
