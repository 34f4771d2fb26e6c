import { Type } from 'typebox';
import { automatedKinds, edgesOf, gateableFields, resolversOf } from '#entities/automation/document/automated-kinds.ts';
import { environmentOf } from '#entities/automation/document/expression-environment.ts';
import type { ExpressionEnvironment } from '#entities/automation/document/expressions.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { requireEngine } from '../../people/saved-definition.ts';
import { listOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const typedName = Type.Object(
  {
    name: Type.String({ description: 'Name in expressions.' }),
    type: Type.String({
      description:
        'Type in CEL; a question mark at its end allows null. A capital letter begins the name of an object.',
    }),
  },
  { title: 'WorkflowVariable', description: 'Variable of expressions, or field of an object that they read.' },
);

const expressionObject = Type.Object(
  {
    name: Type.String({ description: 'Name of the type.' }),
    fields: Type.Array(typedName, { description: 'Fields of such an object.' }),
  },
  { title: 'WorkflowObjectType', description: 'Type of objects in expressions.' },
);

const namesOf = (description: string) => Type.Array(Type.String(), { description });

/** For editors of definitions. */
export const workflowMetadata = defineAction({
  name: 'workflowMetadata',
  operationId: 'listWorkflowMetadata',
  method: 'GET',
  url: '/v1/workflow-metadata',
  tag: 'Workflow definitions',
  summary: 'List the kinds that workflows are about',
  description:
    'For each kind: the fields that workflows can hold and set, the links that triggers can name, the people whom targets can name, and the variables of expressions with their types.',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  answer: listOf(
    Type.Object(
      {
        recordKind: Type.String({ description: 'Kind of the records, as in definitions.' }),
        schemaType: Type.String({ description: 'Name of the kind in documents.' }),
        fields: namesOf('Fields whose changes can be held until they are approved, and that actions can set.'),
        edges: namesOf('Links that triggers can name.'),
        resolvers: namesOf('Keys of people whom records name, for targets of the type RESOLVER.'),
        triggerVariables: Type.Array(typedName, { description: 'Variables in triggers and conditions.' }),
        actionVariables: Type.Array(typedName, { description: 'Variables in actions: "when", and values.' }),
        objects: Type.Array(expressionObject, { description: 'Types of objects among the variables.' }),
      },
      { title: 'WorkflowKind', description: 'Kind whose records workflows are about.' },
    ),
  ),
  errors: ['workflows_disabled'],
  run: async (asking) => {
    requireEngine(asking);
    const { registry } = asking.unit;
    return automatedKinds(registry).map((module) => {
      const action = environmentOf(module, 'action');
      return {
        recordKind: module.kind,
        schemaType: module.typeName,
        fields: (gateableFields(module) ?? []).map(snakeCase),
        edges: edgesOf(registry, module).map(({ name }) => name),
        resolvers: [...resolversOf(module).keys()],
        triggerVariables: typedNames(environmentOf(module, 'trigger').variables),
        actionVariables: typedNames(action.variables),
        objects: Object.entries(action.objects).map(([name, fields]) => ({ name, fields: typedNames(fields) })),
      };
    });
  },
});

function typedNames(types: ExpressionEnvironment['variables']) {
  return Object.entries(types).map(([name, type]) => ({ name, type }));
}
