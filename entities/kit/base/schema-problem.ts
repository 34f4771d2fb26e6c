import { idPattern } from './ids.ts';

/** What a value lacks by its JSON schema, as validators tell it. */
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

/** The same for people. @param description of the value, which says what its pattern means */
export function schemaMessage({ keyword, params, message }: SchemaProblem, description?: string): string {
  const { pattern, limit, allowedValues = [] } = params as Params;
  if (keyword === 'enum') return `must be one of ${allowedValues.filter((value) => value !== null).join(', ')}`;
  if (keyword === 'minLength' && limit === 1) return 'must not be empty';
  if (keyword === 'pattern' && pattern === idPattern.source) return 'is not an id';
  if (keyword === 'pattern' && description) return `is not what it has to be: ${description.replace(/\.$/, '')}`;
  return message ?? 'is not valid';
}
