/** `organizationSetting` → `organization_setting`: fields as columns, kinds as topics and types. */
export function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

/** Names as they stand in running text: `organizationSetting` and `organization_setting` → `organization setting`. */
export function inWords(name: string): string {
  return snakeCase(name).replaceAll('_', ' ');
}
