import { checkDefinition } from '#entities/automation/document/check-definition.ts';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { invalidDefinition } from '#entities/automation/document/refuse-definition.ts';
import type { DocumentCheck } from '#entities/automation/document/check-document.ts';
import { workflowDefinition } from '#entities/automation/workflow-definition.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { Asking } from '../credentials/asking.ts';

/** @throws AppError workflows_disabled */
export function requireEngine({ services }: Asking): void {
  if (!services.config.current.workflows.enabled)
    throw new AppError('workflows_disabled', 'Workflows are switched off on this server (workflows.enabled).');
}

/** A definition that the caller may change, locked. @throws AppError not_found, permission_denied */
export async function lockedDefinition({ unit }: Asking, id: string): Promise<RowOf<typeof workflowDefinition>> {
  const held = await unit.data.findLocked(workflowDefinition, existingId(workflowDefinition, id));
  if (!held) throw missingRecord(workflowDefinition, id);
  if (!(await unit.data.decide(workflowDefinition, 'edit', { ...held })).isAllowed)
    throw new AppError(
      'permission_denied',
      deniedMessage(workflowDefinition, { operation: 'edit', caller: unit.context.caller, row: { ...held } }),
    );
  return held;
}

/** The organization in which the caller may make definitions. @throws AppError no_current_organization, permission_denied */
export async function definingOrganization({ unit }: Asking): Promise<string> {
  const { caller } = unit.context;
  const { organizationId } = caller;
  if (organizationId === null)
    throw new AppError('no_current_organization', 'A definition belongs to an organization; act in one first.');
  if (!(await unit.data.decide(workflowDefinition, 'create', { organizationId })).isAllowed)
    throw new AppError('permission_denied', deniedMessage(workflowDefinition, { operation: 'create', caller }));
  return organizationId;
}

export function checkedDefinition(
  { unit, services }: Asking,
  definition: { readonly organizationId: string; readonly recordKind: string; readonly document: unknown },
): Promise<DocumentCheck> {
  return checkDefinition(unit, definition, services.definitionMeans);
}

/** The document of a definition, which is valid now. @throws AppError definition_invalid */
export async function validDocument(
  asking: Asking,
  definition: Parameters<typeof checkedDefinition>[1],
): Promise<{ readonly document: DefinitionDocument; readonly module: EntityModule }> {
  const { problems, document, module } = await checkedDefinition(asking, definition);
  if (!document || !module) throw invalidDefinition(problems, '/document');
  return { document, module };
}
