/** The beginning of a text. By default for an error message: repeating a long text there could make a huge answer. */
export function shortened(text: string, max = 64): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;
}
