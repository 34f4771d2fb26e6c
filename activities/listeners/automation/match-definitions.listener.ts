import { automatedKinds, edgesOf } from '#entities/automation/document/automated-kinds.ts';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import type { ChangeFacts } from '#entities/automation/document/expression-values.ts';
import { holdsChange, publicationOf } from '#entities/automation/document/publication.ts';
import { changesOfEvent } from '#entities/automation/matching/changes-of-event.ts';
import { instanceSummary } from '#entities/automation/matching/instance-summary.ts';
import { matchChange } from '#entities/automation/matching/match-change.ts';
import { parentOf, startInstance } from '#entities/automation/matching/start-instance.ts';
import { workflowDefinition } from '#entities/automation/workflow-definition.ts';
import { workflowVersion } from '#entities/automation/workflow-version.ts';
import { registry } from '#entities/index.ts';
import type { RowOf, EntityModule } from '#entities/kit/model/define.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { runWorkflowInstanceContract } from '#workflows/automation/run-workflow-instance.contract.ts';
import { defineListener, type Delivery, type Listener } from '../listener.ts';

type Version = RowOf<typeof workflowVersion>;

/** Most versions of an organization that want events of one topic. */
const maxVersions = 1_000;

/** Topics that triggers can want: changes of the kinds with workflows, and of their links. */
const topics = [
  ...new Set(
    automatedKinds(registry).flatMap((module) => [
      ...module.events.map((verb) => `${module.topic}.${verb}`),
      ...edgesOf(registry, module).flatMap(({ through }) => [`${through.topic}.created`, `${through.topic}.deleted`]),
    ]),
  ),
];

/** Starts the workflows whose triggers a change matches, with the versions that were in force when it happened. */
export const matchDefinitions: Listener = {
  ...defineListener(
    'match-definitions',
    topics.map((topic) => ({ topic })),
    matchEvent,
  ),
  isWanted: ({ hasWorkflows }) => hasWorkflows,
  onDemand: true,
};

async function matchEvent({ event, unit, wake, expressions }: Delivery<unknown>): Promise<void> {
  const reported = event as EventRow;
  const versions = await versionsInForce(unit, reported);
  if (versions.length === 0) return;
  const parent = await parentOf(unit, reported);
  for (const one of await changesOfEvent(unit, reported)) {
    const { module, recordId, change } = one;
    const possible = versions.filter(
      (version) => version.recordKind === module.kind && !holds(version, module, change),
    );
    const context = { unit, data: unit.data, expressions };
    const { matched, failed } = await matchChange(context, { module, recordId, change, versions: possible });
    for (const { version, traced } of matched) {
      const instance = await startInstance(unit, version, one, { event: reported, parent, traced });
      if (!instance) continue;
      const { id: instanceId, organizationId, definitionId, status } = instance;
      const summary = await instanceSummary(unit.data, module, instance);
      const { requestId } = reported;
      const search = { WorkflowDefinitionId: definitionId, WorkflowState: status };
      wake(runWorkflowInstanceContract, { instanceId, organizationId, requestId, summary }, { search });
    }
    for (const { version, message } of failed) await reportFailure(unit, version, recordId, message);
  }
}

async function versionsInForce({ data }: UnitOfWork, event: EventRow): Promise<Version[]> {
  const { organizationId, topic, occurredAt } = event;
  if (organizationId === null) return [];
  const wanting = {
    organizationId: { eq: organizationId },
    topics: { has: topic },
    publishedAt: { lte: occurredAt },
  };
  const current = { where: { ...wanting, endedAt: { isNull: true } }, limit: maxVersions };
  const ended = { where: { ...wanting, endedAt: { gt: occurredAt } }, limit: maxVersions };
  return [...(await data.find(workflowVersion, current)), ...(await data.find(workflowVersion, ended))];
}

/** Whether a gate holds such changes: they start it when they are proposed, not when they are written. */
function holds({ document, isGate }: Version, module: EntityModule, change: ChangeFacts): boolean {
  return isGate && holdsChange(publicationOf(document as DefinitionDocument, module, registry), change);
}

async function reportFailure(unit: UnitOfWork, version: Version, recordId: string, message: string): Promise<void> {
  const { definitionId, number, publisherId: userId } = version;
  const definition = await unit.data.findOne(workflowDefinition, { id: { eq: definitionId } });
  if (!definition) return;
  const payload = { number, recordId, message: message.slice(0, 1_000), userIds: userId === null ? [] : [userId] };
  unit.emit(customEvent(workflowDefinition, 'evaluation_failed', definition, payload));
}
