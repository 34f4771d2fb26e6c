import { Compile, type Validator } from 'typebox/compile';
import { tenancyField, type EntityModule } from './define.ts';
import { AppError, maxProblems, type FieldProblem } from '../base/errors.ts';
import type { Field } from './fields.ts';
import { isId } from '../base/ids.ts';
import { isInstant, parseInstant } from '../base/instant.ts';
import { nameForm, nameProblem } from '../base/name-form.ts';
import { rowPath } from '../base/row-path.ts';
import { schemaMessage } from '../base/schema-problem.ts';

type Values = Record<string, unknown>;

const validators = new WeakMap<Field, Validator>();

/** The input of a creation, and its JSON pointer in the input of the operation; empty for an operation on one record. */
export interface CreationValues {
  readonly module: EntityModule;
  readonly input: Values;
  readonly path: string;
}

/**
 * Checks the inputs of creations and adds defaults. Unknown names, missing and wrong values of all inputs are reported together.
 * @returns the values of each, in the same order
 * @throws AppError invalid_input
 */
export function validateCreations(creations: readonly CreationValues[]): Values[] {
  const problems: FieldProblem[] = [];
  const values = creations.map((creation) => completed(creation, problems));
  refuse(creations[0]?.module, problems);
  return values;
}

function completed({ module, input, path }: CreationValues, problems: FieldProblem[]): Values {
  const own: FieldProblem[] = [];
  const values = checked(module, input, own, ['id', ...tenancyField(module.tenancy)]);
  for (const [name, field] of Object.entries(module.fields)) {
    if (values[name] !== undefined) continue;
    // A value that failed its check is not reported as missing too.
    if (field.generated || own.some(({ path }) => path.split('/')[1] === name)) continue;
    if (field.default !== undefined) values[name] = field.default;
    else if (field.optional) values[name] = null;
    else own.push({ path: `/${name}`, message: 'is required' });
  }
  problems.push(...own.map((problem) => ({ ...problem, path: `${path}${problem.path}` })));
  return values;
}

/** @throws AppError invalid_input */
export function validateChanges(module: EntityModule, input: Values): Values {
  const problems: FieldProblem[] = [];
  const values = checked(module, input, problems, []);
  for (const name of Object.keys(values)) {
    if (module.fields[name]?.immutable)
      problems.push({ path: `/${name}`, message: 'cannot be changed after creation' });
  }
  refuse(module, problems);
  return values;
}

function refuse(module: EntityModule | undefined, problems: readonly FieldProblem[]): void {
  if (problems.length === 0) return;
  const fields = problems.slice(0, maxProblems);
  const summary = fields.map(describeProblem).join('; ');
  throw new AppError('invalid_input', `${module?.typeName}: ${summary}.`, { details: { fields } });
}

function describeProblem({ path, message }: FieldProblem): string {
  const row = rowPath(path);
  const name = row ? path.split('/').slice(2).join('/') : path.slice(1);
  return `${row}${name} ${message}`;
}

function checked(module: EntityModule, input: Values, problems: FieldProblem[], ids: readonly string[]): Values {
  const values: Values = {};
  for (const [name, given] of Object.entries(input)) {
    if (given === undefined) continue;
    const path = `/${name}`;
    const field = Object.hasOwn(module.fields, name) ? module.fields[name] : undefined;
    if (ids.includes(name)) {
      if (isId(given)) values[name] = given;
      else problems.push({ path, message: 'is not an id' });
    } else if (!field || field.generated) {
      problems.push({ path, message: 'is not a field of this kind' });
    } else if (given === null) {
      if (field.optional) values[name] = null;
      else problems.push({ path, message: 'cannot be empty' });
    } else {
      const value = normalized(field, given);
      const problem = problemOf(field, value);
      if (problem) problems.push({ path: `${path}${problem.path}`, message: problem.message });
      else values[name] = value;
    }
  }
  return values;
}

/** The stored form of a value: instants as Date, addresses in lower case, names in one form. */
export function normalized(field: Field, value: unknown): unknown {
  if (field.type === 'timestamp' && typeof value === 'string') return parseInstant(value) ?? value;
  // PostgreSQL stores minus zero as zero, so minus zero would count as a change each time.
  if (Object.is(value, -0)) return 0;
  if (typeof value === 'string' && field.isName) return nameForm(value);
  if (typeof value === 'string' && (field.schema as { format?: string }).format === 'email')
    return value.trim().toLowerCase();
  return value;
}

/** What is wrong with a value in its stored form, as the end of a sentence about its field, with the path in the value. */
export function problemOf(field: Field, value: unknown): FieldProblem | undefined {
  const problemAt = (message: string, path = ''): FieldProblem => ({ path, message });
  if (field.type === 'timestamp') {
    return value instanceof Date && isInstant(value)
      ? undefined
      : problemAt('must be an instant such as 2026-01-31T12:00:00Z');
  }
  if (!isStorable(value))
    return problemAt('contains a value that cannot be stored: a NUL character, a lone surrogate or an infinite number');
  const validator = validatorOf(field);
  if (validator.Check(value)) {
    const deceit = field.isName && typeof value === 'string' ? nameProblem(value) : undefined;
    if (deceit !== undefined) return problemAt(deceit);
    const blank = blankPath(field, value);
    return blank === undefined ? undefined : problemAt('must not be empty', blank);
  }
  if (field.values) return problemAt(`must be one of ${field.values.join(', ')}`);
  const [problem] = validator.Errors(value);
  return problem
    ? problemAt(schemaMessage(problem, field.description), problem.instancePath)
    : problemAt('is not valid');
}

interface TextShape {
  readonly minLength?: number;
  readonly items?: { readonly minLength?: number };
}

/** Path of a required text that is only white space. White space in secrets is significant. */
function blankPath({ schema, secret }: Field, value: unknown): string | undefined {
  const { minLength = 0, items } = schema as TextShape;
  const isBlank = (text: unknown) => typeof text === 'string' && text.trim() === '';
  if (secret) return undefined;
  if (minLength > 0 && isBlank(value)) return '';
  const index = Array.isArray(value) && (items?.minLength ?? 0) > 0 ? value.findIndex(isBlank) : -1;
  return index < 0 ? undefined : `/${index}`;
}

function validatorOf(field: Field): Validator {
  let validator = validators.get(field);
  if (!validator) {
    validator = Compile(field.schema);
    validators.set(field, validator);
  }
  return validator;
}

/** Whether PostgreSQL can store a value: its text cannot contain NUL or lone surrogates, and JSON has no infinite numbers. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\u0000');
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return true;
  return Object.entries(value).every(([name, inner]) => isStorable(name) && isStorable(inner));
}
