import { idPattern } from './ids.ts';

/** An error of a JSON Schema validator. */
export interface SchemaProblem {
  readonly keyword: string;
  /** Where in the value, as a JSON pointer. */
  readonly instancePath: string;
  readonly params: object;
  readonly message?: string | undefined;
}

interface Params {
  readonly pattern?: string;
  readonly limit?: number;
  readonly allowedValues?: readonly (string | null)[];
}

/** The error as the end of a sentence about the value. @param description of the value; it explains a pattern in words */
export function schemaMessage({ keyword, params, message }: SchemaProblem, description?: string): string {
  const { pattern, limit, allowedValues = [] } = params as Params;
  if (keyword === 'enum') return `must be one of ${allowedValues.filter((value) => value !== null).join(', ')}`;
  if (keyword === 'minLength' && limit === 1) return 'must not be empty';
  if (keyword === 'pattern' && pattern === idPattern.source) return 'is not an id';
  if (keyword === 'pattern' && description)
    return `does not have the required format: ${description.replace(/\.$/, '')}`;
  return message ?? 'is not valid';
}
