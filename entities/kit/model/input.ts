import { Compile, type Validator } from 'typebox/schema';
import { decimalForm } from '../base/decimal-form.ts';
import { tenancyField, type EntityModule } from './define.ts';
import type { FieldProblem } from '../base/errors.ts';
import type { Field } from './declared-field.ts';
import { isId } from '../base/ids.ts';
import { isDay, isInstant, parseInstant } from '../base/instant.ts';
import { inputError } from '../base/input-error.ts';
import { onceForEach } from '../base/once-for-each.ts';
import { expectation, found, mismatch, notAnId, oneOf, schemaMessage } from '../base/schema-problem.ts';
import { maxMentions, mentionedIn } from './mentions.ts';
import { isWebUrl } from './composed/url-list.ts';
import { jsonProblem, roundedProblem } from '../base/strict-json.ts';
import { hasLineBreak, isVisible, nameProblem } from '../base/name-form.ts';
import { emailForm, parseDomain, parseEmail } from '../base/email-address.ts';

type Values = Record<string, unknown>;

/** The input of a creation, and its JSON pointer in the input of the operation; empty for an operation on one record. */
export interface CreationValues {
  readonly module: EntityModule;
  readonly input: Values;
  readonly path: string;
}

/**
 * Checks the inputs of creations and adds defaults. Unknown names, missing and wrong values of all inputs are reported together.
 * @param known problems of values that the inputs leave out for that reason, so that they are not reported as missing
 * @returns the values of each, in the same order
 * @throws AppError invalid_input
 */
export function validateCreations(creations: readonly CreationValues[], known: readonly FieldProblem[] = []): Values[] {
  const problems: FieldProblem[] = [];
  const knownByRecord = Map.groupBy(known, ({ path }) => path.slice(0, path.lastIndexOf('/')));
  const values = creations.map((creation) => completed(creation, problems, knownByRecord.get(creation.path)));
  refuse(problems);
  return values;
}

function completed(
  { module, input, path }: CreationValues,
  problems: FieldProblem[],
  known: readonly FieldProblem[] = [],
): Values {
  const own = known.map((problem) => ({ ...problem, path: problem.path.slice(path.length) }));
  const values = checked(module, input, own, ['id', ...tenancyField(module.tenancy)]);
  for (const [name, field] of Object.entries(module.fields)) {
    if (values[name] !== undefined) continue;
    // A value that failed its check is not reported as missing too.
    if (field.generated || field.isFilled || own.some(({ path }) => path.split('/')[1] === name)) continue;
    if (field.default !== undefined) values[name] = field.default;
    else if (field.optional) values[name] = null;
    else own.push({ path: `/${name}`, message: 'is required' });
  }
  if (own.length === 0) own.push(...wholeProblems(module, values));
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
  refuse(problems);
  return values;
}

/** Problems of the values of some fields, whatever the other fields have. */
export function valueProblems(module: EntityModule, input: Values): FieldProblem[] {
  const problems: FieldProblem[] = [];
  checked(module, input, problems, []);
  return problems;
}

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw inputError(problems);
}

function checked(module: EntityModule, input: Values, problems: FieldProblem[], ids: readonly string[]): Values {
  const values: Values = {};
  for (const [name, given] of Object.entries(input)) {
    if (given === undefined) continue;
    const path = `/${name}`;
    const field = Object.hasOwn(module.fields, name) ? module.fields[name] : undefined;
    if (ids.includes(name)) {
      if (isId(given)) values[name] = given;
      else problems.push({ path, message: notAnId(given) });
    } else if (!field || field.generated) {
      problems.push({ path, message: 'is not a field of this kind' });
    } else if (given === null) {
      if (field.optional) values[name] = null;
      else problems.push({ path, message: 'must not be empty' });
    } else {
      const value = normalized(field, given);
      const problem = problemOf(field, value);
      if (problem) problems.push({ path: `${path}${problem.path}`, message: problem.message });
      else values[name] = value;
    }
  }
  return values;
}

/** Problems of the values of a whole record together. */
export function wholeProblems(module: EntityModule, values: Readonly<Values>): FieldProblem[] {
  const { behaviours = [] } = module;
  return [...pairProblems(module, values), ...behaviours.flatMap(({ problemsOf }) => problemsOf?.(values) ?? [])];
}

/** Fields of a whole record that have a value without the field they are paired with (`money`). */
function pairProblems(module: EntityModule, values: Readonly<Values>): FieldProblem[] {
  return pairsOf(module)
    .filter(([name, pairedWith]) => !isEmpty(values[name]) && isEmpty(values[pairedWith]))
    .map(([name, pairedWith]) => ({ path: `/${pairedWith}`, message: `is required where ${name} has a value` }));
}

const pairsOf = onceForEach(({ fields }: EntityModule): readonly [string, string][] =>
  Object.entries(fields).flatMap(([name, { pairedWith }]): [string, string][] =>
    pairedWith === undefined ? [] : [[name, pairedWith]],
  ),
);

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined;
}

/** The stored form of a value: instants as Date, decimal numbers with all digits of their scale, addresses and domains in the form that is compared. */
export function normalized(field: Field, value: unknown): unknown {
  if (field.type === 'timestamp' && typeof value === 'string') return parseInstant(value) ?? value;
  if (field.type === 'decimal' && typeof value === 'string') return decimalForm(value, field.scale ?? 0);
  // PostgreSQL stores minus zero as zero, so minus zero would be recorded as a change each time.
  if (Object.is(value, -0)) return 0;
  if (typeof value === 'string' && isEmail(field)) return emailForm(value);
  if (field.holdsDomains && Array.isArray(value)) return value.map(domainForm);
  return value;
}

