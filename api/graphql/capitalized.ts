/** `Task` for `task`: a name in camelCase as part of a longer one. */
export function capitalized(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
