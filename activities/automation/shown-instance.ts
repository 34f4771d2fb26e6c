import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { workflowAssignment } from '#entities/automation/workflow-assignment.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { workflowVersion } from '#entities/automation/workflow-version.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { ShownInstance } from '#workflows/automation/run-workflow-instance.contract.ts';

/** Most people whom the details name. */
const maxShown = 50;

/** State of an instance, as Temporal shows it to operators: actions, people who are asked, and deadlines. It names people by their ids. */
export async function shownInstance({ data }: UnitOfWork, instanceId: string): Promise<ShownInstance | undefined> {
  const instance = await data.findOne(workflowInstance, { id: { eq: instanceId } });
  if (!instance) return undefined;
  const { definitionId, status, actionIndex, reason, waitingUntil } = instance;
  const version = await data.get(workflowVersion, instance.versionId);
  const { actions } = version.document as DefinitionDocument;
  const where = { instanceId: { eq: instanceId }, status: { eq: 'pending' as const } };
  const asked = status === 'waiting' ? await data.find(workflowAssignment, { where, limit: maxShown }) : [];
  const steps = actions.map(({ key, type }, index) => {
    const mark = index < actionIndex ? 'x' : ' ';
    return `- [${mark}] ${key} (${type})`;
  });
  const lines = [
    `Status: ${status}${reason === null ? '' : `. ${reason}`}`,
    ...(waitingUntil === null ? [] : [`Until: ${waitingUntil.toISOString()}`]),
    '',
    ...steps,
    ...(asked.length === 0 ? [] : ['', 'Asked:']),
    ...asked.map(
      ({ actionKey, userId, dueAt }) =>
        `- ${actionKey}: ${userId}${dueAt === null ? '' : `, due ${dueAt.toISOString()}`}`,
    ),
  ];
  return { definitionId, status, details: lines.join('\n').slice(0, 10_000) };
}
