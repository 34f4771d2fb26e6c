import { registry, workflowDefinition, workflowVersion } from '#entities/index.ts';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { automatedKind } from '#entities/automation/document/automated-kinds.ts';
import { publicationOf } from '#entities/automation/document/publication.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { World } from '../world.ts';

export interface PublishedGate {
  readonly definitionId: string;
  readonly versionId: string;
}

/** A document that holds fields of tasks until an owner agrees, with changes. */
export function gateOf(
  changes: Partial<DefinitionDocument> & { readonly fields?: readonly string[] },
): DefinitionDocument {
  const { fields = ['status'], ...rest } = changes;
  return {
    schemaType: 'task',
    triggers: [{ operation: 'UPDATE', fields }],
    actions: [
      {
        key: 'agree',
        type: 'REQUEST_APPROVAL',
        params: { fields, targets: [{ type: 'ROLE', id: 'owner' }], required_count: 1 },
      },
    ],
    ...rest,
  };
}

/** Publishes a version as the server does, without asking whether the document is valid. */
export function publishGate(
  world: World,
  organizationId: string,
  document: DefinitionDocument,
  name = 'Four eyes',
): Promise<PublishedGate> {
  const module = automatedKind(registry, document.schemaType);
  if (!module) throw new Error(`no kind ${document.schemaType}`);
  const { timing, topics, gatedFields, isGate } = publicationOf(document, module, registry);
  const context = { caller: systemCaller('test builder', organizationId), requestId: `build-${newId()}` };
  return world.runtime.database.transact(context, async ({ data }) => {
    const at = world.clock.now();
    const about = { organizationId, recordKind: module.kind, document };
    const status = { status: 'published', publishedVersion: 1, publishedAt: at } as const;
    const definition = await data.create(workflowDefinition, { ...about, ...status, name });
    const version = await data.create(workflowVersion, {
      ...about,
      definitionId: definition.id,
      number: 1,
      timing,
      topics: [...topics],
      gatedFields: [...gatedFields],
      isGate,
      publishedAt: at,
    });
    return { definitionId: definition.id, versionId: version.id };
  });
}
