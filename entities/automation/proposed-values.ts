import { createHash } from 'node:crypto';

type Values = Readonly<Record<string, unknown>>;

/** SHA-256 of proposed values, in hexadecimal, whatever the order of their names. */
export function hashOfChanges(changes: Values): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(changes)))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, own]) => [name, sorted(own)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Values of a row as JSON has them: a time is a text. */
export function asJson(values: Values): Values {
  return JSON.parse(JSON.stringify(values)) as Values;
}

/** Values that fields of a record have now, as proposals keep them. */
export function valuesOfRecord(record: Values, names: readonly string[]): Values {
  return asJson(Object.fromEntries(names.map((name) => [name, record[name] ?? null])));
}

/** Values of a proposal, as its record has them. */
export interface ProposedValues {
  readonly changes: Values;
  /** Values that the record has now. */
  readonly baseValues: Values;
  /** Names of the fields, sorted and separated by commas. */
  readonly domain: string;
  readonly hash: string;
}

/** @param given proposed values by field, as in rows or as JSON has them */
export function proposedValues(record: Values, given: Values): ProposedValues {
  const changes = asJson(given);
  const names = Object.keys(changes).toSorted();
  return { changes, baseValues: valuesOfRecord(record, names), domain: names.join(), hash: hashOfChanges(changes) };
}

/** The `openKey` of a proposal: a definition has one open proposal about a record. */
export function proposalKey(definitionId: string, recordId: string): string {
  return `${recordId}/${definitionId}`;
}

/**
 * The `openKey` of an instance that decides about a proposal. It is another one than that of an instance that was started by an event: a
 * change is held although an earlier instance for the record is still open.
 */
export function gateInstanceKey(definitionId: string, recordId: string): string {
  return `gate/${definitionId}/${recordId}`;
}
