/** A variable in a text: its name in double braces. */
const variable = /\{\{\s*([A-Za-z][A-Za-z0-9]*)\s*\}\}/g;

/** Puts values into a text. What a value says is never read as a variable. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(variable, (_found, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? '') : ''));
}
