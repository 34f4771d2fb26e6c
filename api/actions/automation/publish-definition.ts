import { lockPublishing } from '#entities/automation/publishing-rows.ts';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { publicationOf } from '#entities/automation/document/publication.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { workflowDefinition } from '#entities/automation/workflow-definition.ts';
import { workflowVersion } from '#entities/automation/workflow-version.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Asking } from '../../credentials/asking.ts';
import { signedInPerson } from '../../credentials/signed-in-person.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { definingOrganization, lockedDefinition, requireEngine, validDocument } from '../../people/saved-definition.ts';
import { expectedVersion, recordOf, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

type Definition = RowOf<typeof workflowDefinition>;

/** Its actions have the rights that the publisher has when they run, so a person publishes it, in their own name. */
export const publishWorkflowDefinition = defineAction({
  name: 'publishWorkflowDefinition',
  url: '/v1/workflow-definitions/:id/publish',
  tag: 'Workflow definitions',
  summary: 'Publish a workflow definition',
  description:
    'Makes a version of the draft, which is in force from now on. The former version ends: workflows that began with it end with it. Actions of the version have the rights that the publisher has when they run.',
  acceptsSingleSignOn: true,
  input: { id: idSchema('Id of the definition.'), recordVersion: expectedVersion },
  answer: {
    workflowDefinition: recordOf(workflowDefinition),
    workflowVersion: selectableRecord(workflowVersion, 'The new version.'),
  },
  errors: [
    'not_found',
    'permission_denied',
    'no_current_organization',
    'definition_invalid',
    'definition_conflict',
    'stale_record',
    'precondition_failed',
    'workflows_disabled',
  ],
  run: async (asking, { id, recordVersion }) => {
    requireEngine(asking);
    const { unit } = asking;
    // The actions would have the rights of somebody else for good if somebody who acts as them could publish.
    const { userId } = signedInPerson(asking);
    await lockPublishing(unit, await definingOrganization(asking));
    const held = await lockedDefinition(asking, id);
    const { document, module } = await validDocument(asking, held);
    const { topics, gatedFields, isGate, timing } = publicationOf(document, module, unit.registry);
    const server = unit.data.privileged('publish workflow definition');
    await refuseConflict(asking, server, held, { document, module });
    const number = (held.publishedVersion ?? 0) + 1;
    const at = unit.clock.now();
    const changes = { status: 'published', publishedVersion: number, publishedAt: at } as const;
    const published = await unit.data.update(workflowDefinition, held.id, changes, recordVersion);
    await endVersion(server, held.id, at);
    const version = await server.create(workflowVersion, {
      organizationId: held.organizationId,
      definitionId: held.id,
      number,
      recordKind: module.kind,
      document: held.document,
      timing,
      cooldownSeconds: held.cooldownSeconds,
      topics: [...topics],
      gatedFields: [...gatedFields],
      isGate,
      publishedAt: at,
      publisherId: userId,
    });
    unit.emit(customEvent(workflowDefinition, 'published', published, { number }));
    return { workflowDefinition: held.id, workflowVersion: version.id };
  },
});

export const retireWorkflowDefinition = defineAction({
  name: 'retireWorkflowDefinition',
  url: '/v1/workflow-definitions/:id/retire',
  tag: 'Workflow definitions',
  summary: 'Retire a workflow definition',
  description:
    'Ends the version that is in force: the definition starts nothing any more, and holds no changes. Open workflows and proposals continue. It can be published again.',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  input: { id: idSchema('Id of the definition.'), recordVersion: expectedVersion },
  answer: { workflowDefinition: recordOf(workflowDefinition) },
  errors: [
    'not_found',
    'permission_denied',
    'rule_violated',
    'stale_record',
    'precondition_failed',
    'workflows_disabled',
  ],
  run: async (asking, { id, recordVersion }) => {
    requireEngine(asking);
    const { unit } = asking;
    const held = await lockedDefinition(asking, id);
    if (held.status !== 'published') {
      const message = `The definition is ${held.status}; only a published one can be retired.`;
      throw new AppError('rule_violated', message, { details: { fields: [{ path: '/status', message }] } });
    }
    const retired = await unit.data.update(workflowDefinition, held.id, { status: 'retired' }, recordVersion);
    await endVersion(unit.data.privileged('publish workflow definition'), held.id, unit.clock.now());
    unit.emit(customEvent(workflowDefinition, 'retired', retired, {}));
    return { workflowDefinition: held.id };
  },
});

async function endVersion(server: DataClient, definitionId: string, at: Date): Promise<void> {
  const [inForce] = await server.find(workflowVersion, {
    where: { definitionId: { eq: definitionId }, endedAt: { isNull: true } },
    limit: 1,
  });
  if (inForce) await server.update(workflowVersion, inForce.id, { endedAt: at });
}

/** @throws AppError definition_conflict for a definition that would hold a change that another one holds */
async function refuseConflict(
  { unit }: Asking,
  server: DataClient,
  held: Definition,
  { document, module }: { readonly document: DefinitionDocument; readonly module: EntityModule },
): Promise<void> {
  const own = publicationOf(document, module, unit.registry);
  if (!own.isGate) return;
  const others = await server.find(workflowVersion, {
    where: {
      organizationId: { eq: held.organizationId },
      recordKind: { eq: module.kind },
      isGate: { eq: true },
      endedAt: { isNull: true },
      definitionId: { ne: held.id },
    },
    limit: 1_000,
  });
  for (const other of others) {
    const published = publicationOf(other.document as DefinitionDocument, module, unit.registry);
    const shared = own.gatedFields.filter((field) => published.gatedFields.includes(field)).map(snakeCase);
    if (own.gatesDeletion && published.gatesDeletion) shared.push('deletions');
    if (shared.length === 0) continue;
    const { name } = await server.get(workflowDefinition, other.definitionId);
    throw new AppError(
      'definition_conflict',
      `The definition "${name}" (${other.definitionId}) is published and holds ${shared.join(', ')} of ${module.typeName} records already. Retire it, or let only one of the two hold this.`,
    );
  }
}
