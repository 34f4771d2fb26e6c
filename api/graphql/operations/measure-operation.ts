import {
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getOperationAST,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isObjectType,
  validateExecutionArgs,
  type ExecutionArgs,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { historyOf } from '#entities/kit/model/derived/history-kind.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { OperationBudget, type Cost } from '../documents/operation-budget.ts';
import { rootFields } from '../documents/root-fields.ts';
import { nodeInterface, searchResults, SelectionReader } from '../documents/selection-reader.ts';

/** Reads what a field of a type selects, and spends its cost. */
type Measure = (reader: SelectionReader, args: Readonly<Record<string, unknown>>) => void;

/** How fields are measured, by the name of their type. The other types contain fields of these. */
const measuresOf = onceForEach((registry: Registry): ReadonlyMap<string, Measure> => {
  const exposed = registry.modules.filter(isExposed);
  const searched = exposed.filter(({ search = [] }) => search.length > 0);
  const ofKind = (module: EntityModule): [string, Measure][] => [
    [module.typeName, (reader) => void reader.record(module)],
    [`${module.typeName}Connection`, (reader, args) => void reader.page(module, args)],
  ];
  return new Map<string, Measure>([
    ...exposed.flatMap((module): [string, Measure][] => [
      ...ofKind(module),
      ...ofKind(historyOf(module)),
      [`${module.typeName}Aggregate`, (reader, args) => void reader.aggregate(module, args)],
    ]),
    [nodeInterface, (reader, { ids }) => void reader.nodes(exposed, Array.isArray(ids) ? ids.length : 1)],
    [
      searchResults,
      (reader, { first }) => void reader.searches(searched, '', typeof first === 'number' ? first : undefined),
    ],
  ]);
});

interface MeasureOptions {
  readonly registry: Registry;
  readonly limits: Cost;
  /** `server.maxresultlimit`. */
  readonly largestPage: number;
}

/**
 * Counts what an operation selects before any of its fields is resolved. Resolvers count again what they read: there they know how many
 * records a list of ids has, which is one here.
 * @throws AppError limit_exceeded, with the cost of the whole operation
 */
export function measureOperation(input: ExecutionArgs, { registry, limits, largestPage }: MeasureOptions): void {
  const operation = getOperationAST(input.document, input.operationName);
  const validated = validateExecutionArgs(input);
  // The executor reports invalid variables.
  if (!operation || !('schema' in validated)) return;
  const { schema, variableValues, fragmentDefinitions: fragments } = validated;
  const measures = measuresOf(registry);
  const budget = new OperationBudget(limits, true);
  const isSelected = (node: SelectionNode) =>
    getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.['if'] !== false;

  const measureFields = (type: GraphQLObjectType, sets: readonly SelectionSetNode[]): void => {
    const visited = new Set<string>();
    const selected = sets.flatMap((set) => rootFields(set, fragments, isSelected, visited));
    // Fields of one response name are one field.
    for (const nodes of Map.groupBy(selected, ({ alias, name }) => (alias ?? name).value).values()) {
      const [node] = nodes;
      const field = node && type.getFields()[node.name.value];
      if (!field) continue;
      try {
        measureField(field, node, nodes);
      } catch (error) {
        // The resolver of the field reports a wrong argument, at its place.
        if (!(isAppError(error) || error instanceof GraphQLError) || budget.isExhausted) throw error;
      }
    }
  };

  const measureField = (field: GraphQLField<unknown, unknown>, node: FieldNode, nodes: readonly FieldNode[]): void => {
    const type = getNamedType(field.type);
    const measure = measures.get(type.name);
    if (measure) {
      const info = { schema, fragments, variableValues, fieldNodes: nodes };
      const reader = new SelectionReader(registry, info, { largestPage, budget });
      measure(reader, getArgumentValues(field, node, variableValues));
    } else if (isObjectType(type)) {
      measureFields(
        type,
        nodes.map(({ selectionSet }) => selectionSet).filter((set) => set !== undefined),
      );
    }
  };

  const root = schema.getRootType(operation.operation);
  if (root) measureFields(root, [operation.selectionSet]);
  budget.check();
}
