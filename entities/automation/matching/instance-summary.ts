import { shortened } from '../../kit/base/shortened.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import type { DataClient } from '../../kit/unit/data-client.ts';
import type { Instance } from '../approvals/approval-work.ts';
import { workflowDefinition } from '../workflow-definition.ts';

/** Bytes that Temporal allows for a summary: 400 in one line. */
const maxLength = 120;

/** Definition and record of an instance, in one line for lists of workflows. Records are named by their display id, never by their texts. */
export async function instanceSummary(
  data: DataClient,
  module: EntityModule,
  { definitionId, subjectId }: Pick<Instance, 'definitionId' | 'subjectId'>,
): Promise<string> {
  const definition = await data.findOne(workflowDefinition, { id: { eq: definitionId } });
  const record = (await data.findOne(module, { id: { eq: subjectId } })) as
    | Readonly<Record<string, unknown>>
    | undefined;
  const { displayId = subjectId } = record ?? {};
  const { displayId: definitionName = definitionId, name = '' } = definition ?? {};
  return `${definitionName} ${shortened(name, maxLength)}: ${module.typeName} ${String(displayId)}`;
}