/** A value that is no domain stays unchanged, and is refused. */
function domainForm(item: unknown): unknown {
  return typeof item === 'string' ? (parseDomain(item) ?? item) : item;
}

function isEmail({ schema }: Field): boolean {
  return (schema as { format?: string }).format === 'email';
}

/** Problem of a value in its stored form, as the end of a sentence about its field, with the path in the value. */
export function problemOf(field: Field, value: unknown): FieldProblem | undefined {
  const problemAt = (message: string, path = ''): FieldProblem => ({ path, message });
  const sent = field.secret ? '' : found(value);
  if (field.type === 'timestamp') {
    return value instanceof Date && isInstant(value)
      ? undefined
      : problemAt(field.secret ? expectation('date-time') : mismatch('date-time', value));
  }
  if (field.type === 'date' && typeof value === 'string' && !isDay(value))
    return problemAt(field.secret ? expectation('date') : mismatch('date', value));
  if (field.type === 'decimal' && typeof value === 'string' && !validatorOf(field).Check(value))
    return problemAt(`${expectation('decimal')}${decimalLimits(field)}${sent}`);
  const refusal = field.type === 'json' ? (jsonProblem(value) ?? roundedProblem(value)) : undefined;
  if (refusal) return problemAt(`is not accepted: ${refusal}`);
  if (!isStorable(value))
    return problemAt('contains a value that cannot be stored: a NUL character, a lone surrogate or an infinite number');
  if (field.type === 'file' && !isId(value)) return problemAt(notAnUpload(value));
  const validator = validatorOf(field);
  if (validator.Check(value)) {
    const unfit = typeof value === 'string' ? textProblem(field, value) : undefined;
    if (unfit !== undefined) return problemAt(unfit);
    if (field.hasMentions && mentionedIn(value).size > maxMentions)
      return problemAt(`must mention at most ${maxMentions} people; it mentions ${mentionedIn(value).size}`);
    if (isEmail(field) && parseEmail(value as string) === undefined)
      return problemAt(field.secret ? expectation('email') : mismatch('email', value));
    const notDomain = field.holdsDomains ? (value as string[]).findIndex((item) => !parseDomain(item)) : -1;
    if (notDomain >= 0) return problemAt(mismatch('idn-hostname', (value as string[])[notDomain]), `/${notDomain}`);
    const notUrl = field.holdsUrls ? (value as string[]).findIndex((item) => !isWebUrl(item)) : -1;
    if (notUrl >= 0) return problemAt(mismatch('uri', (value as string[])[notUrl]), `/${notUrl}`);
    const blank = blankPath(field, value);
    return blank === undefined ? undefined : problemAt('must not be empty', blank);
  }
  if (field.values) return problemAt(oneOf(field.values) + sent);
  const [, [problem]] = validator.Errors(value);
  if (!problem) return problemAt('is not valid');
  const { instancePath } = problem;
  // The values of fields are texts, numbers and lists of texts.
  const wrong: unknown = Array.isArray(value) && instancePath !== '' ? value[Number(instancePath.slice(1))] : value;
  const context = { description: field.description, value: wrong, isSecret: field.secret };
  return problemAt(schemaMessage(problem, context), instancePath);
}

/** For a value of a file field that can be no upload, such as the name of a file. */
function notAnUpload(value: unknown): string {
  return `must be the id of an upload${found(value)}; POST /v1/uploads takes a file and answers with the id of its upload`;
}

interface TextShape {
  readonly minLength?: number;
  readonly items?: { readonly minLength?: number };
}

function decimalLimits({ columnType, scale = 0 }: Field): string {
  const precision = Number(/\d+/.exec(columnType)?.[0]);
  return `, with at most ${precision - scale} digits before the point and ${scale} after it`;
}

/** Problem of a text that its schema does not find. White space in secrets is significant. */
function textProblem({ schema, secret, isOneLine, isName }: Field, text: string): string | undefined {
  const { minLength = 0 } = schema as TextShape;
  const isBlank = !secret && (minLength > 0 || (isOneLine && text !== '')) && !isVisible(text);
  if (isBlank) return text.trim() === '' ? 'must not be empty' : 'must have a visible character';
  if (isOneLine && hasLineBreak(text)) return 'must be in one line; it contains a line break';
  if (secret) return undefined;
  if (isName && text.trim().length < minLength) return `must have at least ${minLength} characters besides white space`;
  return isName ? nameProblem(text) : undefined;
}

/** Path of an item that shows nothing. */
function blankPath({ schema, secret }: Field, value: unknown): string | undefined {
  const { items } = schema as TextShape;
  if (secret || !Array.isArray(value) || (items?.minLength ?? 0) === 0) return undefined;
  const index = value.findIndex((item) => typeof item === 'string' && !isVisible(item));
  return index < 0 ? undefined : `/${index}`;
}

const validatorOf = onceForEach(({ schema }: Field): Validator => Compile(schema));

/** Whether PostgreSQL can store a value: its text cannot contain NUL or lone surrogates, and JSON has no infinite numbers. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\u0000');
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return true;
  return Object.entries(value).every(([name, inner]) => isStorable(name) && isStorable(inner));
}
