import type { Field, FieldUse } from '../declared-field.ts';
import { choice, decimal } from '../fields.ts';

/** Currencies by their codes in ISO 4217, in lower case. Codes for metals, tests, funds and units of account are left out. */
// prettier-ignore
export const currencies = [
  'aed', 'afn', 'all', 'amd', 'ang', 'aoa', 'ars', 'aud', 'awg', 'azn', 'bam', 'bbd', 'bdt', 'bgn', 'bhd', 'bif',
  'bmd', 'bnd', 'bob', 'brl', 'bsd', 'btn', 'bwp', 'byn', 'bzd', 'cad', 'cdf', 'chf', 'clp', 'cny', 'cop', 'crc',
  'cup', 'cve', 'czk', 'djf', 'dkk', 'dop', 'dzd', 'egp', 'ern', 'etb', 'eur', 'fjd', 'fkp', 'gbp', 'gel', 'ghs',
  'gip', 'gmd', 'gnf', 'gtq', 'gyd', 'hkd', 'hnl', 'htg', 'huf', 'idr', 'ils', 'inr', 'iqd', 'irr', 'isk', 'jmd',
  'jod', 'jpy', 'kes', 'kgs', 'khr', 'kmf', 'kpw', 'krw', 'kwd', 'kyd', 'kzt', 'lak', 'lbp', 'lkr', 'lrd', 'lsl',
  'lyd', 'mad', 'mdl', 'mga', 'mkd', 'mmk', 'mnt', 'mop', 'mru', 'mur', 'mvr', 'mwk', 'mxn', 'myr', 'mzn', 'nad',
  'ngn', 'nio', 'nok', 'npr', 'nzd', 'omr', 'pab', 'pen', 'pgk', 'php', 'pkr', 'pln', 'pyg', 'qar', 'ron', 'rsd',
  'rub', 'rwf', 'sar', 'sbd', 'scr', 'sdg', 'sek', 'sgd', 'shp', 'sle', 'sos', 'srd', 'ssp', 'stn', 'svc', 'syp',
  'szl', 'thb', 'tjs', 'tmt', 'tnd', 'top', 'try', 'ttd', 'twd', 'tzs', 'uah', 'ugx', 'usd', 'uyu', 'uzs', 'ved',
  'ves', 'vnd', 'vuv', 'wst', 'xaf', 'xcd', 'xof', 'xpf', 'yer', 'zar', 'zmw', 'zwg',
] as const;

type Currency = (typeof currencies)[number];

type Money<Name extends string, Optional extends boolean> = { readonly [N in Name]: Field<string, Optional, false> } & {
  readonly [N in `${Name}Currency`]: Field<Currency, Optional, false>;
};

/**
 * The two fields of an amount of money: an exact decimal number and its currency. Both have a value, or none has: a number without a
 * currency cannot be added to another.
 */
export function money<const Name extends string, const Optional extends boolean = false>(
  name: Name,
  description: string,
  { optional, ...use }: FieldUse & { readonly optional?: Optional } = {},
): Money<Name, Optional> {
  const currency = `${name}Currency`;
  const isOptional = optional ?? false;
  const currencyOf = choice(`Currency of \`${name}\`: its code in ISO 4217.`, currencies, {
    ...use,
    lists: use.lists?.filter((one) => one === 'filter') ?? [],
  });
  const fields = {
    [name]: {
      ...decimal(description, { precision: 19, scale: 4, ...use }),
      optional: isOptional,
      pairedWith: currency,
    },
    [currency]: { ...currencyOf, optional: isOptional, pairedWith: name },
  };
  return fields as unknown as Money<Name, Optional>;
}
