import { registry, workflowDefinition, workflowVersion } from '#entities/index.ts';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { automatedKind } from '#entities/automation/document/automated-kinds.ts';
import { publicationOf } from '#entities/automation/document/publication.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import { asSystem } from '../as-person.ts';
import type { Person } from '../people.ts';
import type { World } from '../world.ts';

/** A version of a new definition, in force from now on, as a person of the organization has published it. */
export function publishedVersion(
  world: World,
  { user, organization: { id: organizationId } }: Person,
  document: DefinitionDocument,
  { cooldownSeconds = 0 }: { readonly cooldownSeconds?: number } = {},
): Promise<RowOf<typeof workflowVersion>> {
  const { kind: recordKind } = automatedKind(registry, document.schemaType) as EntityModule;
  const { topics, gatedFields, isGate, timing } = publicationOf(document, registry.byKind(recordKind), registry);
  return asSystem(world, organizationId, async (data) => {
    const publishedAt = world.clock.now();
    const definition = await data.create(workflowDefinition, {
      organizationId,
      name: document.name ?? 'Definition',
      recordKind,
      document: document,
      cooldownSeconds,
      status: 'published',
      publishedVersion: 1,
      publishedAt,
    });
    const version = await data.create(workflowVersion, {
      organizationId,
      definitionId: definition.id,
      number: 1,
      recordKind,
      document: document,
      timing,
      cooldownSeconds,
      topics: [...topics],
      gatedFields: [...gatedFields],
      isGate,
      publishedAt,
      publisherId: user.id,
    });
    return { ...version };
  });
}
