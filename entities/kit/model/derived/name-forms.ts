import type { Field, Fields } from '../declared-field.ts';
import { text } from '../fields.ts';
import type { UniqueKey } from '../record-rules.ts';

/** Fields for the forms of the names that are unique, and the keys over them (base/name-form.ts). */
export function nameForms(keys: readonly UniqueKey[]): { readonly fields: Fields; readonly unique: UniqueKey[] } {
  const names = keys.flatMap(({ comparedAsName }) => comparedAsName ?? []);
  const unique = keys.map((key): UniqueKey => {
    const { fields, comparedAsName: name } = key;
    if (name === undefined) return key;
    return { names: name, ...key, fields: fields.map((each) => (each === name ? `${name}Form` : each)) };
  });
  return { fields: Object.fromEntries(names.map((name) => [`${name}Form`, formOf(name)])), unique };
}

function formOf(name: string): Field {
  const description = `Form in which \`${name}\` is compared with that of others.`;
  return { ...text(description, { min: 0, max: 4_000, lines: true }), generated: true, formOf: name };
}
