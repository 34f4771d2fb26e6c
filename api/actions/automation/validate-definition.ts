import { Type } from 'typebox';
import { anyDocument } from '#entities/automation/definition-fields.ts';
import { workflowDefinition } from '#entities/automation/workflow-definition.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { problemOf } from '#entities/kit/model/input.ts';
import { checkedDefinition, definingOrganization, requireEngine } from '../../people/saved-definition.ts';
import { fieldOf, orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const problem = Type.Object(
  {
    path: Type.String({ description: 'Where the problem is, as a JSON pointer into the document.' }),
    code: Type.String({ description: 'Sort of the problem (docs/workflows.md).' }),
    message: Type.String({ description: 'The problem and the way out, as the end of a sentence about the place.' }),
    start: orNull(
      Type.Integer({ description: 'Where it begins in an expression, in UTF-16 code units from 0; null elsewhere.' }),
    ),
    end: orNull(Type.Integer({ description: 'Where it ends in the expression; exclusive.' })),
  },
  { title: 'DefinitionProblem', description: 'Problem of the document of a workflow definition.' },
);

/** Definitions are checked in the same way when they are saved. */
export const validateWorkflowDefinition = defineAction({
  name: 'validateWorkflowDefinition',
  url: '/v1/workflow-definitions/validate',
  tag: 'Workflow definitions',
  summary: 'Check the document of a workflow definition',
  description:
    'Finds all problems of a document without saving it: its form, its expressions, and whether the people, groups and endpoints that it names exist.',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  input: {
    recordKind: fieldOf(workflowDefinition, 'recordKind'),
    document: fieldOf(workflowDefinition, 'document', anyDocument),
  },
  answer: {
    isValid: Type.Boolean({ description: 'Whether the document can be saved and published.' }),
    problems: Type.Array(problem, { description: 'Problems, up to 100.' }),
  },
  title: 'DefinitionValidation',
  errors: ['permission_denied', 'no_current_organization', 'workflows_disabled'],
  run: async (asking, input) => {
    requireEngine(asking);
    refuseUnstorable(input.document);
    const organizationId = await definingOrganization(asking);
    const { problems } = await checkedDefinition(asking, { ...input, organizationId });
    return {
      isValid: problems.length === 0,
      problems: problems.map(({ start = null, end = null, ...found }) => ({ ...found, start, end })),
    };
  },
});

/** Saving refuses such JSON, too, whatever it says. @throws AppError invalid_input */
function refuseUnstorable(document: unknown): void {
  const problem = document === null ? undefined : problemOf(workflowDefinition.fields.document, document);
  if (problem) throw inputError([{ path: `/document${problem.path}`, message: problem.message }]);
}
