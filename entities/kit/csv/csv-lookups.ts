import { tenancyField, type EntityModule } from '../model/define.ts';
import type { Field } from '../model/declared-field.ts';
import { readableFields } from '../model/exposure.ts';
import { nameForm } from '../base/name-form.ts';
import { inWords } from '../base/snake-case.ts';
import { normalized } from '../model/input.ts';
import type { Registry } from '../model/registry.ts';
import { found } from '../base/schema-problem.ts';
import type { DataClient } from '../unit/data-client.ts';

/** Names a record by a value that only it has in its organization, instead of by its id. */
export interface Lookup {
  readonly target: EntityModule;
  /** The field of the target with that value. */
  readonly by: string;
  /** The field that is compared; for names, that of their form. */
  readonly compared: string;
  /** Values that the records have in other fields. */
  readonly others: Readonly<Record<string, string>>;
}

/** By which fields the record of a reference can be named: its display id, the e-mail address of a person, a unique name. */
export function lookupsOf(registry: Registry, module: EntityModule, name: string, field: Field): Lookup[] {
  if (field.target === undefined) return [];
  const target = registry.references.targetOf(module, name);
  const only = Object.entries(field.only ?? {}).flatMap(([other, [value, ...more]]): [string, string][] =>
    value !== undefined && more.length === 0 ? [[other, value]] : [],
  );
  const given = new Set([...tenancyField(target.tenancy), ...only.map(([other]) => other)]);
  return (target.unique ?? []).flatMap(({ fields, onlyIf }): Lookup[] => {
    if (onlyIf !== undefined) return [];
    const [compared, ...more] = fields.filter((each) => !given.has(each));
    if (compared === undefined || more.length > 0) return [];
    const by = target.fields[compared]?.formOf ?? compared;
    if (!isNameable(target, by)) return [];
    return [{ target, by, compared, others: Object.fromEntries(only.filter(([other]) => fields.includes(other))) }];
  });
}

function isNameable(target: EntityModule, name: string): boolean {
  const isText = target.fields[name]?.type === 'text';
  return isText && target.filter.includes(name) && readableFields(target).some(([readable]) => readable === name);
}

/** Kinds that people call by other words than their names. */
const recordWords: Readonly<Record<string, string>> = { user: 'person', customEnumValue: 'value of the list' };

export function recordWord({ kind }: Pick<EntityModule, 'kind'>): string {
  return recordWords[kind] ?? inWords(kind);
}

export interface LookupCell {
  readonly lookup: Lookup;
  readonly text: string;
}

/**
 * Ids of the records that cells name, as far as the caller can view them: one statement for each kind and field.
 * @returns the id of each cell, or the end of a sentence that says what is wrong
 */
export async function resolveCells(
  data: DataClient,
  cells: readonly LookupCell[],
): Promise<({ readonly id: string } | { readonly problem: string })[]> {
  const ids = new Map<Lookup, ReadonlyMap<unknown, string>>();
  for (const [lookup, own] of Map.groupBy(cells, (cell) => cell.lookup))
    ids.set(lookup, await idsBy(data, lookup, [...new Set(own.map(({ text }) => valueOf(lookup, text)))]));
  return cells.map(({ lookup, text }) => {
    const id = ids.get(lookup)?.get(valueOf(lookup, text));
    return id === undefined ? { problem: `names no ${recordWord(lookup.target)}${found(text)}` } : { id };
  });
}

async function idsBy(
  data: DataClient,
  { target, compared, others }: Lookup,
  values: readonly unknown[],
): Promise<ReadonlyMap<unknown, string>> {
  const where = {
    [compared]: { in: values },
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, { eq: value }])),
  };
  const rows: readonly Readonly<Record<string, unknown>>[] = await data.find(target, {
    where,
    limit: values.length,
  });
  return new Map(rows.map((row) => [row[compared], row['id'] as string]));
}

/** As the field of the target stores it. */
function valueOf({ target, compared }: Lookup, text: string): unknown {
  const field = target.fields[compared];
  if (field?.formOf !== undefined) return nameForm(text);
  return field ? normalized(field, text) : text;
}
