import type { EntityModule, Mutation } from '#entities/kit/model/define.ts';

import type { FieldMap } from '../passthrough-field.ts';

/** Derived mutations of a kind, marked as deprecated where an action takes their place. */
export function withDeprecation({ deprecatedMutations }: EntityModule, verb: Mutation, fields: FieldMap): FieldMap {
  const replaced = deprecatedMutations?.[verb];
  if (!replaced) return fields;
  const deprecationReason = `Deprecated since ${replaced.since}. Use ${replaced.instead}.`;
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, deprecationReason }]));
}
