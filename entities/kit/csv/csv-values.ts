import type { Field } from '../model/declared-field.ts';
import { parseInstant } from '../base/instant.ts';
import { found, mismatch } from '../base/schema-problem.ts';
import { JsonRefusal, parseStrictJson } from '../base/strict-json.ts';
import { clearingCell, isFormula, plainText, safeCell } from './csv-cells.ts';

/** A cell that is no value of its field. */
export class WrongCell {
  /** Problem, as the end of a sentence about the cell. */
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

const separator = ';';

/** The value of a cell that is not empty. Only its form is checked; the data layer checks the value. */
export function valueOfCell(field: Field, cell: string): unknown {
  if (ownPart(field, cell) === clearingCell) return cleared(field);
  const text = ownPart(field, plainText(cell));
  switch (field.type) {
    case 'integer':
      return /^-?\d{1,300}$/.test(text) ? Number(text) : wrong('integer', text);
    case 'boolean':
      return { true: true, false: false }[text.toLowerCase()] ?? wrong('boolean', text);
    case 'timestamp':
      return parseInstant(text) ?? wrong('date-time', text);
    case 'choice':
      return text.toLowerCase();
    case 'textList':
      return refusedFormula(field, cell) ?? listOf(text);
    case 'json':
      return parsedJson(text);
    case 'text':
      return refusedFormula(field, cell) ?? text;
    case 'decimal':
    case 'date':
    case 'reference':
    case 'file':
      return text;
    default:
      field.type satisfies never;
      throw new Error('unknown field type');
  }
}

export function isEmptyCell(field: Field, cell: string): boolean {
  return ownPart(field, cell) === '';
}

/** Spaces around what is no text say nothing. */
function ownPart({ type }: Field, cell: string): string {
  return type === 'text' ? cell : cell.trim();
}

function cleared({ type, optional }: Field): unknown {
  if (type === 'textList') return [];
  return optional ? null : new WrongCell(`cannot be emptied with ${clearingCell}; it always has a value`);
}

/** The cell for a value in an answer (`words: 'stored'`), which `valueOfCell` reads back. */
export function cellOfValue(field: Pick<Field, 'type' | 'default' | 'creator'>, value: unknown): string {
  // An empty cell would stand for the default, or for the person who imports it.
  if (isNothing(field, value)) return isNothing(field, field.default) && !field.creator ? '' : clearingCell;
  return safeCell(textOfValue(field, value));
}

function isNothing({ type }: Pick<Field, 'type'>, value: unknown): boolean {
  return value === null || value === undefined || (type === 'textList' && (value as unknown[]).length === 0);
}

function textOfValue({ type }: Pick<Field, 'type'>, value: unknown): string {
  if (type === 'json') return JSON.stringify(value);
  if (!Array.isArray(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const items = value as readonly string[];
  const isPlain = items.every((item) => !item.includes(separator) && item.trim() === item && item !== '');
  return isPlain && !items[0]?.startsWith('[') ? items.join(separator) : JSON.stringify(items);
}

function refusedFormula({ secret }: Field, cell: string): WrongCell | undefined {
  if (!isFormula(cell)) return undefined;
  return new WrongCell(
    `begins like a formula of a spreadsheet${secret ? '' : found(cell)}; put an apostrophe before it to store it as a text`,
  );
}

/** Items with semicolons or spaces around them, and empty ones, are written as a JSON list. */
function listOf(text: string): unknown {
  if (!text.startsWith('[')) return text.split(separator).map((item) => item.trim());
  const list = parsedJson(text);
  return list instanceof WrongCell || Array.isArray(list) ? list : wrong('array', text);
}

function parsedJson(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error;
    return new WrongCell(`is not accepted: ${error.message}`);
  }
}

/** @param type a type or a format of JSON Schema */
function wrong(type: string, text: string): WrongCell {
  return new WrongCell(mismatch(type, text));
}
