import { organizationsWithoutDefinitions } from '#entities/automation/publishing-rows.ts';
import { workflowDefinition } from '#entities/automation/workflow-definition.ts';
import { organization } from '#entities/organizations/organization.ts';
import { organizationsAfter } from '#entities/organizations/backfill-rows.ts';
import { workflowExamples } from '#entities/presets/workflow-examples.ts';
import { defineBackfill } from './define-backfill.ts';
import { lockRecords } from './lock-records.ts';

export const workflowExamplesBackfill = defineBackfill({
  name: 'workflow-examples',
  version: 1,
  description: 'Gives organizations that never had a workflow definition the ready examples, as drafts.',
  isWanted: ({ workflows }) => workflows.enabled,
  find: organizationsAfter,
  apply: async (unit, ids) => {
    const organizations = await lockRecords(unit, organization, ids);
    const lacking = await organizationsWithoutDefinitions(unit, organizations);
    const inputs = lacking.flatMap((organizationId) =>
      workflowExamples.map((example) => ({
        module: workflowDefinition,
        input: { ...example, organizationId },
        path: '',
        isGranted: true,
      })),
    );
    return inputs.length === 0 ? 0 : (await unit.data.createAll(inputs)).length;
  },
});
