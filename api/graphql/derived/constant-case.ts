/** The name of a field as the value of an enum: `dueAt` is DUE_AT. */
export function constantCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();
}
