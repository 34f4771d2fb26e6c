import { newId } from '#entities/kit/base/ids.ts';
import type { World } from '../world.ts';
import { announce, notingListener, storedDeliveries, type NotingListener } from './event-fixtures.ts';
import { eventually } from '../eventually.ts';
import { waitForRuns } from '../runs.ts';

/** A listener that fails on chosen records until they are mended. */
export interface FragileListener extends NotingListener {
  /** Records it fails on. */
  readonly broken: Set<string>;
  /** Attempts by record. */
  readonly attempts: Map<string, number>;
}

export function fragileListener(name: string, topic: string): FragileListener {
  const broken = new Set<string>();
  const attempts = new Map<string, number>();
  const listener = notingListener(name, [topic], ({ event }) => {
    attempts.set(event.entityId, (attempts.get(event.entityId) ?? 0) + 1);
    if (broken.has(event.entityId)) throw new Error('broken');
  });
  return { ...listener, broken, attempts };
}

/** Waits until the workflow of a delivery has made all its attempts, so that what is mended afterwards is not tried before somebody asks. */
export function untilWaiting({ runtime }: Pick<World, 'runtime'>, workflowId: string): Promise<unknown> {
  const handle = runtime.temporal.client.workflow.getHandle(workflowId);
  return eventually(async () =>
    (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails?.includes(
      'Waiting for an operator',
    ),
  );
}

/** A record whose first event fails, with its workflow as the operator has it. */
export async function failingRecord(world: World, { name, topics, broken }: FragileListener) {
  const entityId = newId();
  const announceVersion = (recordVersion: number) =>
    announce(world, [{ topic: topics[0] as string, entityId, recordVersion }]);
  broken.add(entityId);
  await announceVersion(1);
  const [run] = await waitForRuns(world, `EntityId = "${entityId}" AND WorkflowType = "deliverEvent"`, 1);
  const handle = world.runtime.temporal.client.workflow.getHandle(`${world.name}/${run?.id}`);
  return {
    entityId,
    handle,
    announceVersion,
    mend: () => broken.delete(entityId),
    /** States of the record's deliveries, in the order of its events. */
    states: async () => (await storedDeliveries(world, name, entityId)).map((delivery) => delivery.state),
    /** Details of the run in the UI of Temporal. */
    details: async () =>
      (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails ?? '',
    /** Waits until the workflow has given up and says so. */
    isWaiting: () => untilWaiting(world, handle.workflowId),
  };
}
