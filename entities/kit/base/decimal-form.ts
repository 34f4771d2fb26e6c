/**
 * The one form of a decimal number: with `scale` digits after the point, as PostgreSQL prints a `numeric` of this scale. Equal numbers are then
 * equal texts. Other texts stay as they are.
 */
export function decimalForm(text: string, scale: number): string {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > scale || scale === 0) return text;
  return `${whole}.${fraction.padEnd(scale, '0')}`;
}
