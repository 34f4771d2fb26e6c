import { isId } from '../../kit/base/ids.ts';
import { schemaMessage } from '../../kit/base/schema-problem.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import { normalized, problemOf } from '../../kit/model/input.ts';
import type { CheckContext } from './check-context.ts';
import { isExpression } from './definition-document.ts';
import { pointerPart } from './definition-problem.ts';
import { expressionType } from './expression-environment.ts';

/** Checks a text of a message: literal, or an expression with a string. */
export function checkText(context: CheckContext, value: unknown, path: string, max: number): void {
  if (value === undefined) return;
  if (isExpression(value)) {
    addExpression(context, value.expr, path, 'string');
    return;
  }
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= max;
  if (!isText)
    context.problems.add(
      path,
      'value_invalid',
      `must be a text of 1 to ${max} characters, or { "expr": "…" } with an expression that gives one`,
    );
}

/** Checks values of any type: the expressions in them. */
export function checkData(context: CheckContext, data: unknown, path: string): void {
  if (typeof data !== 'object' || data === null) return;
  if (isExpression(data)) {
    addExpression(context, data.expr, path, undefined);
    return;
  }
  for (const [name, value] of Object.entries(data)) {
    const inner = `${path}/${pointerPart(name)}`;
    if (isExpression(value)) addExpression(context, value.expr, inner, undefined);
  }
}

/** Checks the value of a field of a kind: a literal as in the API, an expression by its type. */
export function checkFieldValue(
  context: CheckContext,
  { module, field: name }: { readonly module: EntityModule; readonly field: string },
  value: unknown,
  path: string,
): void {
  const { problems, references } = context;
  const field = module.fields[name];
  if (!field) return;
  if (isExpression(value)) {
    addExpression(context, value.expr, path, expressionType(field));
    return;
  }
  if (value === null) {
    if (!field.optional)
      problems.add(path, 'value_invalid', `must not be empty: a ${module.typeName} always has this field`);
    return;
  }
  const stored = normalized(field, value);
  const problem = problemOf(field, stored);
  if (problem) problems.add(`${path}${problem.path}`, 'value_invalid', problem.message);
  else if (field.type === 'reference' && field.target !== undefined && isId(stored))
    references.push({ path, kind: field.target, id: stored, code: 'value_not_found' });
}

function addExpression(
  { expressions, problems }: CheckContext,
  expression: string,
  path: string,
  expected: string | undefined,
): void {
  if (expression.trim() === '')
    problems.add(
      `${path}/expr`,
      'expression_invalid',
      schemaMessage({ keyword: 'minLength', instancePath: '', params: { limit: 1 } }),
    );
  else expressions.push({ path: `${path}/expr`, expression, usage: 'action', expected });
}
