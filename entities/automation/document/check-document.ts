import { didYouMean } from '../../kit/base/did-you-mean.ts';
import { oneOf } from '../../kit/base/schema-problem.ts';
import { shortened } from '../../kit/base/shortened.ts';
import { sizeText } from '../../kit/base/mebibyte.ts';
import { jsonProblem } from '../../kit/base/strict-json.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import type { Registry } from '../../kit/model/registry.ts';
import { automatedKind, automatedKinds, edgesOf } from './automated-kinds.ts';
import { checkActions, type CheckedAction } from './check-actions.ts';
import type { CheckContext, PlacedExpression, PlacedOperation, PlacedReference } from './check-context.ts';
import { checkPart } from './check-part.ts';
import { checkConditions, checkSelector, checkTriggers } from './check-triggers.ts';
import type { DefinitionDocument } from './definition-document.ts';
import { DefinitionProblems, pointerPart, type DefinitionProblem } from './definition-problem.ts';
import { rootPart } from './document-schema.ts';

export interface DocumentCheck {
  readonly problems: readonly DefinitionProblem[];
  /** The kind of the records; undefined if the document names none. */
  readonly module?: EntityModule;
  /** Set if there are no problems. */
  readonly document?: DefinitionDocument;
  readonly expressions: readonly PlacedExpression[];
  readonly references: readonly PlacedReference[];
  readonly operations: readonly PlacedOperation[];
}

/** Most expressions of a document: each is evaluated under a limit of time of its own. */
const maxExpressions = 200;

interface Expected {
  readonly registry: Registry;
  /** Kind of the definition. */
  readonly recordKind: string;
  readonly maxBytes: number;
}

/**
 * Checks a document by itself: its form, and what it says about the kind. Expressions and ids are found, and not looked at (`checkDefinition`).
 */
export function checkDocument(given: unknown, { registry, recordKind, maxBytes }: Expected): DocumentCheck {
  const problems = new DefinitionProblems();
  const nothing = { problems: problems.found, expressions: [], references: [], operations: [] };
  const refused = jsonProblem(given);
  if (given === null || given === undefined) problems.add('', 'definition_required', 'is required: a JSON object');
  else if (refused !== undefined) problems.add('', 'unknown_key', `is not accepted: ${refused}`);
  else if (sizeOf(given) > maxBytes)
    problems.add(
      '',
      'definition_too_large',
      `has ${sizeOf(given)} bytes; at most ${sizeText(maxBytes)} are accepted (ormconfig.maxschemaimportsize)`,
    );
  const root = problems.found.length === 0 ? checkPart(rootPart, given, '', problems) : undefined;
  if (!root) return nothing;
  const module = kindOf(root['schemaType'], { registry, recordKind }, problems);
  if (!module) return nothing;
  const context: CheckContext = { module, registry, problems, expressions: [], references: [], operations: [] };
  const triggers = checkTriggers(context, root['triggers']);
  if (root['targets'] !== undefined) checkSelector(context, root['targets'], '/targets');
  checkConditions(context, root['conditions']);
  const around = {
    operations: new Set(triggers.map(({ operation }) => operation)),
    isBeforeCommit: root['approvalTiming'] !== 'POST_COMMIT',
  };
  const actions = checkActions(context, root['actions'], around);
  checkApprovals(context, actions, triggers, around.isBeforeCommit);
  const { length } = context.expressions;
  if (length > maxExpressions) {
    problems.add('', 'definition_too_large', `has ${length} expressions; at most ${maxExpressions} are accepted`);
    return { ...nothing, module };
  }
  const isRight = problems.found.length === 0;
  return { ...context, problems: problems.found, ...(isRight && { document: given as DefinitionDocument }) };
}

function sizeOf(document: unknown): number {
  return Buffer.byteLength(JSON.stringify(document));
}

function kindOf(
  name: unknown,
  { registry, recordKind }: Pick<Expected, 'registry' | 'recordKind'>,
  problems: DefinitionProblems,
): EntityModule | undefined {
  const kinds = automatedKinds(registry);
  const known = kinds.map(({ typeName }) => typeName);
  const wanted = automatedKind(registry, recordKind);
  if (!wanted)
    problems.add(
      '/schemaType',
      'invalid_workflow_schema',
      `record_kind, the kind of the definition, ${oneOf(kinds.map(({ kind }) => kind))}; it is "${shortened(recordKind)}"`,
    );
  if (typeof name !== 'string') return wanted;
  const module = automatedKind(registry, name);
  if (!module) {
    const near = didYouMean(name, known);
    const remedy = near === undefined ? oneOf(known) : `did you mean "${near}"?`;
    problems.add('/schemaType', 'invalid_workflow_schema', `names no kind with workflows: ${remedy}`);
  } else if (wanted && module !== wanted)
    problems.add(
      '/schemaType',
      'schema_type_mismatch',
      `must be "${wanted.typeName}", the kind of the definition (record_kind)`,
    );
  return wanted ?? module;
}

/** Checks what approvals that hold changes need of the rest of the document. */
function checkApprovals(
  { module, registry, problems }: CheckContext,
  actions: readonly CheckedAction[],
  triggers: readonly Readonly<Record<string, unknown>>[],
  isBeforeCommit: boolean,
): void {
  const approvals = actions.filter(({ type }) => type === 'REQUEST_APPROVAL');
  if (approvals.length === 0 || !isBeforeCommit) return;
  const known = new Set<unknown>(edgesOf(registry, module).map(({ name }) => name));
  for (const [index, { operation, edges }] of triggers.entries()) {
    if (Array.isArray(edges) && edges.some((name) => known.has(name)))
      problems.add(
        `/triggers/${index}/edges`,
        'edges_cannot_be_held',
        'a change of links cannot wait for an approval: remove this, or set approvalTiming to POST_COMMIT to review such changes',
      );
    if (operation === 'CREATE')
      problems.add(
        `/triggers/${index}/operation`,
        'create_cannot_be_held',
        'a record cannot wait for an approval before it exists: use UPDATE or DELETE, or set approvalTiming to POST_COMMIT to review new records',
      );
  }
  refuseOwnGate(problems, actions, approvals);
  const sets = new Map<string, string>();
  for (const { params, path } of approvals) {
    if (!Array.isArray(params['fields']) || params['fields'].length === 0) continue;
    const set = [...new Set(params['fields'] as string[])].sort().join(',');
    const first = sets.get(set);
    if (first === undefined) sets.set(set, path);
    else
      problems.add(
        `${path}/params/fields`,
        'duplicate_approval_field_set',
        `are the fields of ${first} as well: name both targets in one action, or other fields`,
      );
  }
}

/** An action that changes a field which the definition itself holds would start the definition again. */
function refuseOwnGate(
  problems: DefinitionProblems,
  actions: readonly CheckedAction[],
  approvals: readonly CheckedAction[],
): void {
  const gated = new Set(approvals.flatMap(({ params }) => (params['fields'] ?? []) as readonly string[]));
  for (const { type, params, path } of actions) {
    if (type !== 'UPDATE_FIELD') continue;
    for (const name of Object.keys(params['updates'] ?? {}).filter((one) => gated.has(one)))
      problems.add(
        `${path}/params/updates/${pointerPart(name)}`,
        'field_not_eligible',
        'is a field whose changes this definition holds: set another one, or let another definition hold it',
      );
  }
}
