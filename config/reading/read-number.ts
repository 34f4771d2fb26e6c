import type { IntegerField } from '../schema/field.ts';

/** Why a number is rejected, as a clause, and what to do. */
export interface NumberProblem {
  readonly reason: string;
  readonly remedy: string;
}

const millisecondsPer: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const millisecondsOfUnit: Readonly<Record<string, number>> = { milliseconds: 1, seconds: 1000, days: 86_400_000 };

/** Why a number is rejected for this field; undefined when it is valid. */
export function numberProblem(field: IntegerField, value: number): NumberProblem | undefined {
  if (!Number.isSafeInteger(value)) {
    return { reason: 'is not a whole number', remedy: `write a whole number of ${field.unit}` };
  }
  if (field.special?.some((special) => special.value === value) === true) return undefined;
  if (value >= field.minimum && value <= field.maximum) return undefined;
  const isBelow = value < field.minimum;
  const bound = isBelow ? `below the minimum of ${field.minimum}` : `above the maximum of ${field.maximum}`;
  return { reason: `is ${bound} ${field.unit}`, remedy: rangeRemedy(field, value) };
}

/** The remedy: unit, range, and the value that was probably meant. */
function rangeRemedy(field: IntegerField, value: number): string {
  const fits = (number: number): boolean =>
    Number.isInteger(number) && number >= field.minimum && number <= field.maximum;
  const unit = millisecondsOfUnit[field.unit] === undefined ? '' : `the unit is ${field.unit}: `;
  const parts = [`${unit}write ${field.minimum} to ${field.maximum}`];
  for (const special of field.special ?? []) parts.push(`${special.value} means ${special.meaning}`);
  if (field.unit === 'milliseconds') {
    if (value !== 0 && fits(value * 1000)) parts.push(`for ${value} seconds write ${value * 1000}`);
    if (fits(value / 1_000_000)) parts.push(`if it is in nanoseconds write ${value / 1_000_000}`);
  }
  if (field.maximum < 0 && fits(-value)) parts.push(`write ${-value}`);
  if (field.outside !== undefined) parts.push(field.outside);
  return parts.join('; ');
}

/** The remedy for a text such as `15s` or `"20"` where a number is expected. */
export function textInsteadRemedy(field: IntegerField, written: string): string {
  const text = written.trim();
  if (/^-?\d+$/u.test(text)) return 'remove the quotes';
  const match = /^(?<amount>-?\d+(?:\.\d+)?) *(?<unit>ns|us|ms|s|m|h|d)$/u.exec(text)?.groups;
  const unit = millisecondsOfUnit[field.unit];
  const factor = millisecondsPer[match?.unit ?? ''];
  if (match === undefined || unit === undefined || factor === undefined) return `write a whole number of ${field.unit}`;
  const amount = (Number(match.amount) * factor) / unit;
  return `the unit is ${field.unit}: write ${Number.isInteger(amount) ? amount : 'a whole number'}`;
}
