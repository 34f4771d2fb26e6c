/** An API version of the payment provider as the configuration and the URLs of webhooks name it: `2026_02_25_CLOVER` for `2026-02-25.clover`. */
export function apiVersionName(version: string): string {
  return version.replaceAll(/[-.]/g, '_').toUpperCase();
}

/** The version as the provider writes it; a name of another form stays as it is. */
export function providerApiVersion(name: string): string {
  const [, year, month, day, release] = /^(\d{4})_(\d{2})_(\d{2})(?:_([A-Z]+))?$/.exec(name) ?? [];
  if (year === undefined) return name;
  return `${year}-${month}-${day}${release === undefined ? '' : `.${release.toLowerCase()}`}`;
}
