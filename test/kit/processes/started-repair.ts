import type { RepairDeliveriesInput, RepairSelection } from '#workflows/events/repair-deliveries.contract.ts';
import type { World } from '../world.ts';

/** Properties of a repair that a test sets; the others have defaults. */
interface RepairInput extends Partial<Omit<RepairDeliveriesInput, 'queue' | 'selection'>> {
  readonly selection: Partial<RepairSelection>;
}

/** Starts a repair of deliveries as nothing in the product does: with few pages for each run. @param name id of the workflow */
export async function startRepair({ name: prefix, runtime, clock }: World, name: string, input: RepairInput) {
  const { temporal } = runtime;
  return temporal.client.workflow.start('repairDeliveries', {
    taskQueue: temporal.taskQueue('workflows'),
    workflowId: `${prefix}/${name}`,
    args: [
      {
        queue: temporal.activityQueue('events'),
        repairId: name,
        operation: 'retry',
        asked: { operator: 'somebody', reason: 'a test' },
        isDryRun: false,
        perSecond: 1,
        ...input,
        selection: { states: ['failing'], until: clock.now().toISOString(), ...input.selection },
      },
    ],
  });
}
