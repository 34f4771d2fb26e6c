import { didYouMean } from '../../kit/base/did-you-mean.ts';
import type { Work } from '../../kit/storage/work.ts';
import { definitionsOfIntegrations, missingReferences } from '../document-reference-rows.ts';
import type { PlacedExpression, PlacedOperation } from './check-context.ts';
import { checkDocument, type DocumentCheck } from './check-document.ts';
import type { DefinitionProblem } from './definition-problem.ts';
import { environmentOf } from './expression-environment.ts';
import type { Expressions } from './expressions.ts';
import { maxProblems } from '../../kit/base/errors.ts';
import type { EntityModule } from '../../kit/model/define.ts';

interface CheckedDefinition {
  readonly organizationId: string;
  readonly recordKind: string;
  readonly document: unknown;
}

/** Facts about the server on which the check of a definition depends. */
export interface DefinitionMeans {
  readonly expressions: Expressions;
  /** Bytes that a document can have (`ormconfig.maxschemaimportsize`). */
  readonly maxBytes: () => number;
  /** Names of the operations that integrations with a definition have, by its id; none for one that this release lacks. */
  readonly operationsOf: (definitionId: string | null) => readonly string[];
}

/**
 * Checks a definition whole: the document, its expressions, and that the records and operations that it names exist in its organization.
 */
export async function checkDefinition(
  work: Work,
  { organizationId, recordKind, document }: CheckedDefinition,
  { expressions, maxBytes, operationsOf }: DefinitionMeans,
): Promise<DocumentCheck> {
  const { registry } = work;
  const checked = checkDocument(document, { registry, recordKind, maxBytes: maxBytes() });
  const { module, references } = checked;
  if (!module) return checked;
  const wrongExpressions = await expressionProblems(expressions, module, checked.expressions);
  const missing = await missingReferences(work, registry, organizationId, references);
  const found = missing.map(({ path, code, kind, id }): DefinitionProblem => ({
    path,
    code,
    message: notFound(kind, id),
  }));
  const definitions = await definitionsOfIntegrations(
    work,
    organizationId,
    checked.operations.map(({ integrationId }) => integrationId),
  );
  const lacking = checked.operations.flatMap((placed) => {
    const definitionId = definitions.get(placed.integrationId);
    return definitionId === undefined ? [] : (operationProblem(placed, operationsOf(definitionId)) ?? []);
  });
  const problems = [...checked.problems, ...wrongExpressions, ...found, ...lacking].slice(0, maxProblems);
  if (problems.length === 0) return checked;
  const { document: _, ...rest } = checked;
  return { ...rest, problems };
}

function operationProblem(
  { path, operation }: PlacedOperation,
  names: readonly string[],
): DefinitionProblem | undefined {
  if (names.includes(operation)) return undefined;
  const near = didYouMean(operation, names);
  const remedy =
    names.length === 0 ? 'it has none' : near === undefined ? `it has ${names.join(', ')}` : `did you mean "${near}"?`;
  const message = `names no operation of the integration: ${remedy}`;
  return { path, code: 'integration_operation_unknown', message };
}

async function expressionProblems(
  expressions: Expressions,
  module: EntityModule,
  placed: readonly PlacedExpression[],
): Promise<DefinitionProblem[]> {
  const problems: DefinitionProblem[] = [];
  // One after the other: the threads that compile are those of running evaluations.
  for (const { path, expression, usage, expected } of placed) {
    const environment = environmentOf(module, usage);
    const request = { expression, environment, ...(expected !== undefined && { expected }) };
    const compiled = await expressions.compile(request);
    for (const { code, message, start, end } of compiled.problems)
      problems.push({ path, code: codeOf(code), message, start, end });
    if (problems.length >= maxProblems) break;
  }
  return problems;
}

function codeOf(code: string): string {
  return code === 'wrong_result_type' ? 'expression_wrong_type' : 'expression_invalid';
}

function notFound(kind: string, id: string): string {
  const what = kind === 'user' ? 'no member' : `no ${kind}`;
  return `names ${what} of this organization: "${id}". Use the id of one that exists`;
}
