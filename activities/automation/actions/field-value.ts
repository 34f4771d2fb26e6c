import { expressionType } from '#entities/automation/document/expression-environment.ts';
import type { ExpressionType } from '#entities/automation/document/expressions.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';

/** Type that an expression must have whose value a field gets. */
export function typeOfField({ fields }: EntityModule, name: string): ExpressionType {
  const field = fields[name];
  return field ? expressionType(field) : 'dyn';
}

/** A value of an expression or a document, in the form in which the field takes it. */
export function fieldValue({ fields }: EntityModule, name: string, value: unknown): unknown {
  const type = fields[name]?.type;
  if (value === null || type === undefined) return plain(value);
  if (type === 'timestamp') return value;
  if (type === 'date' && value instanceof Date) return value.toISOString().slice(0, 10);
  if (type === 'decimal' && typeof value === 'number') return String(value);
  return plain(value);
}

/** A value as JSON has it: whole numbers of expressions are BigInts, and times are Dates. */
export function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
