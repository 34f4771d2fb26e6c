/** `organizationSetting` → `organization_setting`: names of fields become column names, names of kinds become topics and tuple types. */
export function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

/** The known name that is written so, as in GraphQL (`dueAt`) or as in REST (`due_at`). */
export function namedIn<Name extends string>(known: readonly Name[], written: string): Name | undefined {
  return known.find((name) => name === written) ?? known.find((name) => snakeCase(name) === written);
}

/** A name as it appears in a sentence: `organizationSetting` and `organization_setting` → `organization setting`. */
export function inWords(name: string): string {
  return snakeCase(name).replaceAll('_', ' ');
}

/** The same at the beginning of a sentence: `taskShare` → `Task share`. */
export function inWordsCapitalized(name: string): string {
  const words = inWords(name);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** `GroupMembership` for `groupMembership`, `group_membership` and any other writing with separators. */
export function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}
