import { instancesOfShared, type SharedKind } from '#entities/automation/asked-people-rows.ts';
import { automatedKinds } from '#entities/automation/document/automated-kinds.ts';
import { registry } from '#entities/index.ts';
import { shareKindOf } from '#entities/kit/model/derived/share.ts';
import { runWorkflowInstanceContract } from '#workflows/automation/run-workflow-instance.contract.ts';
import { defineListener, type Listener } from '../listener.ts';

/** Kinds with workflows whose records are shared with groups, by the topics of the shares. */
const shared: ReadonlyMap<string, SharedKind> = new Map(
  automatedKinds(registry).flatMap((module) => {
    const shares = registry.modules.find(({ kind }) => kind === shareKindOf(module));
    return shares ? ['created', 'deleted'].map((verb) => [`${shares.topic}.${verb}`, { module, shares }] as const) : [];
  }),
);

/** Wakes the workflows about a record that is shown to other groups from now on: who may decide depends on who sees it. */
export const followShares: Listener = {
  ...defineListener(
    'follow-shares',
    Array.from(shared.keys(), (topic) => ({ topic })),
    async ({ event, unit, wake }) => {
      const kind = shared.get(event.topic);
      const instances = kind ? await instancesOfShared(unit, kind, event.entityId) : [];
      for (const instance of instances) wake(runWorkflowInstanceContract, instance);
    },
  ),
  isWanted: ({ hasWorkflows }) => hasWorkflows,
};
