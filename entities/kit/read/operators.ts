import { idPattern } from '../base/ids.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import type { FieldType } from '../model/declared-field.ts';
import type { Comparison } from './filter.ts';

/** A comparison that filters offer, in every API. */
export interface Operator {
  readonly name: keyof Comparison;
  readonly description: string;
  /** Kind of its operand: a value of the field, several of them, or true or false. */
  readonly operand: 'value' | 'values' | 'flag';
}

export const maxOperandValues = 1_000;

const value = (name: keyof Comparison, description: string): Operator => ({ name, description, operand: 'value' });

const equality = [value('eq', 'Equal to this value.'), value('ne', 'Not equal to this value.')];
const lists: readonly Operator[] = [
  { name: 'in', description: 'Equal to one of these values.', operand: 'values' },
  { name: 'notIn', description: 'Equal to none of these values.', operand: 'values' },
];
/** Operators whose operands are whole values of the field. */
export const equalityOperators: ReadonlySet<keyof Comparison> = new Set(
  [...equality, ...lists].map(({ name }) => name),
);
const ranges = [
  value('gt', 'Greater than this value.'),
  value('gte', 'Greater than or equal to this value.'),
  value('lt', 'Less than this value.'),
  value('lte', 'Less than or equal to this value.'),
];
const texts = [
  value('contains', 'Contains this text. Case and accents do not matter.'),
  value('startsWith', 'Begins with this text. Case and accents do not matter.'),
  value('endsWith', 'Ends with this text. Case and accents do not matter.'),
];
/** Operators whose operands are parts of the field's text. */
export const partOperators: ReadonlySet<keyof Comparison> = new Set(texts.map(({ name }) => name));
const isNull: Operator = { name: 'isNull', description: 'Whether the field is empty.', operand: 'flag' };

/** The operators of a field by which a kind can be filtered (`filterableFields`). */
export function operatorsOf(module: EntityModule, name: string): readonly Operator[] {
  const type = filteredType(module, name);
  if (type === 'textList') return [value('has', 'The list contains this value.')];
  return [
    ...equality,
    ...(type === 'boolean' ? [] : lists),
    ...(['text', 'integer', 'decimal', 'date', 'timestamp'].includes(type) ? ranges : []),
    ...(type === 'text' ? texts : []),
    ...(module.fields[name]?.optional ? [isNull] : []),
  ];
}

/** The type of a field by which a kind can be filtered: besides its own, records have ids and times. */
export function filteredType(module: EntityModule, name: string): FieldType {
  const isId = name === 'id' || tenancyField(module.tenancy).includes(name);
  return module.fields[name]?.type ?? (isId ? 'reference' : 'timestamp');
}

/** Whether the values of a field are ids of records, of one kind or of several. */
export function holdsIds(module: EntityModule, name: string): boolean {
  const { pattern } = (module.fields[name]?.schema ?? {}) as { readonly pattern?: string };
  return filteredType(module, name) === 'reference' || pattern === idPattern.source;
}
