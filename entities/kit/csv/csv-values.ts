import type { Field } from '../model/declared-field.ts';
import { parseInstant } from '../base/instant.ts';
import { found, mismatch } from '../base/schema-problem.ts';
import { JsonRefusal, parseStrictJson } from '../base/strict-json.ts';
import { isFormula, plainText } from './csv-cells.ts';

/** A cell that is no value of its field. */
export class WrongCell {
  /** What is wrong, as the end of a sentence about the cell. */
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

const separator = ';';

/** The value of a cell that is not empty. Only its form is checked; the data layer checks the value. */
export function valueOfCell(field: Field, cell: string): unknown {
  const text = plainText(cell);
  switch (field.type) {
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : wrong('integer', text);
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

/** The text of a value in an answer (`words: 'stored'`), which `valueOfCell` reads back. */
export function textOfValue({ type }: Pick<Field, 'type'>, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (type === 'json') return JSON.stringify(value);
  if (!Array.isArray(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const items = value as readonly string[];
  const isPlain = items.every((item) => !item.includes(separator) && item.trim() === item && !item.startsWith('['));
  return isPlain ? items.join(separator) : JSON.stringify(items);
}

function refusedFormula({ secret }: Field, cell: string): WrongCell | undefined {
  if (!isFormula(cell)) return undefined;
  return new WrongCell(
    `begins like a formula of a spreadsheet${secret ? '' : found(cell)}; put an apostrophe before it to store it as a text`,
  );
}

/** Items that contain semicolons are written as a JSON list. */
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
