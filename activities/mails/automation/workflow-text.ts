import type { workflowAssignment } from '#entities/automation/workflow-assignment.ts';
import { workflowDefinition } from '#entities/automation/workflow-definition.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { localInstant, type Locale } from '#entities/kit/base/localized.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

type Instance = RowOf<typeof workflowInstance>;
type Assignment = RowOf<typeof workflowAssignment>;

/** Variables about a workflow. Its readers may view the workflow, and perhaps not the record. */
export async function workflowValues(
  { data }: Pick<UnitOfWork, 'data'>,
  { definitionId, recordKind }: Pick<Instance, 'definitionId' | 'recordKind'>,
): Promise<{ readonly workflow: string; readonly kind: string }> {
  const definition = await data.findOne(workflowDefinition, { id: { eq: definitionId } });
  return { workflow: definition?.name ?? '', kind: inWords(recordKind) };
}

/** Variables about an assignment. */
export async function assignmentValues(
  unit: Pick<UnitOfWork, 'data'>,
  { instanceId, label, dueAt }: Pick<Assignment, 'instanceId' | 'label' | 'dueAt'>,
) {
  const values = await workflowValues(unit, await unit.data.get(workflowInstance, instanceId));
  return (locale: Locale) => ({
    ...values,
    question: label ?? '',
    due: dueAt === null ? '' : localInstant(dueAt, locale),
  });
}

export const assignmentLines = [
  '{{question}}',
  'Workflow: {{workflow}}, about a record of the kind {{kind}}.',
  'Due {{due}}',
] as const;

export const workflowSample = { workflow: 'Completed tasks', kind: 'task' } as const;

export const assignmentSample = {
  ...workflowSample,
  question: 'Is the task really done?',
  due: 'June 1, 2026 at 5:00 PM UTC',
} as const;

export function pageOfAssignment({ id }: { readonly id: string }): string {
  return `/workflow-assignments/${id}`;
}

export function pageOfInstance({ id }: { readonly id: string }): string {
  return `/workflow-instances/${id}`;
}
